/* SPDX-License-Identifier: BSD-3-Clause */
/* saved_words.h - samples and notes of a run. */
#ifndef ROAST_TESTS_FILE_SQLITE_SAVED_WORDS_H
#define ROAST_TESTS_FILE_SQLITE_SAVED_WORDS_H

#include <stdio.h>

#include "file/live/live_words.h"

static inline void add_many_samples(roast_run *run, int workers, int moments)
{
    for (int w = 0; w < workers; w++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "tcp://host:%d", w);
        for (int i = 0; i < moments; i++) {
            roast_sample sample = {.worker = roast_str_of(name),
                                   .time_ns = EPOCH_0 + i * SECOND + w * 1000};
            roast_sample_set(&sample, ROAST_SERIES_memory, 1e9 + (i * 37 % 11) * 4096);
            if (i % 3 == 0)
                roast_sample_set(&sample, ROAST_SERIES_cpu, 50 + i % 50);
            roast_sample_set(&sample, ROAST_SERIES_cores, 4);
            assert_int_equal(roast_run_add_sample(run, &sample, NULL), ROAST_OK);
        }
    }
}

static inline void add_words(roast_run *run)
{
    set_note(run, ROAST_NOTES_run, "id", "0123456789abcdef0123456789abcdef");
    set_note(run, ROAST_NOTES_run, "processor", "MyProcessor");
    set_note(run, ROAST_NOTES_run, "executor", "Futures, 4 workers");
    set_note(run, ROAST_NOTES_label, "site", "T2");
    set_note(run, ROAST_NOTES_label, "user", "me");
    set_note(run, ROAST_NOTES_provenance, "coffea", "2026.1");
    set_note(run, ROAST_NOTES_document, "fileset", "{\"ttbar\": [\"one.root\"]}");
}

#endif
