/* SPDX-License-Identifier: BSD-3-Clause */
/* patient_sizes.h - the chunks of a patient: how many events, and the memory they take. */
#ifndef ROAST_TESTS_ANALYZE_PATIENT_SIZES_H
#define ROAST_TESTS_ANALYZE_PATIENT_SIZES_H

#include "patient.h"

/* Events of a chunk; the room that its file has for it is for the largest. */
static inline uint64_t events_of_chunk(const struct patient *p, int i)
{
    uint64_t usual = p->events > 0 ? p->events : 10000;

    return p->larger > 0 && i % 2 == 1 ? usual * (uint64_t)p->larger : usual;
}

/* Whether it is one of the last chunks, which are different. */
static inline bool is_last(const struct patient *p, int i)
{
    return i + or_else(p->slow, 1) >= or_else(p->chunks, 40);
}

static inline uint64_t memory_of_chunk(const struct patient *p, int i)
{
    uint64_t takes_mb = p->takes_mb > 0 ? p->takes_mb : 100;

    return takes_mb + (uint64_t)(p->event_kb * (double)events_of_chunk(p, i) / 1000);
}

#endif
