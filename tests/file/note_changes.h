/* SPDX-License-Identifier: BSD-3-Clause */
/* note_changes.h - changes of facts, notes and timed events, one of each kind. */
#ifndef ROAST_TESTS_FILE_NOTE_CHANGES_H
#define ROAST_TESTS_FILE_NOTE_CHANGES_H

#include "sample_changes.h"

static inline void change_host(roast_run *run)
{
    assert_int_equal(roast_run_set_host(run, roast_str_of("here"), NULL), ROAST_OK);
}

static inline void change_accept(roast_run *run)
{
    assert_int_equal(roast_run_accept(run, RUN_ID, NULL), ROAST_OK);
}

static inline void change_name(roast_run *run)
{
    struct roast_str file = roast_str_of("root://me:secret@host//f.root?authz=token");

    assert_int_equal(roast_run_add_name(run, file, NULL), ROAST_OK);
}

static inline void set_note(roast_run *run, enum roast_note_group group,
                            const char *name, const char *text)
{
    assert_int_equal(
        roast_run_set_note(run, group, roast_str_of(name), roast_str_of(text), NULL),
        ROAST_OK);
}

static inline void change_id(roast_run *run)
{
    set_note(run, ROAST_NOTES_run, "id", "0123456789abcdef0123456789abcdef");
}

static inline void change_label(roast_run *run)
{
    set_note(run, ROAST_NOTES_label, "login", "Authorization: Bearer one two");
}

static inline void change_document(roast_run *run)
{
    set_note(run, ROAST_NOTES_document, "report", "{\"token\": \"it is JSON\"}");
}

static inline void change_no_note(roast_run *run)
{
    set_note(run, ROAST_NOTES_document, "report", NULL);
}

static inline void change_fact(roast_run *run)
{
    roast_run_set_fact(run, ROAST_FACT_report_events, 1.0 / 3);
}

static inline void change_sum(roast_run *run)
{
    roast_run_add_fact(run, ROAST_FACT_own_cpu_seconds, -0.1);
}

static inline void change_offer(roast_run *run)
{
    assert_int_equal(roast_run_offer(run, EPOCH_0 - SECOND, 4, 8, NULL), ROAST_OK);
}

static inline void change_count(roast_run *run)
{
    assert_int_equal(roast_run_add_count(run, EPOCH_0 + SECOND, 3, NULL), ROAST_OK);
}

static inline void change_mark(roast_run *run)
{
    assert_int_equal(roast_run_mark(run, ROAST_MARK_RUN_BEGIN, MONO_0 + 5, NULL),
                     ROAST_OK);
}

#endif
