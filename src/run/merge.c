/* SPDX-License-Identifier: BSD-3-Clause */
/* merge.c - merges a frame into the row of its attempt.
 *
 * Everything that can fail comes first: the values of the frame are gathered, memory is
 * reserved, and only then is the row changed. The result does not depend on the order
 * in which the frames of an attempt arrive: a weak value never replaces one of another
 * frame.
 *
 * The timeline is the client's realtime clock at the start of the run, carried on by
 * its monotonic clock. Processes on the client's host share that clock; for others only
 * the realtime clock is usable, and columns hold it with the offset of its process. */
#include "run/merge.h"

#include "base/array.h"
#include "base/bytes.h"
#include "run/cold_fields.h"
#include "run/run.h"

static const int64_t same_clock_within_ns = INT64_C(5000000000);

/* The values of one frame. */
struct row_update {
    enum roast_attempt_part part;
    unsigned char status;
    int32_t source;
    bool weak_source;
    uint32_t known; /* bit n: values[n] is set */
    uint32_t weak;  /* bit n: never replaces a value */
    int64_t values[ROAST_COLUMN_COUNT];
    uint64_t cold_fields;
    int32_t worker;      /* that a chunk record names, or ROAST_NO_STRING */
    uint64_t fields;     /* of a chunk record */
    bool tables_dropped; /* not all of the record is kept */
};

_Static_assert(ROAST_COLUMN_COUNT <= 32, "row_update.known has 32 bits");

enum strength { WEAK, STRONG };

static void set(struct row_update *update, enum roast_attempt_column column,
                int64_t value, enum strength strength)
{
    update->values[column] = value;
    update->known |= UINT32_C(1) << column;
    if (strength == WEAK)
        update->weak |= UINT32_C(1) << column;
}

static bool is_set(const struct row_update *update, enum roast_attempt_column column)
{
    return (update->known >> column) & 1;
}

/* A number that no column can hold is left out here, and is a cold field. */
static void set_field(struct row_update *update, enum roast_attempt_column column,
                      const roast_record *rec, enum roast_field field,
                      enum strength strength)
{
    if (roast_record_has(rec, field) && rec->values[field].u64 <= INT64_MAX)
        set(update, column, (int64_t)rec->values[field].u64, strength);
}

static void set_status(struct row_update *update, const roast_record *rec)
{
    uint64_t status = rec->values[ROAST_FIELD_status].u64;

    if (roast_record_has(rec, ROAST_FIELD_status) &&
        (status == ROAST_CHUNK_OK || status == ROAST_CHUNK_FAILED))
        update->status = (unsigned char)status;
}

/* File and entries of a begin or end frame; false when out of memory. */
static bool set_place(struct roast_run *run, struct row_update *update,
                      const roast_record *rec)
{
    struct roast_str place = rec->values[ROAST_FIELD_place].str;

    if (!roast_record_has(rec, ROAST_FIELD_place) ||
        place.size_bytes != ROAST_PLACE_BYTES)
        return true;
    const unsigned char *at = (const unsigned char *)place.data;
    int64_t first = (int64_t)roast__load_fixed(at + 8, 4);
    int64_t entries = (int64_t)roast__load_fixed(at + 12, 4);
    if (entries > 0) { /* 0 and 0 mean unknown entries */
        set(update, ROAST_COLUMN_entry_start, first, WEAK);
        set(update, ROAST_COLUMN_entry_stop, first + entries, WEAK);
    }
    update->source =
        roast__sources_of_ids(&run->attempts, (uint32_t)roast__load_fixed(at, 4),
                              (uint32_t)roast__load_fixed(at + 4, 4));
    update->weak_source = true;
    return update->source != ROAST_SOURCE_NO_MEMORY;
}

/* ---- begin ----------------------------------------------------------------------- */

static bool merge_begin(struct roast_run *run, struct row_update *update,
                        const roast_record *rec)
{
    if (roast_record_has(rec, ROAST_FIELD_start_epoch_ns))
        set(update, ROAST_COLUMN_task_start_ns,
            rec->values[ROAST_FIELD_start_epoch_ns].i64, WEAK);
    return set_place(run, update, rec);
}

/* ---- end ------------------------------------------------------------------------- */

static bool has_task_ns(const roast_record *rec)
{
    return roast_record_has(rec, ROAST_FIELD_task_ns) &&
           rec->values[ROAST_FIELD_task_ns].u64 <= INT64_MAX;
}

/* An end frame has no host. Before any chunk frame of its process came, the clock is
 * the client's if both clocks of the frame agree that it is. */
static bool ends_on_our_clock(const struct roast_run *run,
                              const struct roast_worker_process *process,
                              const roast_record *rec)
{
    if (process->host != ROAST_NO_STRING)
        return process->shares_clock;
    if (!has_task_ns(rec) || !roast_record_has(rec, ROAST_FIELD_end_epoch_ns))
        return false;
    int64_t end_ns = roast__sat_add(rec->values[ROAST_FIELD_task_start_mono_ns].i64,
                                    run->epoch_minus_mono_ns);
    end_ns = roast__sat_add(end_ns, rec->values[ROAST_FIELD_task_ns].i64);
    int64_t apart_ns =
        roast__sat_sub(end_ns, rec->values[ROAST_FIELD_end_epoch_ns].i64);
    return apart_ns <= same_clock_within_ns && apart_ns >= -same_clock_within_ns;
}

static void set_task(const struct roast_run *run, struct row_update *update,
                     const struct roast_worker_process *process,
                     const roast_record *rec)
{
    set_field(update, ROAST_COLUMN_task_ns, rec, ROAST_FIELD_task_ns, STRONG);
    set_field(update, ROAST_COLUMN_task_cpu_ns, rec, ROAST_FIELD_task_cpu_ns, STRONG);
    set_field(update, ROAST_COLUMN_task_process_cpu_ns, rec,
              ROAST_FIELD_task_process_cpu_ns, STRONG);
    set_field(update, ROAST_COLUMN_output_bytes, rec, ROAST_FIELD_output_bytes, STRONG);
    if (roast_record_has(rec, ROAST_FIELD_task_start_mono_ns) &&
        ends_on_our_clock(run, process, rec))
        set(update, ROAST_COLUMN_task_start_ns,
            roast__sat_add(rec->values[ROAST_FIELD_task_start_mono_ns].i64,
                           run->epoch_minus_mono_ns),
            STRONG);
    else if (roast_record_has(rec, ROAST_FIELD_end_epoch_ns) && has_task_ns(rec))
        set(update, ROAST_COLUMN_task_start_ns,
            roast__sat_sub(rec->values[ROAST_FIELD_end_epoch_ns].i64,
                           rec->values[ROAST_FIELD_task_ns].i64),
            STRONG);
}

/* Records made by hand may be of any process. */
static bool is_handmade(const struct roast_worker_process *process)
{
    return process->run == ROAST_NO_STRING;
}

static void set_process_use(struct roast_worker_process *process,
                            const roast_record *rec)
{
    const union roast_field_value *cpu = &rec->values[ROAST_FIELD_process_cpu_ns];

    if (is_handmade(process))
        return;
    if (process->pid == 0 && roast_record_has(rec, ROAST_FIELD_pid))
        process->pid = rec->values[ROAST_FIELD_pid].u64;
    if (roast_record_has(rec, ROAST_FIELD_process_cpu_ns) && cpu->u64 > process->cpu_ns)
        process->cpu_ns = cpu->u64; /* it only grows; frames may be reordered */
}

static bool merge_end(struct roast_run *run, struct row_update *update,
                      struct roast_worker_process *process, const roast_record *rec)
{
    set_status(update, rec);
    set_field(update, ROAST_COLUMN_duration_ns, rec, ROAST_FIELD_duration_ns, WEAK);
    set_task(run, update, process, rec);
    set_process_use(process, rec);
    if (roast_record_has(rec, ROAST_FIELD_error_type)) {
        int32_t text =
            roast__strings_put(&run->strings, rec->values[ROAST_FIELD_error_type].str);
        if (text < 0)
            return false;
        set(update, ROAST_COLUMN_error_type, text, WEAK);
    }
    if (roast_record_has(rec, ROAST_FIELD_ladder)) {
        int64_t at =
            roast__ladder_pack(&run->attempts, rec->values[ROAST_FIELD_ladder].str);
        if (at < 0)
            return false;
        set(update, ROAST_COLUMN_ladder, at, STRONG);
    }
    return set_place(run, update, rec);
}

/* ---- chunk ----------------------------------------------------------------------- */

static bool intern(int32_t *number, struct roast_run *run, const roast_record *rec,
                   enum roast_field field, int32_t likely)
{
    *number = ROAST_NO_STRING;
    if (roast_record_has(rec, field))
        *number =
            roast__strings_put_again(&run->strings, rec->values[field].str, likely);
    return *number != ROAST_STRING_NO_MEMORY;
}

static bool intern_texts(struct roast_record_texts *texts, struct roast_run *run,
                         const struct roast_worker_process *process,
                         const roast_record *rec)
{
    struct roast_last_values *last = &run->attempts.last;

    if (!intern(&texts->host, run, rec, ROAST_FIELD_host, process->host) ||
        !intern(&texts->worker, run, rec, ROAST_FIELD_worker, process->worker) ||
        !intern(&texts->error_type, run, rec, ROAST_FIELD_error_type, -1) ||
        !intern(&texts->absences, run, rec, ROAST_FIELD_absences, last->absences) ||
        !intern(&texts->file_facts, run, rec, ROAST_FIELD_file_facts,
                last->file_facts) ||
        !intern(&texts->file_branches, run, rec, ROAST_FIELD_file_branches,
                last->file_branches))
        return false;
    last->absences = texts->absences;
    last->file_facts = texts->file_facts;
    last->file_branches = texts->file_branches;
    return true;
}

/* The first record of a process sets where it runs. */
static void set_process(const struct roast_run *run,
                        struct roast_worker_process *process, const roast_record *rec,
                        const struct roast_record_texts *texts)
{
    if (is_handmade(process))
        return;
    if (process->host == ROAST_NO_STRING && texts->host != ROAST_NO_STRING) {
        process->host = texts->host;
        process->shares_clock = texts->host == run->host;
    }
    if (process->worker == ROAST_NO_STRING)
        process->worker = texts->worker;
    if (process->pid == 0 && roast_record_has(rec, ROAST_FIELD_pid))
        process->pid = rec->values[ROAST_FIELD_pid].u64;
}

static void set_start(const struct roast_run *run, struct row_update *update,
                      const struct roast_worker_process *process,
                      const roast_record *rec, const struct roast_record_texts *texts)
{
    bool ours = texts->host == ROAST_NO_STRING ? process->shares_clock
                                               : texts->host == run->host;

    if (ours && roast_record_has(rec, ROAST_FIELD_start_mono_ns))
        set(update, ROAST_COLUMN_start_ns,
            roast__sat_add(rec->values[ROAST_FIELD_start_mono_ns].i64,
                           run->epoch_minus_mono_ns),
            STRONG);
    else if (roast_record_has(rec, ROAST_FIELD_start_epoch_ns))
        set(update, ROAST_COLUMN_start_ns, rec->values[ROAST_FIELD_start_epoch_ns].i64,
            STRONG);
}

/* Distances are relative to the first record of the process. */
static void set_mono_distance(struct roast_worker_process *process,
                              const struct row_update *update, const roast_record *rec)
{
    if (process->mono_known || is_handmade(process) ||
        !is_set(update, ROAST_COLUMN_start_ns) ||
        !roast_record_has(rec, ROAST_FIELD_start_mono_ns))
        return;
    process->timeline_minus_mono_ns =
        roast__wrap_sub(update->values[ROAST_COLUMN_start_ns],
                        rec->values[ROAST_FIELD_start_mono_ns].i64);
    process->mono_known = true;
}

static bool merge_record(struct roast_run *run, struct row_update *update,
                         struct roast_worker_process *process, const roast_record *rec)
{
    struct roast_record_texts texts;

    if (!intern_texts(&texts, run, process, rec))
        return false;
    set_process(run, process, rec, &texts);
    set_status(update, rec);
    set_start(run, update, process, rec, &texts);
    set_mono_distance(process, update, rec);
    for (size_t i = 0; i < ROAST_FIELD_COLUMN_COUNT; i++)
        set_field(update, roast__field_columns[i].column, rec,
                  roast__field_columns[i].field, STRONG);
    if (texts.error_type >= 0)
        set(update, ROAST_COLUMN_error_type, texts.error_type, STRONG);
    update->source =
        roast__sources_of_record(&run->attempts, &run->strings, &run->names, rec);
    if (update->source == ROAST_SOURCE_NO_MEMORY)
        return false;
    update->worker = texts.worker;
    update->fields = rec->present;
    update->cold_fields = roast__cold_fields_pack(
        run, rec, process, &texts,
        is_set(update, ROAST_COLUMN_start_ns) ? &update->values[ROAST_COLUMN_start_ns]
                                              : NULL);
    return update->cold_fields != 0;
}

/* Tables of branches are by far the largest part of a record: 1 kB where a chunk reads
 * 20 branches, 50 kB where it reads 1500. Once the packed fields reach the budget of
 * the run, these tables are dropped from new records, with the reason, and counted as
 * losses. */
static const enum roast_field tables[] = {ROAST_FIELD_branches,
                                          ROAST_FIELD_file_branches};
enum { TABLE_COUNT = sizeof(tables) / sizeof(tables[0]) };

static bool has_room_for_tables(const struct roast_run *run, const roast_record *rec)
{
    size_t held_bytes = run->attempts.packed.size_bytes + run->strings.bytes_used;
    size_t left_bytes =
        run->budget_bytes > held_bytes ? run->budget_bytes - held_bytes : 0;

    for (size_t i = 0; i < TABLE_COUNT; i++) {
        if (!roast_record_has(rec, tables[i]))
            continue;
        size_t table_bytes = rec->values[tables[i]].str.size_bytes;
        if (table_bytes > left_bytes)
            return false;
        left_bytes -= table_bytes;
    }
    return true;
}

static bool drop_branch_tables(roast_record *rec, struct roast_buf *absences)
{
    struct roast_str absent = rec->values[ROAST_FIELD_absences].str;

    if (roast_record_has(rec, ROAST_FIELD_absences))
        roast__buf_put(absences, absent.data, absent.size_bytes);
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        if (!roast_record_has(rec, tables[i]))
            continue;
        rec->present &= ~(UINT64_C(1) << tables[i]);
        roast__buf_put_varint(absences, roast_field_info(tables[i])->number);
        roast__buf_put_varint(absences, ROAST_WHY_NO_ROOM);
    }
    if (!roast__buf_ok(absences))
        return false;
    roast_record_set_str(
        rec, ROAST_FIELD_absences,
        (struct roast_str){(const char *)absences->data, absences->size_bytes});
    return true;
}

static bool merge_chunk(struct roast_run *run, struct row_update *update,
                        struct roast_worker_process *process, const roast_record *rec)
{
    struct roast_buf absences = {NULL, 0, 0, false};

    if (has_room_for_tables(run, rec))
        return merge_record(run, update, process, rec);
    roast_record kept = *rec;
    update->tables_dropped = true;
    bool merged = drop_branch_tables(&kept, &absences) &&
                  merge_record(run, update, process, &kept);
    roast__buf_release(&absences);
    return merged;
}

/* ---- the row --------------------------------------------------------------------- */

static bool read_frame(struct roast_run *run, struct row_update *update,
                       int32_t process, const roast_record *rec)
{
    struct roast_worker_process *entry = &run->attempts.processes[process];

    switch (update->part) {
    case ROAST_PART_BEGIN:
        return merge_begin(run, update, rec);
    case ROAST_PART_CHUNK:
        return merge_chunk(run, update, entry, rec);
    case ROAST_PART_END:
        return merge_end(run, update, entry, rec);
    }
    return false;
}

static bool reserve_columns(struct roast_attempts *attempts,
                            const struct row_update *update)
{
    for (uint32_t left = update->known; left; left &= left - 1) {
        struct roast_column *column = &attempts->columns[__builtin_ctz(left)];
        if (!roast__column_reserve(column, attempts->cap))
            return false;
    }
    return true;
}

/* Cannot fail: memory is reserved. An attempt failed if any of its frames failed. */
static void write_row(struct roast_attempts *attempts, size_t row,
                      const struct row_update *update)
{
    for (uint32_t left = update->known; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        struct roast_column *column = &attempts->columns[i];
        bool weak = (update->weak >> i) & 1;
        if (!weak || !roast__column_has(column, row))
            roast__column_put(column, row, update->values[i]);
    }
    if (update->source >= 0 && (!update->weak_source || attempts->source[row] < 0))
        roast__sources_set(attempts, row, update->source);
    if (update->status > attempts->status[row])
        attempts->status[row] = update->status;
    if (update->cold_fields != 0)
        attempts->cold_fields[row] = update->cold_fields;
    attempts->fields |= update->fields;
    attempts->parts[row] |= (unsigned char)update->part;
}

static int32_t find_process(struct roast_run *run, const struct roast_identity *id)
{
    if (!id)
        return roast__processes_handmade(&run->attempts);
    struct roast_str run_id = {(const char *)id->run_id, sizeof(id->run_id)};
    int32_t *last = &run->attempts.last.run;
    int32_t number = roast__strings_put_again(&run->strings, run_id, *last);
    *last = number;
    return number < 0 ? -1
                      : roast__processes_get(&run->attempts, number, id->process_id);
}

/* ---- the task it ran in ---------------------------------------------------------- */

static bool names_worker(const struct roast_run *run, int64_t row)
{
    return row >= 0 &&
           (roast__attempt_present(run, (size_t)row) >> ROAST_FIELD_worker) & 1;
}

/* The entry of the worker that ran an attempt; the name in its record is preferred to
 * that of its task. -1 when out of memory. */
static int32_t find_worker_entry(struct roast_run *run, int32_t process, int64_t row,
                                 const struct row_update *update,
                                 const struct roast_task_link *link)
{
    struct roast_attempts *attempts = &run->attempts;
    int32_t worker = update->worker;

    if (worker == ROAST_NO_STRING && link && !names_worker(run, row))
        worker = link->worker;
    if (worker != ROAST_NO_STRING && !is_handmade(&attempts->processes[process]))
        return roast__processes_worker(attempts, process, worker);
    return row >= 0 ? attempts->process[row] : process;
}

/* Only the task of the frame may be new. */
static enum roast_merged link_row(struct roast_run *run, size_t row,
                                  const struct row_update *update,
                                  const struct roast_task_link *link)
{
    struct roast_attempts *attempts = &run->attempts;
    struct roast_column *hashes = &attempts->columns[ROAST_COLUMN_key_hash];

    if (!link || roast__column_has(hashes, row))
        return ROAST_MERGED_REPEATED;
    int32_t worker_entry = find_worker_entry(run, roast__process_of(attempts, row),
                                             (int64_t)row, update, link);
    if (worker_entry < 0 || !roast__column_reserve(hashes, attempts->cap))
        return ROAST_MERGED_NO_MEMORY;
    roast__column_put(hashes, row, link->key_hash);
    attempts->process[row] = worker_entry;
    return ROAST_MERGED_LINKED;
}

/* ---- merge ----------------------------------------------------------------------- */

/* Converts times from the clock of the process to the timeline. */
static void add_offset(struct row_update *update,
                       const struct roast_worker_process *process)
{
    static const enum roast_attempt_column times[] = {ROAST_COLUMN_start_ns,
                                                      ROAST_COLUMN_task_start_ns};

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        if (is_set(update, times[i]))
            update->values[times[i]] =
                roast__wrap_add(update->values[times[i]], process->offset_ns);
    }
}

enum roast_merged roast__merge(struct roast_run *run, size_t *row_out,
                               const struct roast_identity *id,
                               const struct roast_task_link *link,
                               const roast_record *rec)
{
    struct roast_attempts *attempts = &run->attempts;
    struct row_update update = {.part =
                                    (enum roast_attempt_part)(1u << (rec->kind - 1)),
                                .source = ROAST_NO_SOURCE,
                                .worker = ROAST_NO_STRING};
    int32_t worker_entry = -1;
    size_t packed_bytes = attempts->packed.size_bytes;
    int32_t process = find_process(run, id);

    if (process < 0)
        return ROAST_MERGED_NO_MEMORY;
    if (!id)
        link = NULL;
    if (link)
        set(&update, ROAST_COLUMN_key_hash, link->key_hash, WEAK);
    int64_t row = id ? roast__attempts_find(attempts, process, id->sequence) : -1;
    *row_out = (size_t)row; /* of a new one below */
    if (row >= 0 && attempts->parts[row] & update.part)
        return link_row(run, (size_t)row, &update, link);
    if ((row < 0 && !roast__attempts_room(attempts)) ||
        !read_frame(run, &update, process, rec) ||
        !reserve_columns(attempts, &update) ||
        (worker_entry = find_worker_entry(run, process, row, &update, link)) < 0) {
        attempts->packed.size_bytes = packed_bytes;
        return ROAST_MERGED_NO_MEMORY;
    }
    add_offset(&update, &attempts->processes[process]);
    if (row < 0) {
        uint32_t sequence = id ? id->sequence : ++attempts->handmade_count;
        row = (int64_t)roast__attempts_append(attempts, worker_entry, sequence,
                                              id != NULL);
    }
    *row_out = (size_t)row;
    attempts->process[row] = worker_entry;
    write_row(attempts, (size_t)row, &update);
    if (update.tables_dropped)
        roast__run_lose(run, ROAST_RUN_LOSS_branch_tables_dropped, 1);
    return ROAST_MERGED_NEW;
}
