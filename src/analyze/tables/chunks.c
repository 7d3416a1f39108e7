/* SPDX-License-Identifier: BSD-3-Clause */
/* chunks.c - the tables `chunks` and `tasks`: attempts, one row each.
 *
 * The ids are those of roast_run_chunks() and of chunk_metrics. */
#include "analyze/attempt_list.h"
#include "analyze/formulas.h"
#include "analyze/tables/job.h"
#include "analyze/totals/groups.h"
#include "base/mem.h"
#include "roast/ladder.h"
#include "roast/view.h"
#include "run/cold_fields.h"

#define AT(name) ROAST_COL_chunks_##name

bool roast__chunk_iter_next(struct roast_chunk_iter *iter)
{
    const struct roast_table_job *job = iter->job;

    while (iter->next < job->order->count) {
        iter->row = job->order->rows[iter->next++];
        if (job->run->attempts.cold_fields[iter->row] == 0)
            continue; /* it has no record */
        iter->chunk_id = iter->next_id++;
        if (job->ctx->totals->roles.of_row[iter->row] == ROAST_ROLE_COUNTS)
            return true;
    }
    return false;
}

/* ---- names of workers ------------------------------------------------------------ */

enum { NOT_MADE = -2 };

/* The word of the table for the worker of every process, made on first use. */
struct worker_words {
    const struct roast_table_job *job;
    int at;
    int32_t *words; /* owned */
};

static bool open_words(struct worker_words *words)
{
    size_t count = words->job->run->attempts.process_count;

    words->words = roast__alloc(count * sizeof(words->words[0]));
    if (!words->words)
        roast__table_fail(words->job->to);
    for (size_t i = 0; words->words && i < count; i++)
        words->words[i] = NOT_MADE;
    return words->words != NULL;
}

static int32_t worker_word(struct worker_words *words, int32_t process)
{
    const struct roast_table_job *job = words->job;
    const struct roast_worker_process *own = &job->run->attempts.processes[process];
    int32_t *word = &words->words[process];
    struct roast_buf room = {0};

    if (*word != NOT_MADE)
        return *word;
    *word = ROAST_NO_STRING;
    if (own->worker != ROAST_NO_STRING || own->pid != 0) { /* else it is absent */
        struct roast_str name = roast__worker_key(job->run, (size_t)process, &room);
        if (!name.data)
            roast__table_fail(job->to);
        *word = roast__table_word(job->to, words->at, name);
    }
    roast__buf_release(&room);
    return *word;
}

/* ---- chunks ---------------------------------------------------------------------- */

enum unit { COUNT, SECONDS, TEXT };

/* Fields that are copied. */
static const struct {
    enum roast_field field;
    int at;
    enum unit unit;
} fields[] = {
    {ROAST_FIELD_dataset, AT(dataset), TEXT},
    {ROAST_FIELD_file, AT(file), TEXT},
    {ROAST_FIELD_treename, AT(treename), TEXT},
    {ROAST_FIELD_uuid, AT(uuid), TEXT},
    {ROAST_FIELD_entry_start, AT(entry_start), COUNT},
    {ROAST_FIELD_entry_stop, AT(entry_stop), COUNT},
    {ROAST_FIELD_num_events, AT(num_events), COUNT},
    {ROAST_FIELD_host, AT(host), TEXT},
    {ROAST_FIELD_pid, AT(pid), COUNT},
    {ROAST_FIELD_thread, AT(thread), COUNT},
    {ROAST_FIELD_duration_ns, AT(duration), SECONDS},
    {ROAST_FIELD_cpu_ns, AT(cpu_time), SECONDS},
    {ROAST_FIELD_task_ns, AT(task_time), SECONDS},
    {ROAST_FIELD_task_cpu_ns, AT(task_cpu_time), SECONDS},
    {ROAST_FIELD_rss_before_bytes, AT(rss_before_bytes), COUNT},
    {ROAST_FIELD_rss_after_bytes, AT(rss_after_bytes), COUNT},
    {ROAST_FIELD_rss_peak_bytes, AT(rss_peak_bytes), COUNT},
    {ROAST_FIELD_bytes_read, AT(bytes_read), COUNT},
    {ROAST_FIELD_bytes_before, AT(bytes_before_process), COUNT},
    {ROAST_FIELD_output_bytes, AT(output_bytes), COUNT},
};

static void put_column(const struct roast_table_job *job, int at,
                       enum roast_attempt_column from, size_t row)
{
    const struct roast_column *column = &job->run->attempts.columns[from];

    if (roast__column_has(column, row))
        roast__fill_int(job->to, at, column->values[row]);
}

static void put_chunk(struct worker_words *words, const struct roast_chunk_iter *iter)
{
    const struct roast_table_job *job = words->job;
    roast_table *to = job->to;
    unsigned char identity[ROAST_IDENTITY_BYTES];
    roast_record rec;

    (void)roast__attempt_record(job->run, iter->row, &rec, identity);
    roast__table_row(to);
    roast__fill_count(to, AT(chunk_id), iter->chunk_id);
    roast__fill_int(to, AT(attempt), job->order->attempt[iter->row]);
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const union roast_field_value *value = &rec.values[fields[i].field];
        if (!roast_record_has(&rec, fields[i].field))
            continue;
        if (fields[i].unit == TEXT)
            roast__fill_text(to, fields[i].at, value->str);
        else if (fields[i].unit == SECONDS)
            roast__fill_number(to, fields[i].at, roast_seconds(value->u64));
        else
            roast__fill_count(to, fields[i].at, value->u64);
    }
    if (roast_record_has(&rec, ROAST_FIELD_worker))
        roast__fill_text(to, AT(worker), rec.values[ROAST_FIELD_worker].str);
    else
        roast__fill_word(to, AT(worker),
                         worker_word(words, job->run->attempts.process[iter->row]));
    put_column(job, AT(start), ROAST_COLUMN_start_ns, iter->row);
    put_column(job, AT(task_start), ROAST_COLUMN_task_start_ns, iter->row);
    if (roast_record_has(&rec, ROAST_FIELD_rss_peak_bytes) &&
        roast_record_has(&rec, ROAST_FIELD_concurrency))
        roast__fill_string(to, AT(rss_peak_of),
                           roast_peak_of(rec.values[ROAST_FIELD_concurrency].u64));
    roast__fill_text(to, AT(status), roast_str_of("ok"));
    roast__fill_bool(to, AT(undecorated),
                     roast_record_has(&rec, ROAST_FIELD_undecorated) &&
                         rec.values[ROAST_FIELD_undecorated].u64 != 0);
    struct roast_ladder ladder;
    if (!roast_record_has(&rec, ROAST_FIELD_ladder) ||
        roast_ladder_read(&ladder, rec.values[ROAST_FIELD_ladder].str, NULL) < 0)
        return;
    for (int i = 0; i < ROAST_ITEM_COUNT; i++) {
        enum roast_ladder_item item = (enum roast_ladder_item)i;
        enum roast_ladder_kind kind = roast_ladder_info(item)->kind;
        if (!roast_ladder_has(&ladder, item))
            continue;
        if (kind == ROAST_LADDER_SLICE || kind == ROAST_LADDER_TIME)
            roast__fill_number(to, roast_chunk_item_col(item),
                               roast_seconds(ladder.values[item]));
        else
            roast__fill_count(to, roast_chunk_item_col(item), ladder.values[item]);
    }
}

void roast__make_chunks(const struct roast_table_job *job)
{
    struct worker_words words = {.job = job, .at = AT(worker)};
    struct roast_chunk_iter iter = {.job = job};

    if (!open_words(&words))
        return;
    while (roast__table_ok(job->to) && roast__chunk_iter_next(&iter))
        put_chunk(&words, &iter);
    roast__free(words.words);
}

/* ---- tasks ----------------------------------------------------------------------- */

#undef AT
#define AT(name) ROAST_COL_tasks_##name

void roast__put_dataset_file(const struct roast_table_job *job, int at_dataset,
                             int at_file, int32_t source)
{
    const struct roast_source *sources = job->run->attempts.sources;

    if (source < 0)
        return;
    roast__fill_text(job->to, at_dataset,
                     roast__job_text(job, sources[source].dataset));
    roast__fill_text(job->to, at_file, roast__job_text(job, sources[source].file));
}

void roast__make_tasks(const struct roast_table_job *job)
{
    struct worker_words words = {.job = job, .at = AT(worker)};
    struct roast_task_joins joins = {0};
    const struct roast_attempts *attempts = &job->run->attempts;
    struct roast_listed_attempt *list =
        roast__attempts_list(job->run, &job->ctx->totals->roles, job->order);

    if (!list || !open_words(&words) || !roast__task_joins_find(&joins, job->run)) {
        roast__table_fail(job->to);
        goto out;
    }
    for (size_t i = 0; i < job->order->count && roast__table_ok(job->to); i++) {
        uint32_t row = list[i].row;
        roast__table_row(job->to);
        const struct roast_column *errors = &attempts->columns[ROAST_COLUMN_error_type];
        int32_t process = attempts->process[row];
        roast__fill_text(job->to, AT(kind), roast_str_of("chunk"));
        roast__fill_text(job->to, AT(status),
                         roast_str_of(roast__role_status(job->run, list[i].role)));
        roast__fill_int(job->to, AT(attempt), list[i].attempt);
        roast__put_dataset_file(job, AT(dataset), AT(file), attempts->source[row]);
        put_column(job, AT(entry_start), ROAST_COLUMN_entry_start, row);
        put_column(job, AT(entry_stop), ROAST_COLUMN_entry_stop, row);
        roast__fill_word(job->to, AT(worker), worker_word(&words, process));
        roast__fill_text(job->to, AT(host),
                         roast__job_text(job, attempts->processes[process].host));
        if (list[i].start_ns != INT64_MAX)
            roast__fill_int(job->to, AT(start), list[i].start_ns);
        roast__fill_number(job->to, AT(duration), list[i].seconds);
        if (roast__column_has(errors, row))
            roast__fill_text(job->to, AT(error_type),
                             roast__job_text(job, (int32_t)errors->values[row]));
        roast__put_task_of_attempt(job, &joins, row);
        if (job->run->attempts.cold_fields[row] != 0)
            roast__fill_count(job->to, AT(chunk_id), list[i].chunk_id);
    }
    roast__put_other_tasks(job, &joins);
out:
    roast__task_joins_release(&joins);
    roast__free(words.words);
    roast__free(list);
}
