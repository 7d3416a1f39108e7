/* SPDX-License-Identifier: BSD-3-Clause */
/* columns.c - tables of a run as columns: which are made from what, and reading them.
 *
 * The run is locked while a table is made from it. Tables that come from the summary
 * alone read nothing else, so that a saved run need not be loaded for them. */
#include "roast/columns.h"

#include "analyze/calls.h"
#include "analyze/tables/columns_job.h"
#include "analyze/tables/columns_own.h"
#include "base/mem.h"

enum needs {
    NOTHING = 0, /* but what a run always has: notes, losses */
    SUMMARY = 1,
    RECORDS = 2, /* or samples */
    ORDER = 4,
    SCHEDULER = 8, /* what it told; like records of a run that is whole */
};

static const struct {
    void (*make)(const struct roast_columns_job *job);
    unsigned needs;
} makers[ROAST_COLUMNS_TABLE_COUNT] = {
    [ROAST_COLUMNS_chunks] = {roast__columns_chunks, RECORDS | ORDER},
    [ROAST_COLUMNS_tasks] = {roast__columns_tasks, RECORDS | ORDER},
    [ROAST_COLUMNS_sections] = {roast__columns_sections, RECORDS},
    [ROAST_COLUMNS_branches] = {roast__columns_branches, RECORDS},
    [ROAST_COLUMNS_files] = {roast__columns_summarized, SUMMARY},
    [ROAST_COLUMNS_datasets] = {roast__columns_summarized, SUMMARY},
    [ROAST_COLUMNS_workers] = {roast__columns_workers, SUMMARY | SCHEDULER},
    [ROAST_COLUMNS_endpoints] = {roast__columns_summarized, SUMMARY},
    [ROAST_COLUMNS_failures] = {roast__columns_summarized, SUMMARY},
    [ROAST_COLUMNS_metrics] = {roast__columns_metrics, SUMMARY},
    [ROAST_COLUMNS_findings] = {roast__columns_summarized, SUMMARY},
    [ROAST_COLUMNS_losses] = {roast__columns_losses, SUMMARY},
    [ROAST_COLUMNS_labels] = {roast__columns_notes, NOTHING},
    [ROAST_COLUMNS_provenance] = {roast__columns_notes, NOTHING},
    [ROAST_COLUMNS_chunk_sections] = {roast__columns_chunk_sections, RECORDS | ORDER},
    [ROAST_COLUMNS_chunk_branches] = {roast__columns_chunk_branches, RECORDS | ORDER},
    [ROAST_COLUMNS_activities] = {roast__columns_activities, SCHEDULER},
    [ROAST_COLUMNS_hot_lines] = {roast__columns_hot_lines, SCHEDULER},
    [ROAST_COLUMNS_timeline] = {roast__columns_timeline, RECORDS},
    [ROAST_COLUMNS_samples] = {roast__columns_samples, RECORDS},
};

bool roast_columns_from_summary(enum roast_columns_table table)
{
    return !(makers[table].needs & (RECORDS | SCHEDULER));
}

/* ---- making ---------------------------------------------------------------------- */

/* What tables from records look at; everything is owned. */
struct material {
    struct roast_totals totals;
    struct roast_order order;
    struct roast_summary *notes; /* of the walks: they say there if memory runs out */
    struct roast_study study;
};

static void release(struct material *material)
{
    roast__totals_release(&material->totals);
    roast__order_release(&material->order);
    roast_summary_free(material->notes);
}

static int prepare(struct material *material, struct roast_run *run, unsigned needs,
                   roast_error *err)
{
    int status = ROAST_OK;

    roast__run_resolve_pending(run);
    material->notes = roast__alloc(sizeof(*material->notes));
    if (!material->notes)
        return roast_error_set(err, ROAST_NO_MEMORY, "a table");
    material->study = (struct roast_study){.run = run,
                                           .end_ns = roast__run_end(run),
                                           .totals = &material->totals,
                                           .summary = material->notes};
    status = roast__aggregate_chunks(&material->totals, run, err);
    if (status == ROAST_OK && needs & ORDER)
        status = roast__order_make(&material->order, run, err);
    return status;
}

/* The lock is held. */
static int make(roast_columns **out, struct roast_columns_job *job,
                struct roast_run *run, roast_error *err)
{
    unsigned needs = makers[job->table].needs;
    struct material material = {0};
    int status = ROAST_OK;

    if (needs & RECORDS)
        status = prepare(&material, run, needs, err);
    if (status < 0)
        goto out;
    job->study = &material.study;
    job->order = &material.order;
    job->to = roast__builder_new(job->table, needs & ORDER ? run->attempts.count : 0);
    if (!job->to) {
        status = roast_error_set(err, ROAST_NO_MEMORY, "a table");
        goto out;
    }
    makers[job->table].make(job);
    if (material.notes && material.notes->failed)
        roast__builder_fail(job->to);
    status = roast__builder_finish(out, job->to, err);
out:
    job->study = NULL; /* they were of this call */
    job->order = NULL;
    release(&material);
    return status;
}

int roast_columns_make(roast_columns **out, enum roast_columns_table table,
                       roast_run *run, const roast_summary *summary, roast_error *err)
{
    struct roast_columns_job job = {.table = table, .run = run, .summary = summary};
    roast_summary *own = NULL;
    int status = ROAST_OK;

    *out = NULL;
    if (makers[table].needs & SUMMARY && !summary) {
        status = roast_summarize(&own, run, err);
        job.summary = own;
    }
    if (status == ROAST_OK) {
        roast__run_lock(run);
        status = make(out, &job, run, err);
        roast__run_unlock(run);
    }
    roast_summary_free(own);
    return status;
}

/* ---- reading --------------------------------------------------------------------- */

roast_columns *roast_columns_hold(roast_columns *columns)
{
    atomic_fetch_add_explicit(&columns->holders, 1, memory_order_relaxed);
    return columns;
}

static void release_data(const struct roast_columns *columns,
                         const struct roast_data *data)
{
    if (data->values != columns->zeros)
        roast__free((void *)data->values);
    if ((const void *)data->valid != columns->zeros)
        roast__free((void *)data->valid);
    roast__free((void *)data->words);
    roast__free(data->ends ? (void *)(data->ends - 1) : NULL);
}

void roast__columns_drop(struct roast_columns *columns, size_t column)
{
    struct roast_data *data = &columns->data[column];

    release_data(columns, data);
    columns->count--;
    memmove(data, data + 1, (columns->count - column) * sizeof(*data));
}

void roast_columns_free(roast_columns *columns)
{
    if (!columns ||
        atomic_fetch_sub_explicit(&columns->holders, 1, memory_order_acq_rel) > 1)
        return;
    for (size_t i = 0; i < columns->count; i++)
        release_data(columns, &columns->data[i]);
    roast__free(columns->data);
    roast__free(columns->zeros);
    roast__free(columns);
}

size_t roast_columns_rows(const roast_columns *columns)
{
    return columns->rows;
}

size_t roast_columns_count(const roast_columns *columns)
{
    return columns->count;
}

const struct roast_data *roast_columns_at(const roast_columns *columns, size_t column)
{
    return &columns->data[column];
}

const struct roast_data *roast_columns_find(const roast_columns *columns,
                                            const char *name)
{
    for (size_t i = 0; i < columns->count; i++) {
        if (strcmp(columns->data[i].name, name) == 0)
            return &columns->data[i];
    }
    return NULL;
}

static struct roast_str word_of(const struct roast_data *data, int32_t word)
{
    int64_t from = word > 0 ? data->ends[word - 1] : 0;
    size_t size = (size_t)(data->ends[word] - from);

    return (struct roast_str){size > 0 ? data->words + from : "", size};
}

static struct roast_cell int_cell(int64_t value)
{
    if (value < 0)
        return (struct roast_cell){
            .type = ROAST_CELL_NUMBER, .whole = true, .number = (double)value};
    return (struct roast_cell){.type = ROAST_CELL_COUNT, .count = (uint64_t)value};
}

struct roast_cell roast_data_cell(const struct roast_data *data, size_t row)
{
    if (data->valid && !((data->valid[row >> 3] >> (row & 7)) & 1))
        return (struct roast_cell){.type = ROAST_CELL_ABSENT};
    switch (data->type) {
    case ROAST_DATA_INT64:
    case ROAST_DATA_TIME:
        return int_cell(((const int64_t *)data->values)[row]);
    case ROAST_DATA_DOUBLE:
        return (struct roast_cell){.type = ROAST_CELL_NUMBER,
                                   .number = ((const double *)data->values)[row]};
    case ROAST_DATA_BOOL:
        return (struct roast_cell){.type = ROAST_CELL_BOOL,
                                   .count = ((const unsigned char *)data->values)[row]};
    case ROAST_DATA_TEXT:
        break;
    }
    return (struct roast_cell){.type = ROAST_CELL_TEXT,
                               .text =
                                   word_of(data, ((const int32_t *)data->values)[row])};
}
