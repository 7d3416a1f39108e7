/* SPDX-License-Identifier: BSD-3-Clause */
/* dump.c - a whole run as the fewest journal entries that make an equal one.
 *
 * The head holds what the first page of a report needs beside the summary; records,
 * samples and tasks follow. An attempt is written as the frames that its row is made
 * of: what a begin frame had is left out where an end frame has it more precisely. */
#include "run/journal/journal.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "run/field_set.h"
#include "run/journal/write.h"
#include "run/series.h"

/* A block ends before it is full, so that the next entry rarely needs another one. */
enum { SPARE_BYTES = 16 * 1024 };

/* ---- attempts -------------------------------------------------------------------- */

static const struct roast_column *column_of(const struct roast_run *run,
                                            enum roast_attempt_column column)
{
    return &run->attempts.columns[column];
}

/* File and entries from an end or begin frame, where the chunk frame has none. */
static void set_place(roast_record *rec, unsigned char place[ROAST_PLACE_BYTES],
                      const struct roast_run *run, size_t row, uint64_t chunk_fields)
{
    const struct roast_column *starts = column_of(run, ROAST_COLUMN_entry_start);
    const struct roast_column *stops = column_of(run, ROAST_COLUMN_entry_stop);
    int32_t number = run->attempts.source[row];
    uint32_t ids[2] = {0, 0};
    int64_t first = 0;
    int64_t entries = 0;

    if (chunk_fields & roast__in_source && chunk_fields & ROAST_BIT(entry_start))
        return;
    if (number >= 0) {
        const struct roast_source *source = &run->attempts.sources[number];
        const int32_t texts[2] = {source->dataset, source->file};
        for (int i = 0; i < 2; i++) {
            if (!source->by_id && texts[i] >= 0)
                ids[i] = roast_name_id(roast__strings_get(&run->strings, texts[i]));
        }
        if (source->by_id) {
            ids[0] = source->dataset_id;
            ids[1] = source->file_id;
        }
    }
    if (roast__column_has(starts, row) && roast__column_has(stops, row)) {
        first = starts->values[row];
        entries = roast__sat_sub(stops->values[row], first);
    }
    if (first < 0 || first > UINT32_MAX || entries < 0 || entries > UINT32_MAX)
        first = entries = 0;
    roast__store_fixed(place, ids[0], 4);
    roast__store_fixed(place + 4, ids[1], 4);
    roast__store_fixed(place + 8, (uint64_t)first, 4);
    roast__store_fixed(place + 12, (uint64_t)entries, 4);
    roast_record_set_str(rec, ROAST_FIELD_place,
                         (struct roast_str){(const char *)place, ROAST_PLACE_BYTES});
}

static void set_column(roast_record *rec, enum roast_field field,
                       const struct roast_column *column, size_t row)
{
    if (roast__column_has(column, row))
        roast_record_set_u64(rec, field, (uint64_t)column->values[row]);
}

/* What only the end frame of a row had. */
static void make_end(roast_record *rec, const struct roast_run *run, size_t row,
                     uint64_t chunk_fields)
{
    const struct roast_attempts *attempts = &run->attempts;
    const struct roast_worker_process *process =
        &attempts->processes[roast__process_of(attempts, row)];
    const struct roast_column *starts = column_of(run, ROAST_COLUMN_task_start_ns);
    const struct roast_column *times = column_of(run, ROAST_COLUMN_task_ns);
    const struct roast_column *errors = column_of(run, ROAST_COLUMN_error_type);
    struct roast_str ladder = roast__attempt_ladder(attempts, row);

    rec->kind = ROAST_FRAME_END;
    if (attempts->status[row] != 0)
        roast_record_set_u64(rec, ROAST_FIELD_status, attempts->status[row]);
    if (!(chunk_fields & ROAST_BIT(duration_ns)))
        set_column(rec, ROAST_FIELD_duration_ns,
                   column_of(run, ROAST_COLUMN_duration_ns), row);
    set_column(rec, ROAST_FIELD_task_ns, times, row);
    set_column(rec, ROAST_FIELD_task_cpu_ns, column_of(run, ROAST_COLUMN_task_cpu_ns),
               row);
    set_column(rec, ROAST_FIELD_task_process_cpu_ns,
               column_of(run, ROAST_COLUMN_task_process_cpu_ns), row);
    set_column(rec, ROAST_FIELD_output_bytes, column_of(run, ROAST_COLUMN_output_bytes),
               row);
    if (roast__column_has(starts, row) && roast__column_has(times, row))
        roast_record_set_i64(
            rec, ROAST_FIELD_end_epoch_ns,
            roast__wrap_add(roast__wrap_sub(starts->values[row], process->offset_ns),
                            times->values[row]));
    if (roast__column_has(errors, row) && !(chunk_fields & ROAST_BIT(error_type)))
        roast_record_set_str(
            rec, ROAST_FIELD_error_type,
            roast__strings_get(&run->strings, (int32_t)errors->values[row]));
    if (ladder.data)
        roast_record_set_str(rec, ROAST_FIELD_ladder, ladder);
    if (process->cpu_ns != 0)
        roast_record_set_u64(rec, ROAST_FIELD_process_cpu_ns, process->cpu_ns);
    if (process->pid != 0)
        roast_record_set_u64(rec, ROAST_FIELD_pid, process->pid);
}

static void write_attempt(struct roast_journal *journal, size_t row)
{
    const struct roast_run *run = journal->run;
    const struct roast_attempts *attempts = &run->attempts;
    const struct roast_worker_process *process =
        &attempts->processes[attempts->process[row]];
    const struct roast_column *hashes = column_of(run, ROAST_COLUMN_key_hash);
    const struct roast_column *starts = column_of(run, ROAST_COLUMN_task_start_ns);
    bool has_end = attempts->parts[row] & ROAST_PART_END;
    bool end_has_start =
        has_end && roast__column_has(column_of(run, ROAST_COLUMN_task_ns), row);
    struct roast_task_link known = {process->worker,
                                    (uint32_t)roast__column_get(hashes, row, 0)};
    const struct roast_task_link *link = roast__column_has(hashes, row) ? &known : NULL;
    unsigned char identity[ROAST_IDENTITY_BYTES];
    unsigned char place[ROAST_PLACE_BYTES];
    uint64_t chunk_fields = 0;
    roast_record rec;

    if (roast__attempt_chunk(run, row, &rec, identity)) {
        chunk_fields = rec.present;
        roast__journal_write_record(journal, &rec, row, link);
        link = NULL;
    }
    roast__attempt_identity(run, row, identity);
    for (int i = 0; i < 2; i++) { /* begin, end */
        rec.present = 0;
        if (i == 0 && attempts->parts[row] & ROAST_PART_BEGIN && !end_has_start) {
            rec.kind = ROAST_FRAME_BEGIN;
            if (roast__column_has(starts, row))
                roast_record_set_i64(
                    &rec, ROAST_FIELD_start_epoch_ns,
                    roast__wrap_sub(starts->values[row], process->offset_ns));
        } else if (i == 1 && has_end) {
            make_end(&rec, run, row, chunk_fields);
        } else {
            continue;
        }
        set_place(&rec, place, run, row, chunk_fields);
        if (process->run != ROAST_NO_STRING)
            roast_record_set_str(
                &rec, ROAST_FIELD_identity,
                (struct roast_str){(const char *)identity, sizeof(identity)});
        roast__journal_write_record(journal, &rec, row, link);
        link = NULL;
    }
}

/* ---- lists of the run ------------------------------------------------------------ */

static void write_accepted(struct roast_journal *journal, size_t i)
{
    roast__journal_write_accept(journal, journal->run->accepted[i]);
}

/* All texts, so that they get the same numbers again: tables depend on their order. */
static void write_text(struct roast_journal *journal, size_t i)
{
    const struct roast_run *run = journal->run;

    roast__journal_write_text(journal, roast__strings_get(&run->strings, (int32_t)i),
                              roast__names_has(&run->names, &run->strings, (int32_t)i));
}

static void write_session(struct roast_journal *journal, size_t i)
{
    const struct roast_string_table *strings = &journal->run->strings;
    const struct roast_worker_session *session =
        &journal->run->scheduler.sessions.items[i];
    struct roast_buf *out = roast__journal_begin(journal);

    roast__buf_put_varint(out, (session->left_ns != 0 ? ROAST_SESSION_LEFT : 0u) |
                                   (session->expected ? ROAST_SESSION_EXPECTED : 0u));
    roast__journal_put_time(journal, session->joined_ns);
    if (session->left_ns != 0)
        roast__buf_put_signed(out,
                              roast__wrap_sub(session->left_ns, session->joined_ns));
    roast__buf_put_varint(out, session->pid);
    roast__buf_put_varint(out, session->threads);
    roast__buf_put_varint(out, session->memory_limit_bytes);
    roast__journal_put_text(journal, roast__strings_get(strings, session->worker));
    roast__journal_put_text(journal, roast__strings_get(strings, session->name));
    roast__journal_put_text(journal, roast__strings_get(strings, session->host));
    roast__journal_put_text(journal, roast__strings_get(strings, session->reason));
    (void)roast__journal_put(journal, ROAST_ENTRY_session);
}

static void write_offset(struct roast_journal *journal, size_t i)
{
    const struct roast_run *run = journal->run;
    const struct roast_host_offset *offset = &run->scheduler.clock_offsets.items[i];

    roast__journal_write_offset(
        journal, roast__strings_get(&run->strings, offset->host), offset->offset_ns);
}

static void write_activity(struct roast_journal *journal, size_t i)
{
    const struct roast_string_table *strings = &journal->run->strings;
    const struct roast_activity_row *row = &journal->run->scheduler.activities[i];

    roast__journal_write_activity(
        journal,
        &(struct roast_activity){.context = roast__strings_get(strings, row->context),
                                 .prefix = roast__strings_get(strings, row->prefix),
                                 .activity = roast__strings_get(strings, row->activity),
                                 .unit = roast__strings_get(strings, row->unit),
                                 .value = row->value});
}

static void write_hot_line(struct roast_journal *journal, size_t i)
{
    const struct roast_string_table *strings = &journal->run->strings;
    const struct roast_hot_row *row = &journal->run->scheduler.hot[i];

    roast__journal_write_hot_line(
        journal,
        &(struct roast_hot_line){.file = roast__strings_get(strings, row->file),
                                 .function = roast__strings_get(strings, row->function),
                                 .text = roast__strings_get(strings, row->text),
                                 .line = row->line,
                                 .seconds = row->seconds,
                                 .self_seconds = row->self_seconds});
}

static void put_stream(struct roast_buf *out, const struct roast_buf *bytes)
{
    roast__buf_put_varint(out, bytes->size_bytes);
    roast__buf_put(out, bytes->data, bytes->size_bytes);
}

/* Text name; stride, skipped, pid, parent's pid, start in ticks, CPU ns, bytes read,
 * bytes written, 1 if these are known; time of the last use; size and bytes of `times`;
 * mask of series; size and bytes of each. */
static void put_series(struct roast_journal *journal,
                       const struct roast_worker_samples *worker)
{
    const uint64_t numbers[] = {
        worker->stride,          worker->skipped,          worker->pid,
        worker->parent_pid,      worker->started_ticks,    worker->last_cpu_ns,
        worker->last_read_bytes, worker->last_write_bytes, worker->last_io_known};
    struct roast_buf *out = roast__journal_begin(journal);

    roast__journal_put_text(journal,
                            roast__strings_get(&journal->run->strings, worker->name));
    for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
        roast__buf_put_varint(out, numbers[k]);
    roast__journal_put_time(journal, worker->last_use_ns);
    put_stream(out, &worker->times);
    roast__buf_put_varint(out, worker->has);
    for (int k = 0; k < __builtin_popcount(worker->has); k++)
        put_stream(out, &worker->series[k].changes);
    (void)roast__journal_put(journal, ROAST_ENTRY_series);
}

static void write_series(struct roast_journal *journal, size_t i)
{
    put_series(journal, &journal->run->samples.workers[i]);
}

static void write_client_series(struct roast_journal *journal, size_t i)
{
    put_series(journal, &journal->run->client_samples.workers[i]);
}

static void write_gpu_series(struct roast_journal *journal, size_t i)
{
    put_series(journal, &journal->run->gpu_samples.workers[i]);
}

/* ---- all ------------------------------------------------------------------------- */

/* What a run has once, and lists whose items may move. */
static void write_head(struct roast_journal *journal)
{
    const struct roast_run *run = journal->run;
    struct roast_str first_error = roast_str_of(run->first_error);

    roast__journal_write_host(journal, roast__strings_get(&run->strings, run->host));
    for (int i = 0; i < ROAST_FACT_COUNT; i++) {
        if (run->fact_known[i])
            roast__journal_write_fact(journal, (enum roast_fact)i, run->facts[i]);
    }
    for (int i = 0; i < ROAST_RUN_LOSS_COUNT; i++)
        roast__journal_write_loss(journal, (enum roast_run_loss)i, run->losses[i]);
    if (first_error.size_bytes > 0) {
        roast__buf_put(roast__journal_begin(journal), first_error.data,
                       first_error.size_bytes);
        (void)roast__journal_put(journal, ROAST_ENTRY_first_error);
    }
    if (run->end_ns != 0)
        roast__journal_write_finish(
            journal, roast__sat_sub(run->end_ns, run->epoch_minus_mono_ns));
    for (size_t i = 0; i < run->notes.count; i++)
        roast__journal_write_note(journal, run->notes.items[i].group,
                                  roast__note_name(&run->notes.items[i]),
                                  roast__note_text(&run->notes.items[i]));
    for (size_t i = 0; i < run->offer_count; i++)
        roast__journal_write_offer(journal, &run->offers[i]);
    for (size_t i = 0; i < run->count_count; i++)
        roast__journal_write_count(journal, &run->counts[i]);
    for (size_t i = 0; i < run->moment_count; i++)
        roast__journal_write_mark(
            journal, run->moments[i].mark,
            roast__sat_sub(run->moments[i].time_ns, run->epoch_minus_mono_ns));
}

static void end_head(struct roast_journal *journal, size_t i)
{
    (void)i;
    (void)roast__journal_begin(journal);
    (void)roast__journal_put(journal, ROAST_ENTRY_head_end);
    journal->block_full = true; /* later damage does not affect the head */
}

static void end_all(struct roast_journal *journal, size_t i)
{
    (void)i;
    (void)roast__journal_begin(journal);
    (void)roast__journal_put(journal, ROAST_ENTRY_complete);
}

struct dump {
    struct roast_journal journal;
    roast__block_sink *sink;
    void *context;
};

/* Passes complete blocks to the sink. */
static int flush(struct dump *dump, struct roast_block *blocks, roast_error *err)
{
    int status = ROAST_OK;

    if (dump->journal.dropped > 0)
        status = roast_error_set(err, ROAST_NO_MEMORY, "a block of a journal");
    while (blocks) {
        struct roast_block *next = blocks->next;
        if (status == ROAST_OK)
            status = dump->sink(dump->context, blocks, err);
        roast__free(blocks);
        blocks = next;
    }
    dump->journal.held_bytes = 0;
    dump->journal.epoch = dump->journal.block + 1;
    return status;
}

/* Writes the items of a list, which may only grow meanwhile. */
static int dump_list(struct dump *dump, const size_t *count,
                     void (*write)(struct roast_journal *journal, size_t i),
                     roast_error *err)
{
    struct roast_journal *journal = &dump->journal;
    int status = ROAST_OK;
    bool more = true;

    for (size_t i = 0; more && status == ROAST_OK;) {
        struct roast_block *full = NULL;
        roast__run_lock(journal->run);
        while (i < *count && journal->held_bytes < ROAST_DUMP_BLOCK_BYTES - SPARE_BYTES)
            write(journal, i++);
        more = i < *count;
        if (more)
            full = roast__journal_take(journal);
        roast__run_unlock(journal->run);
        if (more)
            status = flush(dump, full, err);
    }
    return status;
}

int roast__journal_dump(struct roast_run *run, roast__block_sink *sink, void *context,
                        roast_error *err)
{
    static const size_t once = 1;
    const struct roast_scheduler_view *view = &run->scheduler;
    const struct {
        const size_t *count;
        void (*write)(struct roast_journal *journal, size_t i);
    } lists[] = {
        {&once, end_head},
        {&run->strings.count, write_text},
        {&run->accepted_count, write_accepted},
        {&view->sessions.count, write_session},
        {&view->clock_offsets.count, write_offset},
        {&view->activity_count, write_activity},
        {&view->hot_count, write_hot_line},
        {&run->attempts.count, write_attempt},
        {&run->samples.count, write_series},
        {&run->client_samples.count, write_client_series},
        {&run->gpu_samples.count, write_gpu_series},
        {&view->tasks.count, roast__journal_write_task},
        {&once, end_all},
    };
    struct dump dump = {.journal = {.run = run,
                                    .limit_bytes = SIZE_MAX / 2,
                                    .block_bytes = ROAST_DUMP_BLOCK_BYTES,
                                    .epoch = 1},
                        .sink = sink,
                        .context = context};
    int status = ROAST_OK;

    roast__run_lock(run);
    roast__run_resolve_pending(run);
    write_head(&dump.journal);
    roast__run_unlock(run);
    for (size_t i = 0; status == ROAST_OK && i < sizeof(lists) / sizeof(lists[0]); i++)
        status = dump_list(&dump, lists[i].count, lists[i].write, err);
    if (status == ROAST_OK) {
        roast__run_lock(run);
        struct roast_block *blocks = roast__journal_take(&dump.journal);
        roast__run_unlock(run);
        status = flush(&dump, blocks, err);
    }
    roast__journal_release(&dump.journal);
    return status;
}
