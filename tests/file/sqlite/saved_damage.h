/* SPDX-License-Identifier: BSD-3-Clause */
/* saved_damage.h - run files that may be damaged: they are refused, or say what is
 * wrong, or are whole. */
#ifndef ROAST_TESTS_FILE_SQLITE_SAVED_DAMAGE_H
#define ROAST_TESTS_FILE_SQLITE_SAVED_DAMAGE_H

#include "saved_left.h"

/* Another one at every call. */
static inline void use_a_table(roast_runfile *file)
{
    static int table;
    roast_table *columns = NULL;

    table = (table + 1) % ROAST_RUN_TABLE_COUNT;
    (void)roast_runfile_columns(file, (enum roast_table_id)table, &columns, NULL);
    roast_table_free(columns);
}

/* Opens a file that may be damaged and uses all of it: it is refused, or says what is
 * wrong, or is whole. Returns whether it was opened. */
static inline bool assert_honest(const struct truth *truth, const char *path)
{
    roast_runfile *file = NULL;
    const roast_summary *summary = NULL;
    roast_run *run = NULL;
    roast_error err = {0};
    int status = roast_runfile_open(&file, path, &err);

    if (status < 0) {
        assert_true(status != ROAST_NO_MEMORY && status != ROAST_IO);
        assert_true(err.message[0] != '\0');
        return false;
    }
    int64_t problems = roast_runfile_check(file, NULL, NULL, &err);
    assert_true(problems >= 0);
    if (roast_runfile_run(file, true, &run, &err) == ROAST_OK) {
        struct roast_buf whole = print_whole(run);
        bool same = str_equal(buf_str(&whole), buf_str(&truth->whole));
        roast__buf_release(&whole);
        if (!same && problems == 0)
            fail_msg("something is missing, and nobody says so");
        assert_true_records(truth, run);
        assert_true_facts(truth, run);
        assert_true_samples(truth, run);
        for (int i = 0; i < ROAST_NOTE_GROUP_COUNT; i++)
            roast_run_notes(run, (enum roast_note_group)i, assert_true_note,
                            &truth->run->notes);
    } else {
        assert_true(problems > 0);
    }
    (void)roast_runfile_summary(file, &summary, &err);
    use_a_table(file);
    roast_runfile_close(file);
    return true;
}

#endif
