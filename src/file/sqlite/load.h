/* SPDX-License-Identifier: BSD-3-Clause */
/* load.h - a run out of a database.
 *
 * Whoever wrote the file may be hostile: every number is looked at before it is used,
 * and what does not fit is left out, counted and told. */
#ifndef ROAST_FILE_SQLITE_LOAD_H
#define ROAST_FILE_SQLITE_LOAD_H

#include "file/sqlite/checked.h"
#include "file/sqlite/segment.h"
#include "roast/runfile.h"
#include "run/run.h"

struct roast_loading {
    sqlite3 *db;                    /* borrowed */
    uint64_t file_bytes;            /* nothing in a file is more than it */
    struct roast_run *run;          /* borrowed; nobody else knows it yet */
    uint64_t damaged;               /* pieces that were left out */
    roast_problem_visitor *problem; /* told each of them; NULL allowed */
    void *context;
    struct roast_buf lost_strings;   /* bit n: string n */
    struct roast_buf lost_processes; /* bit n: process n */
    uint32_t *row_ids;               /* owned; by row, its id in the file */
    uint64_t taken_bytes; /* of memory, for what is far larger than in the file */
};

/* Leaves out so many pieces, for which `what` is the word. */
void roast__loading_miss(struct roast_loading *loading, uint64_t count,
                         const char *what);

/* Whether something that is far larger in memory than in a file may take so many bytes
 * more: all of it together takes no more than MEMORY_PER_BYTE of the file. Sampled
 * workers do: the smallest that is real has 50 bytes there, and 200 in memory. Arrays
 * double, so in truth it may be twice as much. */
enum { ROAST_MEMORY_PER_BYTE = 5, ROAST_MEMORY_ALWAYS_BYTES = 256 << 10 };
bool roast__loading_may_take(struct roast_loading *loading, size_t bytes);
void roast__loading_release(struct roast_loading *loading);

/* Facts, notes, losses, clocks, offers, marks: what every run has. Returns an owned
 * run, which is also the one of `loading`. BAD_CHECKSUM when not even the row of the run
 * can be read. */
int roast__load_small(roast_run **out, struct roast_loading *loading, roast_error *err);

/* Everything else into the same run. */
int roast__load_whole(struct roast_loading *loading, roast_error *err);

/* The parts of both, in this order. All fail when memory or the disk does. */
int roast__load_times(struct roast_loading *loading, roast_error *err);
int roast__load_texts(struct roast_loading *loading, roast_error *err);
int roast__load_attempts(struct roast_loading *loading, roast_error *err);
int roast__load_rest(struct roast_loading *loading, roast_error *err);
int roast__load_samples(struct roast_loading *loading, roast_error *err);

/* ---- tables and segments ----------------------------------------------------------- */

/* Calls `take` for every row of a table that is whole. */
typedef int roast__take_row(struct roast_loading *loading,
                            const struct roast_checked *in, roast_error *err);
int roast__load_table(struct roast_loading *loading, const char *table,
                      roast__take_row *take, roast_error *err);

/* Calls `take` for every part of a segment that is whole; it leaves the cursor at the
 * end, or failed. */
typedef int roast__take_part(struct roast_loading *loading,
                             const struct roast_segment_part *part,
                             struct roast_cursor *cur, roast_error *err);
int roast__load_segment(struct roast_loading *loading, enum roast_segment segment,
                        roast__take_part *take, roast_error *err);

/* ---- numbers ----------------------------------------------------------------------- */

/* Whether a number is that of a string which is known. */
static inline bool roast__loading_has_string(const struct roast_loading *loading,
                                             uint64_t number)
{
    return number < loading->run->strings.count &&
           !roast__buf_bit(&loading->lost_strings, number);
}

#endif
