/* SPDX-License-Identifier: BSD-3-Clause */
/* run_print_facts.h - facts, notes and timed events of a run as bytes. */
#ifndef ROAST_TESTS_FILE_RUN_PRINT_FACTS_H
#define ROAST_TESTS_FILE_RUN_PRINT_FACTS_H

#include "run/runs.h"

static inline void print_text(struct roast_buf *out, struct roast_str text)
{
    roast__buf_put_varint(out, text.data ? text.size_bytes + 1 : 0);
    roast__buf_put(out, text.data, text.size_bytes);
}

static inline void print_note(void *context, struct roast_str name,
                              struct roast_str text)
{
    print_text(context, name);
    print_text(context, text);
}

/* Clock, host, facts, losses, notes. */
static inline void print_facts(struct roast_buf *out, roast_run *run)
{
    struct roast_span span = roast_run_span(run);
    char first_error[200];

    roast__buf_put(out, &span, sizeof(span));
    roast__buf_put_signed(out, run->epoch_minus_mono_ns);
    print_text(out, roast__strings_get(&run->strings, run->host));
    for (int i = 0; i < ROAST_FACT_COUNT; i++) {
        double value = -1;
        bool known = roast_run_fact(run, (enum roast_fact)i, &value);
        roast__buf_put_varint(out, known);
        roast__buf_put(out, &value, sizeof(value));
    }
    for (int i = 0; i < ROAST_RUN_LOSS_COUNT; i++) {
        if (i != ROAST_RUN_LOSS_live_damaged) /* differs after damage */
            roast__buf_put_varint(out, roast_run_lost(run, (enum roast_run_loss)i));
    }
    for (int i = 0; i < ROAST_NOTE_GROUP_COUNT; i++) {
        roast__buf_put_varint(out, (uint64_t)i);
        roast_run_notes(run, (enum roast_note_group)i, print_note, out);
    }
    roast_run_first_error(run, first_error, sizeof(first_error));
    print_text(out, roast_str_of(first_error));
}

static inline void print_moments(struct roast_buf *out, const roast_run *run)
{
    for (size_t i = 0; i < run->offer_count; i++) {
        roast__buf_put_signed(out, run->offers[i].time_ns);
        roast__buf_put_varint(out, run->offers[i].workers);
        roast__buf_put_varint(out, run->offers[i].threads);
    }
    for (size_t i = 0; i < run->moment_count; i++) {
        roast__buf_put_varint(out, run->moments[i].mark);
        roast__buf_put_signed(out, run->moments[i].time_ns);
    }
    for (size_t i = 0; i < run->count_count; i++) {
        roast__buf_put_signed(out, run->counts[i].time_ns);
        roast__buf_put_varint(out, run->counts[i].workers);
    }
    for (size_t i = 0; i < run->names.count; i++)
        print_text(out, roast__strings_get(&run->strings, run->names.items[i].text));
}

#endif
