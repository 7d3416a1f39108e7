/* SPDX-License-Identifier: BSD-3-Clause */
/* number.c - a number as people read it: three significant digits at every scale.
 *
 * A value is rounded to three digits first and scaled then, on the digits, so that
 * 999.9995 can never become "1000". The digits are written directly, because printf's
 * decimal point depends on the locale. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roast/number.h"

enum { DIGITS = 3, LARGEST_PREFIX = 6, SMALLEST_PREFIX = -3 };

/* d.dd x 10^exponent */
struct rounded {
    bool negative;
    char digits[DIGITS];
    int exponent;
};

struct unit {
    const char *name;
    bool grows;    /* k, M, G ... above 1000 */
    bool shrinks;  /* m, u, n below 1 */
    int whole_exp; /* whole values below 10^whole_exp keep all their digits */
};

static const struct unit units[] = {
    {"", true, false, 5},        {"s", false, true, 0},     {"B", true, false, 3},
    {"Hz", true, false, 0},      {"bit/s", true, false, 0}, {"B/s", true, false, 0},
    {"Hz/core", true, false, 0},
};

struct writer {
    char *out;
    size_t size_bytes;
};

static void put_char(struct writer *writer, char c)
{
    if (writer->size_bytes + 1 < ROAST_NUMBER_BYTES)
        writer->out[writer->size_bytes++] = c;
    writer->out[writer->size_bytes] = '\0';
}

static void put(struct writer *writer, const char *text)
{
    for (; *text; text++)
        put_char(writer, *text);
}

static struct rounded round_to_digits(double value)
{
    struct rounded r = {.negative = value < 0};
    char text[64];

    (void)snprintf(text, sizeof(text), "%.2e", fabs(value));
    const char *e = strchr(text, 'e'); /* finite values always have one */
    r.digits[0] = text[0];
    r.digits[1] = e[-2]; /* between them is the decimal point of the locale */
    r.digits[2] = e[-1];
    r.exponent = (int)strtol(e + 1, NULL, 10);
    return r;
}

/* The digits, `whole` of them before the point; if not positive, after leading
 * zeros. */
static void put_fixed(struct writer *writer, const struct rounded *r, int whole)
{
    if (whole <= 0)
        put(writer, "0.");
    for (int i = whole; i < 0; i++)
        put_char(writer, '0');
    for (int i = 0; i < DIGITS; i++) {
        if (i == whole && whole > 0)
            put_char(writer, '.');
        put_char(writer, r->digits[i]);
    }
}

static void put_unit(struct writer *writer, const char *prefix, const char *unit)
{
    if (strcmp(unit, "x") != 0 && (*prefix || *unit))
        put_char(writer, ' ');
    put(writer, prefix);
    put(writer, unit);
}

static void put_whole(struct writer *writer, double value, const char *unit)
{
    char text[64];

    (void)snprintf(text, sizeof(text), "%.0f", value);
    put(writer, strcmp(text, "-0") == 0 ? "0" : text);
    put_unit(writer, "", unit);
}

/* Without a prefix: plain digits where that is readable, else with an exponent. */
static void put_plain(struct writer *writer, double value, const char *unit)
{
    struct rounded r = round_to_digits(value);
    char exponent[16];

    if (r.exponent >= DIGITS && r.exponent <= 5) {
        put_whole(writer, value, unit);
        return;
    }
    if (r.negative)
        put_char(writer, '-');
    if (r.exponent < -4 || r.exponent > 5) {
        put_fixed(writer, &r, 1);
        (void)snprintf(exponent, sizeof(exponent), "e%+03d", r.exponent);
        put(writer, exponent);
    } else {
        put_fixed(writer, &r, r.exponent + 1);
    }
    put_unit(writer, "", unit);
}

static void put_scaled(struct writer *writer, double value, const struct unit *unit)
{
    static const char *const prefixes[] = {"n", "u", "m", "",  "k",
                                           "M", "G", "T", "P", "E"};
    struct rounded r = round_to_digits(value);
    int prefix = 0;

    if (r.exponent >= 0)
        prefix = unit->grows ? r.exponent / 3 : 0;
    else if (unit->shrinks)
        prefix = (r.exponent - 2) / 3;
    prefix = prefix < SMALLEST_PREFIX ? SMALLEST_PREFIX : prefix;
    int exponent = r.exponent - 3 * prefix;
    if (prefix == 0 || prefix > LARGEST_PREFIX || exponent < -4) {
        put_plain(writer, value, unit->name);
        return;
    }
    if (r.negative)
        put_char(writer, '-');
    put_fixed(writer, &r, exponent + 1);
    put_unit(writer, prefixes[prefix - SMALLEST_PREFIX], unit->name);
}

/* Minutes, hours and days in place of kiloseconds. */
static void put_long_time(struct writer *writer, double seconds)
{
    if (fabs(seconds) < 6000)
        put_plain(writer, seconds / 60, "min");
    else if (fabs(seconds) < 360000)
        put_plain(writer, seconds / 3600, "h");
    else
        put_plain(writer, seconds / 86400, "d");
}

/* Data rates use Gbit/s while that is readable. */
static void put_gigabits(struct writer *writer, double value)
{
    static const struct unit bits = {"bit/s", true, false, 0};
    int exponent = round_to_digits(value).exponent;

    if ((exponent >= -1 && exponent < 3) || fabs(value) > 1e200) /* 1e9 times: inf */
        put_plain(writer, value, "Gbit/s");
    else
        put_scaled(writer, value * 1e9, &bits);
}

/* Memory in MiB keeps powers of 1024. */
static void put_mebibytes(struct writer *writer, double value)
{
    static const char *const names[] = {"MiB", "GiB", "TiB", "PiB"};
    size_t name = 0;

    while (fabs(value) >= 999.5 && name + 1 < sizeof(names) / sizeof(names[0])) {
        value /= 1024;
        name++;
    }
    put_plain(writer, value, names[name]);
}

size_t roast_format_number(char out[ROAST_NUMBER_BYTES], double value, const char *unit)
{
    static const double powers[] = {1, 10, 100, 1e3, 1e4, 1e5};
    struct writer writer = {out, 0};
    const char *name = unit ? unit : "";
    const struct unit *known = NULL;

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(units[i].name, name) == 0)
            known = &units[i];
    out[0] = '\0';
    if (!isfinite(value))
        put(&writer, "-");
    else if (fabs(value) < (known ? powers[known->whole_exp] : 1) &&
             value == (double)(int64_t)value)
        put_whole(&writer, value, name);
    else if (strcmp(name, "Gbit/s") == 0)
        put_gigabits(&writer, value);
    else if (strcmp(name, "MiB") == 0)
        put_mebibytes(&writer, value);
    else if (strcmp(name, "s") == 0 && round_to_digits(value).exponent >= 3)
        put_long_time(&writer, value);
    else if (known)
        put_scaled(&writer, value, known);
    else
        put_plain(&writer, value, name);
    return writer.size_bytes;
}
