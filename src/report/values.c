/* SPDX-License-Identifier: BSD-3-Clause */
/* values.c - numbers of several runs as JSON and as cells. */
#include "report/values.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "roast/version.h"

static void put_bytes(void *context, const void *bytes, size_t size_bytes)
{
    roast__buf_put(context, bytes, size_bytes);
}

struct roast_json roast__json_to(struct roast_buf *buf)
{
    return (struct roast_json){.put = put_bytes, .context = buf};
}

void roast__json_named_text(struct roast_json *json, const char *key,
                            struct roast_str text)
{
    roast_json_key(json, roast_str_of(key));
    roast_json_text(json, text);
}

void roast__json_named_count(struct roast_json *json, const char *key, uint64_t count)
{
    roast_json_key(json, roast_str_of(key));
    roast_json_count(json, count);
}

void roast__json_named_number(struct roast_json *json, const char *key, double value)
{
    roast_json_key(json, roast_str_of(key));
    roast_json_number(json, value);
}

void roast__json_named_estimate(struct roast_json *json, const char *key,
                                const struct roast_estimate *estimate)
{
    roast_json_key(json, roast_str_of(key));
    roast_json_open(json, '{');
    roast__json_named_number(json, "value", estimate->value);
    roast__json_named_number(json, "low", estimate->low);
    roast__json_named_number(json, "high", estimate->high);
    roast_json_close(json, '}');
}

void roast__json_format(struct roast_json *json, const char *format)
{
    roast__json_named_text(json, "format", roast_str_of(format));
    roast__json_named_text(json, "writer", roast_str_of("roastcoffea " ROAST_VERSION));
}

double roast__percent_more(double ratio)
{
    double percent = 100 * (ratio - 1);

    return fabs(percent) < 0.05 ? 0 : percent; /* printed with one digit: no -0.0 */
}

void roast__grid_put_change(struct roast_grid *grid, double ratio)
{
    char text[ROAST_NUMBER_BYTES] = "-";

    if (ratio >= 10)
        (void)snprintf(text, sizeof(text), "x %.3g", ratio);
    else if (isfinite(ratio))
        (void)snprintf(text, sizeof(text), "%+.1f %%", roast__percent_more(ratio));
    roast__grid_put(grid, roast_str_of(text));
}

void roast__put_line(struct roast_buf *buf, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    (void)roast__put_text(buf, roast_str_of(text), ROAST_PAGE_COLUMNS, ROAST_CUT_END);
    roast__end_line(buf);
}
