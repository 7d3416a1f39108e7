/* SPDX-License-Identifier: BSD-3-Clause */
/* json_number.c - the double nearest to a number, whatever the locale says.
 *
 * A number is a whole number of at most 19 digits times a power of ten. Where both fit
 * in 64 bits their product or quotient is made exactly, in 128 bits, and rounded once.
 * That is nearly every number there is; the rest is strtod's, in the "C" locale of this
 * thread alone. */
#include "collect/json_number.h"

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

enum { EXACT_DIGITS = 19, EXACT_POWERS = 20, FAR_EXPONENT = 1000000 };

/* digits x 10^exponent; not all digits where `cut`. */
struct decimal {
    uint64_t digits;
    int count; /* of them, without zeros in front */
    int exponent;
    bool cut;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void add_digit(struct decimal *number, char c)
{
    if (number->count == 0 && c == '0')
        return;
    if (number->count < EXACT_DIGITS) {
        number->digits = number->digits * 10 + (uint64_t)(c - '0');
        number->count++;
    } else {
        number->cut = true; /* strtod looks at the text: the exponent is of no use */
    }
}

static const char *read_fraction(struct decimal *number, const char *at)
{
    for (; is_digit(*at); at++) {
        add_digit(number, *at);
        if (--number->exponent <= -FAR_EXPONENT)
            number->cut = true;
        if (number->cut)
            number->exponent = 0;
    }
    return at;
}

static int read_exponent(const char *at)
{
    bool negative = *at == '-';
    int value = 0;

    if (*at == '-' || *at == '+')
        at++;
    for (; is_digit(*at) && value < FAR_EXPONENT; at++)
        value = value * 10 + (*at - '0');
    if (value >= FAR_EXPONENT)
        value = INT_MAX / 2; /* past all that a fraction can take back */
    return negative ? -value : value;
}

static uint64_t power_of_ten(int exponent)
{
    uint64_t power = 1;

    while (exponent-- > 0)
        power *= 10;
    return power;
}

/* The quotient has 64 bits or more; the last one stands for all behind it. */
static double divide(uint64_t digits, uint64_t by)
{
    int shift = __builtin_clzll(digits);
    wide dividend = (wide)(digits << shift) << 64;
    wide quotient = dividend / by;

    if (quotient * by != dividend)
        quotient |= 1;
    return ldexp((double)quotient, -64 - shift);
}

static double by_strtod(const char *text)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    double value = strtod(text, NULL);

    if (plain) {
        (void)uselocale(before);
        freelocale(plain);
    }
    return value;
}

static double nearest(const struct decimal *number, const char *text)
{
    int exponent = number->exponent;

    if (number->digits == 0)
        return 0;
    if (number->cut || exponent >= EXACT_POWERS || exponent <= -EXACT_POWERS)
        return fabs(by_strtod(text));
    if (exponent >= 0)
        return (double)((wide)number->digits * power_of_ten(exponent));
    return divide(number->digits, power_of_ten(-exponent));
}

/* A whole number of 20 digits may fit too. */
static bool whole_fits(uint64_t *size, const char *at)
{
    *size = 0;
    for (; is_digit(*at); at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (*size > (UINT64_MAX - digit) / 10)
            return false;
        *size = *size * 10 + digit;
    }
    return true;
}

struct roast_json_number roast__json_number(const char *text)
{
    struct roast_json_number out = {.negative = *text == '-'};
    struct decimal number = {0};
    const char *start = text + out.negative;
    const char *at = start;

    for (; is_digit(*at); at++)
        add_digit(&number, *at);
    out.is_whole = *at == '\0';
    out.fits = out.is_whole && whole_fits(&out.size, start) &&
               (!out.negative || out.size <= (uint64_t)INT64_MAX + 1);
    if (*at == '.')
        at = read_fraction(&number, at + 1);
    if (*at == 'e' || *at == 'E')
        number.exponent += read_exponent(at + 1);
    out.nearest = nearest(&number, text);
    if (out.negative)
        out.nearest = -out.nearest;
    return out;
}
