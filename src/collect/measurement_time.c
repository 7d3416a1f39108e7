/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_time.c - times as Python's isoformat() writes them. */
#include "collect/measurement_time.h"

static const int64_t us_per_s = 1000000;
static const int64_t most_s = INT64_C(1) << 33;

/* Text that is being read; `ok` stays false once it was. */
struct reading {
    const char *at;
    const char *end;
    bool ok;
};

static int64_t take_digits(struct reading *in, int count)
{
    int64_t value = 0;

    for (int i = 0; i < count && in->ok; i++) {
        in->ok = in->at < in->end && *in->at >= '0' && *in->at <= '9';
        if (in->ok)
            value = value * 10 + (*in->at++ - '0');
    }
    return value;
}

static bool comes(const struct reading *in, char c)
{
    return in->ok && in->at < in->end && *in->at == c;
}

static void take(struct reading *in, char c)
{
    in->ok = comes(in, c);
    in->at += in->ok;
}

static int64_t take_in_range(struct reading *in, int count, int64_t low, int64_t high)
{
    int64_t value = take_digits(in, count);

    in->ok = in->ok && value >= low && value <= high;
    return value;
}

/* Days since 1970 of a date of the Gregorian calendar, whose years begin in March here:
 * then the leap day is the last one. */
static int64_t take_date(struct reading *in)
{
    static const int days_in[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t year = take_digits(in, 4);
    take(in, '-');
    int64_t month = take_in_range(in, 2, 1, 12);
    take(in, '-');
    int64_t day = take_in_range(in, 2, 1, 31);

    if (!in->ok)
        return 0;
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    in->ok = day <= days_in[month - 1] + (leap && month == 2);
    int64_t from_march = (month + 9) % 12;
    int64_t years = month > 2 ? year : year - 1;
    return 365 * years + years / 4 - years / 100 + years / 400 +
           (153 * from_march + 2) / 5 + day - 1 - 719468;
}

static int64_t take_clock(struct reading *in)
{
    int64_t seconds = 3600 * take_in_range(in, 2, 0, 23);

    take(in, ':');
    seconds += 60 * take_in_range(in, 2, 0, 59);
    return seconds;
}

static int64_t take_fraction_us(struct reading *in)
{
    int64_t value = 0;
    int64_t scale = us_per_s;

    if (!comes(in, '.'))
        return 0;
    take(in, '.');
    in->ok = in->at < in->end && *in->at >= '0' && *in->at <= '9';
    while (in->ok && in->at < in->end && *in->at >= '0' && *in->at <= '9') {
        scale /= 10;
        value += scale * (*in->at++ - '0');
    }
    return value;
}

static int64_t take_zone_us(struct reading *in)
{
    if (comes(in, 'Z')) {
        take(in, 'Z');
        return 0;
    }
    int64_t sign = comes(in, '-') ? -1 : 1;
    take(in, sign < 0 ? '-' : '+');
    int64_t zone_us = us_per_s * take_clock(in);
    if (comes(in, ':')) {
        take(in, ':');
        zone_us += us_per_s * take_in_range(in, 2, 0, 59);
        zone_us += take_fraction_us(in);
    }
    return sign * zone_us;
}

bool roast__iso_time(struct roast_str text, int64_t *time_us, bool *naive)
{
    struct reading in = {text.data, text.data + text.size_bytes, text.data != NULL};
    int64_t seconds = 86400 * take_date(&in);

    take(&in, comes(&in, ' ') ? ' ' : 'T');
    seconds += take_clock(&in);
    take(&in, ':');
    seconds += take_in_range(&in, 2, 0, 59);
    *time_us = seconds * us_per_s + take_fraction_us(&in);
    *naive = in.at == in.end;
    if (in.ok && !*naive)
        *time_us -= take_zone_us(&in);
    return in.ok && in.at == in.end && *time_us >= 0 && *time_us < most_s * us_per_s;
}
