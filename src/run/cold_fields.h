/* SPDX-License-Identifier: BSD-3-Clause */
/* cold_fields.h - the fields of a chunk record that have no column, packed; and back.
 *
 * Together with the columns, the source and the process of its row they are the whole
 * record, bit by bit. */
#ifndef ROAST_RUN_COLD_FIELDS_H
#define ROAST_RUN_COLD_FIELDS_H

#include "run/attempts.h"

/* The fields that live in a column of the same meaning. */
struct roast_field_column {
    enum roast_field field;
    enum roast_attempt_column column;
};

enum { ROAST_FIELD_COLUMN_COUNT = 10 };
extern const struct roast_field_column roast__field_columns[ROAST_FIELD_COLUMN_COUNT];

/* Texts of a record that are kept by number; ROAST_NO_STRING where absent. */
struct roast_record_texts {
    int32_t host;
    int32_t worker;
    int32_t error_type;
    int32_t absences;
    int32_t file_facts;
    int32_t file_branches;
};

/* Packs what neither columns nor tables hold. start_ns is the row's on the
 * timeline, NULL where it has none. Returns what to keep in `cold_fields`, 0 when
 * out of memory. */
struct roast_run;
uint64_t roast__cold_fields_pack(struct roast_run *run, const roast_record *rec,
                                 const struct roast_worker_process *process,
                                 const struct roast_record_texts *texts,
                                 const int64_t *start_ns);

/* Packs the ladder of an end frame. Returns what to keep in its column, negative when
 * out of memory. */
int64_t roast__ladder_pack(struct roast_attempts *attempts, struct roast_str ladder);

/* The ladder of the end frame of a row, borrowed; absent where there is none. */
struct roast_str roast__attempt_ladder(const struct roast_attempts *attempts,
                                       size_t row);

/* The chunk record of a row, with everything that was in its frame. Borrows the table
 * and strings, and `identity`, until either changes. False when the row has none. */
bool roast__attempt_chunk(const struct roast_run *run, size_t row, roast_record *rec,
                          unsigned char identity[ROAST_IDENTITY_BYTES]);

/* The identity of an attempt, packed. */
void roast__attempt_identity(const struct roast_run *run, size_t row,
                             unsigned char identity[ROAST_IDENTITY_BYTES]);

/* The chunk record of a row, with everything that was in its frame, and what only its
 * end frame had: times of the attempt and ladder. Borrows the table and strings, and
 * `identity`, until either changes. False when the row has no chunk frame: then only
 * the fields of the end frame are set. */
bool roast__attempt_record(const struct roast_run *run, size_t row, roast_record *rec,
                           unsigned char identity[ROAST_IDENTITY_BYTES]);

/* The same with these fields alone, as bits of roast_record.present: faster than the
 * whole record. `identity` cannot be one of them. */
bool roast__attempt_fields(const struct roast_run *run, size_t row, uint64_t wanted,
                           roast_record *rec);

/* Which fields that record has, as in roast_record.present; 0 without a chunk frame.
 * Much cheaper than the record. */
uint64_t roast__attempt_present(const struct roast_run *run, size_t row);

#endif
