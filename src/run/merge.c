/* SPDX-License-Identifier: BSD-3-Clause */
/* merge.c - what a frame says of its attempt, put into the attempt's row.
 *
 * Everything that can fail comes first: what a frame says is gathered, room is made,
 * and only then is the row touched. The result does not depend on the order in which
 * the frames of an attempt arrive: what is weak gives way to what another frame says.
 * An attempt may end twice, when process() returned and when its result was packed: the
 * end that took longer counts, but one without a ladder never outdoes one that has it.
 *
 * The timeline is the client's realtime clock at the start of the run, carried on by
 * its monotonic clock. Processes on the client's host share that clock; of others only
 * the realtime clock is of use, and columns hold it with the offset of its process. */
#include "run/merge.h"

#include "base/bytes.h"
#include "run/array.h"
#include "run/rest.h"
#include "run/run.h"
#include "run/trim.h"

static const int64_t same_clock_within_ns = INT64_C(5000000000);

/* What one frame says. */
struct saying {
    enum roast_attempt_part part;
    unsigned char status;
    int32_t source;
    bool weak_source;
    uint32_t known; /* bit n: values[n] is said */
    uint32_t weak;  /* bit n: gives way to what is there */
    int64_t values[ROAST_COLUMN_COUNT];
    uint64_t rest;
    int32_t worker;  /* that a chunk record names, or ROAST_NO_STRING */
    uint64_t fields; /* of a chunk record */
    bool trimmed;    /* not all of the record is kept */
};

_Static_assert(ROAST_COLUMN_COUNT <= 32, "saying.known has 32 bits");

enum strength { WEAK, STRONG };

static void say(struct saying *says, enum roast_attempt_column column, int64_t value,
                enum strength strength)
{
    says->values[column] = value;
    says->known |= UINT32_C(1) << column;
    if (strength == WEAK)
        says->weak |= UINT32_C(1) << column;
}

static bool is_said(const struct saying *says, enum roast_attempt_column column)
{
    return (says->known >> column) & 1;
}

/* A number that no column can hold is not said; the record keeps it. */
static void say_field(struct saying *says, enum roast_attempt_column column,
                      const roast_record *rec, enum roast_field field,
                      enum strength strength)
{
    if (roast_record_has(rec, field) && rec->values[field].u64 <= INT64_MAX)
        say(says, column, (int64_t)rec->values[field].u64, strength);
}

static void say_status(struct saying *says, const roast_record *rec)
{
    uint64_t status = rec->values[ROAST_FIELD_status].u64;

    if (roast_record_has(rec, ROAST_FIELD_status) &&
        (status == ROAST_CHUNK_OK || status == ROAST_CHUNK_FAILED))
        says->status = (unsigned char)status;
}

/* Where a begin or end frame says that its attempt reads; false when out of memory. */
static bool say_place(struct roast_run *run, struct saying *says,
                      const roast_record *rec)
{
    struct roast_str place = rec->values[ROAST_FIELD_place].str;

    if (!roast_record_has(rec, ROAST_FIELD_place) ||
        place.size_bytes != ROAST_PLACE_BYTES)
        return true;
    const unsigned char *at = (const unsigned char *)place.data;
    int64_t first = (int64_t)roast__load_fixed(at + 8, 4);
    int64_t entries = (int64_t)roast__load_fixed(at + 12, 4);
    if (entries > 0) { /* 0 and 0 say that the entries are not known */
        say(says, ROAST_COLUMN_entry_start, first, WEAK);
        say(says, ROAST_COLUMN_entry_stop, first + entries, WEAK);
    }
    says->source =
        roast__sources_of_ids(&run->attempts, (uint32_t)roast__load_fixed(at, 4),
                              (uint32_t)roast__load_fixed(at + 4, 4));
    says->weak_source = true;
    return says->source != ROAST_SOURCE_NO_MEMORY;
}

/* ---- begin ------------------------------------------------------------------- */

static bool hear_begin(struct roast_run *run, struct saying *says,
                       const roast_record *rec)
{
    if (roast_record_has(rec, ROAST_FIELD_start_epoch_ns))
        say(says, ROAST_COLUMN_task_start_ns,
            rec->values[ROAST_FIELD_start_epoch_ns].i64, WEAK);
    return say_place(run, says, rec);
}

/* ---- end --------------------------------------------------------------------- */

static bool knows_task_ns(const roast_record *rec)
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
    if (!knows_task_ns(rec) || !roast_record_has(rec, ROAST_FIELD_end_epoch_ns))
        return false;
    int64_t end_ns = roast__sat_add(rec->values[ROAST_FIELD_task_start_mono_ns].i64,
                                    run->epoch_minus_mono_ns);
    end_ns = roast__sat_add(end_ns, rec->values[ROAST_FIELD_task_ns].i64);
    int64_t apart_ns =
        roast__sat_sub(end_ns, rec->values[ROAST_FIELD_end_epoch_ns].i64);
    return apart_ns <= same_clock_within_ns && apart_ns >= -same_clock_within_ns;
}

static void say_task(const struct roast_run *run, struct saying *says,
                     const struct roast_worker_process *process,
                     const roast_record *rec)
{
    say_field(says, ROAST_COLUMN_task_ns, rec, ROAST_FIELD_task_ns, STRONG);
    say_field(says, ROAST_COLUMN_task_cpu_ns, rec, ROAST_FIELD_task_cpu_ns, STRONG);
    if (roast_record_has(rec, ROAST_FIELD_task_start_mono_ns) &&
        ends_on_our_clock(run, process, rec))
        say(says, ROAST_COLUMN_task_start_ns,
            roast__sat_add(rec->values[ROAST_FIELD_task_start_mono_ns].i64,
                           run->epoch_minus_mono_ns),
            STRONG);
    else if (roast_record_has(rec, ROAST_FIELD_end_epoch_ns) && knows_task_ns(rec))
        say(says, ROAST_COLUMN_task_start_ns,
            roast__sat_sub(rec->values[ROAST_FIELD_end_epoch_ns].i64,
                           rec->values[ROAST_FIELD_task_ns].i64),
            STRONG);
}

/* Of all records made by hand nobody knows whether they are of one process. */
static bool is_handmade(const struct roast_worker_process *process)
{
    return process->run == ROAST_NO_STRING;
}

static void learn_use(struct roast_worker_process *process, const roast_record *rec)
{
    const union roast_field_value *cpu = &rec->values[ROAST_FIELD_process_cpu_ns];

    if (is_handmade(process))
        return;
    if (process->pid == 0 && roast_record_has(rec, ROAST_FIELD_pid))
        process->pid = rec->values[ROAST_FIELD_pid].u64;
    if (roast_record_has(rec, ROAST_FIELD_process_cpu_ns) && cpu->u64 > process->cpu_ns)
        process->cpu_ns = cpu->u64; /* it only grows; frames may overtake each other */
}

static bool say_ladder(struct roast_run *run, struct saying *says,
                       const roast_record *rec)
{
    if (!roast_record_has(rec, ROAST_FIELD_ladder))
        return true;
    int64_t at =
        roast__ladder_pack(&run->attempts, rec->values[ROAST_FIELD_ladder].str);
    say(says, ROAST_COLUMN_ladder, at, STRONG);
    return at >= 0;
}

static bool hear_end(struct roast_run *run, struct saying *says,
                     struct roast_worker_process *process, const roast_record *rec)
{
    say_status(says, rec);
    say_field(says, ROAST_COLUMN_duration_ns, rec, ROAST_FIELD_duration_ns, WEAK);
    say_task(run, says, process, rec);
    learn_use(process, rec);
    if (roast_record_has(rec, ROAST_FIELD_error_type)) {
        int32_t text =
            roast__strings_put(&run->strings, rec->values[ROAST_FIELD_error_type].str);
        if (text < 0)
            return false;
        say(says, ROAST_COLUMN_error_type, text, WEAK);
    }
    return say_ladder(run, says, rec) && say_place(run, says, rec);
}

/* Whether an end frame knows more than the one that is there. Its ladder and its time
 * belong together: all of one end is taken, never some of both. */
static bool knows_more(const struct roast_attempts *attempts, size_t row,
                       const roast_record *rec)
{
    const struct roast_column *known = &attempts->columns[ROAST_COLUMN_task_ns];
    bool had_ladder = roast__column_has(&attempts->columns[ROAST_COLUMN_ladder], row);
    bool has_ladder = roast_record_has(rec, ROAST_FIELD_ladder);

    if (rec->kind != ROAST_FRAME_END || !knows_task_ns(rec))
        return false;
    if (has_ladder != had_ladder)
        return has_ladder;
    return rec->values[ROAST_FIELD_task_ns].i64 > roast__column_get(known, row, -1);
}

/* What the other end frame said gives way, weak or not; what the chunk frame said does
 * not. */
static void outdo_other_end(struct saying *says, struct roast_run *run, size_t row)
{
    const struct roast_column *ladder = &run->attempts.columns[ROAST_COLUMN_ladder];
    uint64_t chunk_fields = roast__attempt_present(run, row);
    int64_t *packed_at = &says->values[ROAST_COLUMN_ladder];

    if (is_said(says, ROAST_COLUMN_ladder) && roast__column_has(ladder, row))
        *packed_at =
            roast__ladder_replace(&run->attempts, ladder->values[row], *packed_at);
    if (!((chunk_fields >> ROAST_FIELD_duration_ns) & 1))
        says->weak &= ~(UINT32_C(1) << ROAST_COLUMN_duration_ns);
    if (!((chunk_fields >> ROAST_FIELD_error_type) & 1))
        says->weak &= ~(UINT32_C(1) << ROAST_COLUMN_error_type);
}

/* ---- chunk ------------------------------------------------------------------- */

static bool intern(int32_t *number, struct roast_run *run, const roast_record *rec,
                   enum roast_field field, int32_t guess)
{
    *number = ROAST_NO_STRING;
    if (roast_record_has(rec, field))
        *number =
            roast__strings_put_again(&run->strings, rec->values[field].str, guess);
    return *number != ROAST_STRING_NO_MEMORY;
}

static bool intern_texts(struct roast_record_texts *texts, struct roast_run *run,
                         const struct roast_worker_process *process,
                         const roast_record *rec)
{
    struct roast_guesses *last = &run->attempts.last;

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

/* The first record of a process says where it runs. */
static void learn_process(const struct roast_run *run,
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

static void say_start(const struct roast_run *run, struct saying *says,
                      const struct roast_worker_process *process,
                      const roast_record *rec, const struct roast_record_texts *texts)
{
    bool ours = texts->host == ROAST_NO_STRING ? process->shares_clock
                                               : texts->host == run->host;

    if (ours && roast_record_has(rec, ROAST_FIELD_start_mono_ns))
        say(says, ROAST_COLUMN_start_ns,
            roast__sat_add(rec->values[ROAST_FIELD_start_mono_ns].i64,
                           run->epoch_minus_mono_ns),
            STRONG);
    else if (roast_record_has(rec, ROAST_FIELD_start_epoch_ns))
        say(says, ROAST_COLUMN_start_ns, rec->values[ROAST_FIELD_start_epoch_ns].i64,
            STRONG);
}

/* Distances are taken to what the first record of the process says. */
static void learn_mono(struct roast_worker_process *process, const struct saying *says,
                       const roast_record *rec)
{
    if (process->mono_known || is_handmade(process) ||
        !is_said(says, ROAST_COLUMN_start_ns) ||
        !roast_record_has(rec, ROAST_FIELD_start_mono_ns))
        return;
    process->timeline_minus_mono_ns =
        roast__wrap_sub(says->values[ROAST_COLUMN_start_ns],
                        rec->values[ROAST_FIELD_start_mono_ns].i64);
    process->mono_known = true;
}

static bool hear_record(struct roast_run *run, struct saying *says,
                        struct roast_worker_process *process, const roast_record *rec)
{
    struct roast_record_texts texts;

    if (!intern_texts(&texts, run, process, rec))
        return false;
    learn_process(run, process, rec, &texts);
    say_status(says, rec);
    say_start(run, says, process, rec, &texts);
    learn_mono(process, says, rec);
    for (size_t i = 0; i < ROAST_FIELD_COLUMN_COUNT; i++)
        say_field(says, roast__field_columns[i].column, rec,
                  roast__field_columns[i].field, STRONG);
    if (texts.error_type >= 0)
        say(says, ROAST_COLUMN_error_type, texts.error_type, STRONG);
    says->source =
        roast__sources_of_record(&run->attempts, &run->strings, &run->names, rec);
    if (says->source == ROAST_SOURCE_NO_MEMORY)
        return false;
    says->worker = texts.worker;
    says->fields = rec->present;
    says->rest = roast__rest_pack(run, rec, process, &texts,
                                  is_said(says, ROAST_COLUMN_start_ns)
                                      ? &says->values[ROAST_COLUMN_start_ns]
                                      : NULL);
    return says->rest != 0;
}

static bool hear_chunk(struct roast_run *run, struct saying *says,
                       struct roast_worker_process *process, const roast_record *rec)
{
    struct roast_buf absences = {NULL, 0, 0, false};

    if (roast__has_room(run, rec))
        return hear_record(run, says, process, rec);
    roast_record kept = *rec;
    says->trimmed = true;
    bool heard =
        roast__trim(&kept, &absences) && hear_record(run, says, process, &kept);
    roast__buf_release(&absences);
    return heard;
}

/* ---- the row ----------------------------------------------------------------- */

static bool hear(struct roast_run *run, struct saying *says, int32_t process,
                 const roast_record *rec)
{
    struct roast_worker_process *who = &run->attempts.processes[process];

    switch (says->part) {
    case ROAST_PART_BEGIN:
        return hear_begin(run, says, rec);
    case ROAST_PART_CHUNK:
        return hear_chunk(run, says, who, rec);
    case ROAST_PART_END:
        return hear_end(run, says, who, rec);
    }
    return false;
}

static bool reserve_columns(struct roast_attempts *attempts, const struct saying *says)
{
    for (uint32_t left = says->known; left; left &= left - 1) {
        struct roast_column *column = &attempts->columns[__builtin_ctz(left)];
        if (!roast__column_reserve(column, attempts->cap))
            return false;
    }
    return true;
}

/* Cannot fail: there is room. An attempt failed if any of its frames says so. */
static void write_row(struct roast_attempts *attempts, size_t row,
                      const struct saying *says)
{
    for (uint32_t left = says->known; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        struct roast_column *column = &attempts->columns[i];
        bool gives_way = (says->weak >> i) & 1;
        if (!gives_way || !roast__column_has(column, row))
            roast__column_put(column, row, says->values[i]);
    }
    if (says->source >= 0 && (!says->weak_source || attempts->source[row] < 0))
        roast__sources_give(attempts, row, says->source);
    if (says->status > attempts->status[row])
        attempts->status[row] = says->status;
    if (says->rest != 0)
        attempts->rest[row] = says->rest;
    attempts->fields |= says->fields;
    attempts->parts[row] |= (unsigned char)says->part;
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

/* ---- the task it ran in ------------------------------------------------------ */

static void say_link(struct saying *says, const struct roast_task_link *link)
{
    if (link)
        say(says, ROAST_COLUMN_key_hash, link->key_hash, WEAK);
}

static bool names_worker(const struct roast_run *run, int64_t row)
{
    return row >= 0 &&
           (roast__attempt_present(run, (size_t)row) >> ROAST_FIELD_worker) & 1;
}

/* The entry of the worker that makes an attempt; a name that its record gave is better
 * than the one it came with. -1 when out of memory. */
static int32_t find_seat(struct roast_run *run, int32_t home, int64_t row,
                         const struct saying *says, const struct roast_task_link *link)
{
    struct roast_attempts *attempts = &run->attempts;
    int32_t worker = says->worker;

    if (worker == ROAST_NO_STRING && link && !names_worker(run, row))
        worker = link->worker;
    if (worker != ROAST_NO_STRING && !is_handmade(&attempts->processes[home]))
        return roast__processes_seat(attempts, home, worker);
    return row >= 0 ? attempts->process[row] : home;
}

/* Nothing but its task is new. */
static enum roast_merged link_row(struct roast_run *run, size_t row,
                                  const struct saying *says,
                                  const struct roast_task_link *link)
{
    struct roast_attempts *attempts = &run->attempts;
    struct roast_column *hashes = &attempts->columns[ROAST_COLUMN_key_hash];

    if (!link || roast__column_has(hashes, row))
        return ROAST_MERGED_REPEATED;
    int32_t seat =
        find_seat(run, roast__home_of(attempts, row), (int64_t)row, says, link);
    if (seat < 0 || !roast__column_reserve(hashes, attempts->cap))
        return ROAST_MERGED_NO_MEMORY;
    roast__column_put(hashes, row, link->key_hash);
    attempts->process[row] = seat;
    return ROAST_MERGED_LINKED;
}

/* ---- all of it --------------------------------------------------------------- */

/* What was heard is by the clock of its process. */
static void add_offset(struct saying *says, const struct roast_worker_process *process)
{
    static const enum roast_attempt_column times[] = {ROAST_COLUMN_start_ns,
                                                      ROAST_COLUMN_task_start_ns};

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        if (is_said(says, times[i]))
            says->values[times[i]] =
                roast__wrap_add(says->values[times[i]], process->offset_ns);
    }
}

enum roast_merged roast__merge(struct roast_run *run, size_t *row_out,
                               const struct roast_identity *id,
                               const struct roast_task_link *link,
                               const roast_record *rec)
{
    struct roast_attempts *attempts = &run->attempts;
    struct saying says = {.part = (enum roast_attempt_part)(1u << (rec->kind - 1)),
                          .source = ROAST_NO_SOURCE,
                          .worker = ROAST_NO_STRING};
    int32_t seat = -1;
    size_t packed_bytes = attempts->packed.size_bytes;
    int32_t process = find_process(run, id);

    if (process < 0)
        return ROAST_MERGED_NO_MEMORY;
    if (!id)
        link = NULL;
    say_link(&says, link);
    int64_t row = id ? roast__attempts_find(attempts, process, id->sequence) : -1;
    bool again = row >= 0 && attempts->parts[row] & says.part;
    *row_out = (size_t)row; /* of a new one below */
    if (again && !knows_more(attempts, (size_t)row, rec))
        return link_row(run, (size_t)row, &says, link);
    if ((row < 0 && !roast__attempts_room(attempts)) ||
        !hear(run, &says, process, rec) || !reserve_columns(attempts, &says) ||
        (seat = find_seat(run, process, row, &says, link)) < 0) {
        attempts->packed.size_bytes = packed_bytes;
        return ROAST_MERGED_NO_MEMORY;
    }
    add_offset(&says, &attempts->processes[process]);
    if (row < 0) {
        uint32_t sequence = id ? id->sequence : ++attempts->handmade_count;
        row = (int64_t)roast__attempts_append(attempts, seat, sequence, id != NULL);
    }
    *row_out = (size_t)row;
    attempts->process[row] = seat;
    if (again)
        outdo_other_end(&says, run, (size_t)row);
    write_row(attempts, (size_t)row, &says);
    if (says.trimmed)
        roast__run_lose(run, ROAST_RUN_LOSS_tables_trimmed, 1);
    return again ? ROAST_MERGED_BETTER : ROAST_MERGED_NEW;
}
