/* SPDX-License-Identifier: BSD-3-Clause */
/* saved_damage.h - checks damaged run files: each must be refused, or report its damage
 * and return only data that was saved. */
#ifndef ROAST_TESTS_FILE_SQLITE_SAVED_DAMAGE_H
#define ROAST_TESTS_FILE_SQLITE_SAVED_DAMAGE_H

#include "saved_subset.h"

/* Reads another table at every call. */
static inline void read_one_table(roast_runfile *file)
{
    static int table;
    roast_table *columns = NULL;

    table = (table + 1) % ROAST_RUN_TABLE_COUNT;
    (void)roast_runfile_columns(file, (enum roast_table_id)table, &columns, NULL);
    roast_table_free(columns);
}

/* Opens and reads a file that may be damaged: it is refused, reports its damage, or is
 * complete. Returns whether it was opened. */
static inline bool assert_damage_reported(const struct expected_run *expected,
                                          const char *path)
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
        bool same = str_equal(buf_str(&whole), buf_str(&expected->whole));
        roast__buf_release(&whole);
        if (!same && problems == 0)
            fail_msg("data is missing, but no problem is reported");
        assert_saved_records(expected, run);
        assert_saved_facts(expected, run);
        assert_saved_samples(expected, run);
        for (int i = 0; i < ROAST_NOTE_GROUP_COUNT; i++)
            roast_run_notes(run, (enum roast_note_group)i, assert_saved_note,
                            &expected->run->notes);
    } else {
        assert_true(problems > 0);
    }
    (void)roast_runfile_summary(file, &summary, &err);
    read_one_table(file);
    roast_runfile_close(file);
    return true;
}

#endif
