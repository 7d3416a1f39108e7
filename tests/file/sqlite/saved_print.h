/* SPDX-License-Identifier: BSD-3-Clause */
/* saved_print.h - everything that a file must restore, as bytes: the contents of a run,
 * its private state and its summary. */
#ifndef ROAST_TESTS_FILE_SQLITE_SAVED_PRINT_H
#define ROAST_TESTS_FILE_SQLITE_SAVED_PRINT_H

#include "saved_print_state.h"

static inline void print_rows(struct roast_buf *out, const roast_run *run)
{
    const struct roast_attempts *attempts = &run->attempts;

    for (size_t row = 0; row < attempts->count; row++) {
        roast__buf_put_varint(out, attempts->sequence[row]);
        print_process(out, run, row);
        print_source(out, run, row);
        roast__buf_put_varint(out, attempts->cold_fields[row] != 0);
        for (int i = 0; i < ROAST_COLUMN_COUNT; i++) {
            const struct roast_column *column = &attempts->columns[i];
            roast__buf_put_varint(out, roast__column_has(column, row));
            if (i != ROAST_COLUMN_ladder && i != ROAST_COLUMN_error_type)
                roast__buf_put_signed(out, roast__column_get(column, row, 0));
        }
        print_text(out, roast__strings_get(
                            &run->strings,
                            (int32_t)roast__column_get(
                                &attempts->columns[ROAST_COLUMN_error_type], row, -1)));
        print_text(out, roast__attempt_ladder(attempts, row));
    }
}

/* Returns owned. */
static inline struct roast_buf print_whole(roast_run *run)
{
    struct roast_buf out;
    roast_summary *summary = NULL;

    assert_int_equal(roast_summarize(&summary, run, NULL), ROAST_OK);
    out = print_run(run); /* after names were resolved */
    print_private_state(&out, run);
    print_rows(&out, run);
    roast__summary_encode(&out, summary);
    assert_true(roast__buf_ok(&out));
    roast_summary_free(summary);
    return out;
}

static inline void assert_same_whole(roast_run *a, roast_run *b)
{
    struct roast_buf left = print_whole(a), right = print_whole(b);

    assert_true(str_equal(buf_str(&left), buf_str(&right)));
    roast__buf_release(&left);
    roast__buf_release(&right);
}

#endif
