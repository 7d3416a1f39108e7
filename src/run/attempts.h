/* SPDX-License-Identifier: BSD-3-Clause */
/* attempts.h - one row per attempt: hot fields in columns, cold fields packed.
 *
 * Begin, chunk and end frames of one identity become one row (merge.c). Texts and facts
 * that repeat are kept once: file (sources.h), process (processes.h). Fields without a
 * column are kept in `packed` (cold_fields.h), so that every field of every chunk
 * record can be returned. */
#ifndef ROAST_RUN_ATTEMPTS_H
#define ROAST_RUN_ATTEMPTS_H

#include "base/buf.h"
#include "base/column.h"
#include "run/processes.h"
#include "run/sources.h"

enum roast_attempt_column {
#define C(name, text) ROAST_COLUMN_##name,
#include "run/attempt_columns.def"
#undef C
    ROAST_COLUMN_COUNT
};

/* Which frames of an attempt were seen. */
enum roast_attempt_part {
    ROAST_PART_BEGIN = 1,
    ROAST_PART_CHUNK = 2,
    ROAST_PART_END = 4,
};

/* Values of the last record: the next one often has the same. */
struct roast_last_values {
    int32_t run; /* numbers of strings */
    int32_t absences;
    int32_t file_facts;
    int32_t file_branches;
    int32_t source; /* index in sources */
};

/* Zeroed = empty and valid. Everything is owned. */
struct roast_attempts {
    size_t count;
    size_t cap;
    int32_t *process; /* index in processes: the worker that ran it */
    uint32_t *sequence;
    int32_t *source;       /* index in sources, -1: not known */
    unsigned char *status; /* roast_chunk_status; 0: not known (running, or lost) */
    unsigned char *parts;  /* roast_attempt_part bits */
    uint64_t *cold_fields; /* position in `packed` + 1; 0: none */
    struct roast_column columns[ROAST_COLUMN_COUNT];
    struct roast_buf packed;
    uint64_t fields; /* that any chunk record has, as in roast_record.present */
    struct roast_hash_table slots; /* by process and sequence */
    struct roast_source *sources;
    size_t source_count;
    size_t source_cap;
    size_t rows_by_id; /* rows whose source is known by ids alone */
    struct roast_hash_table source_slots;
    struct roast_worker_process *processes;
    size_t process_count;
    size_t process_cap;
    struct roast_hash_table process_slots;    /* by run and id, or process and worker */
    struct roast_hash_table process_id_slots; /* by id: the first one */
    struct roast_last_values last;
    int32_t handmade_process; /* index + 1 of the one for records without identity */
    uint32_t handmade_count;
};

/* The first entry of the process of a row, whichever of its workers ran the attempt. */
static inline int32_t roast__process_of(const struct roast_attempts *attempts,
                                        size_t row)
{
    return attempts->processes[attempts->process[row]].process_entry;
}

void roast__attempts_release(struct roast_attempts *attempts);

/* The row of an identity, or -1. */
int64_t roast__attempts_find(const struct roast_attempts *attempts, int32_t process,
                             uint32_t sequence);

/* Reserves one more row; false when out of memory. */
bool roast__attempts_room(struct roast_attempts *attempts);

/* Adds a reserved row. One that is not `findable` is never repeated. */
size_t roast__attempts_append(struct roast_attempts *attempts, int32_t process,
                              uint32_t sequence, bool findable);

#endif
