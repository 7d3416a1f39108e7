/* SPDX-License-Identifier: BSD-3-Clause */
/* json_fields.c - keys with values, for all reports in JSON. */
#include "report/json_fields.h"

#include "roast/version.h"

struct roast_json roast__json_begin(struct roast_buf *buf, const char *format)
{
    struct roast_json json = {.put = roast__buf_sink, .context = buf};

    roast_json_open(&json, '{');
    roast__json_named_text(&json, "format", roast_str_of(format));
    roast__json_named_text(&json, "writer", roast_str_of("roastcoffea " ROAST_VERSION));
    return json;
}

int roast__json_finish(struct roast_page *out, struct roast_json *json,
                       struct roast_buf *buf, roast_error *err)
{
    roast_json_close(json, '}');
    roast__put(buf, "\n");
    return roast__page_finish(out, buf, err);
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
    roast__json_named_object(json, key);
    roast__json_named_number(json, "value", estimate->value);
    roast__json_named_number(json, "low", estimate->low);
    roast__json_named_number(json, "high", estimate->high);
    roast_json_close(json, '}');
}

void roast__json_named_object(struct roast_json *json, const char *key)
{
    roast_json_key(json, roast_str_of(key));
    roast_json_open(json, '{');
}
