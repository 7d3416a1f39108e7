/* SPDX-License-Identifier: BSD-3-Clause */
/* record_help.h - fields of a record, and times to compare them with. */
#ifndef ROAST_TESTS_PROBE_RECORD_HELP_H
#define ROAST_TESTS_PROBE_RECORD_HELP_H

#include "base/clock.h"
#include "roast/record.h"
#include "support.h"

static inline uint64_t number(const roast_record *rec, enum roast_field field)
{
    if (!roast_record_has(rec, field))
        fail_msg("no %s", roast_field_info(field)->name);
    return rec->values[field].u64;
}

static inline struct roast_str text(const roast_record *rec, enum roast_field field)
{
    if (!roast_record_has(rec, field))
        fail_msg("no %s", roast_field_info(field)->name);
    return rec->values[field].str;
}

/* 3000 bytes of characters of three: no limit is a multiple of it. */
static inline struct roast_str long_text(void)
{
    static char euros[3000];

    for (size_t i = 0; i < sizeof(euros); i++)
        euros[i] = "\xe2\x82\xac"[i % 3];
    return str_from(euros, sizeof(euros));
}

/* Takes CPU time, so that there is something to measure. */
static inline void burn(void)
{
    int64_t until_ns = roast__clock_thread_ns() + 5 * 1000 * 1000;

    while (roast__clock_thread_ns() < until_ns)
        ;
}

/* One clock around something and the same directly inside of it. */
static inline void assert_between(uint64_t value_ns, int64_t inner_ns, int64_t outer_ns)
{
    assert_true(inner_ns >= 0 && value_ns >= (uint64_t)inner_ns);
    assert_true(value_ns <= (uint64_t)outer_ns);
}

#endif
