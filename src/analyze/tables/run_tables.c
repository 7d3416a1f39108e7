/* SPDX-License-Identifier: BSD-3-Clause */
/* run_tables.c - tables of a run, and the data that each is made from.
 *
 * The run is locked while a table is made from it. Tables of the summary read nothing
 * else, so that a saved run need not be loaded for them. */
#include "roast/analyze.h"

#include "analyze/calls.h"
#include "analyze/tables/job.h"
#include "base/mem.h"

enum needs {
    NOTHING = 0, /* notes and losses are always available */
    SUMMARY = 1,
    RECORDS = 2, /* or samples */
    ORDER = 4,
    SCHEDULER = 8, /* what it recorded; like records of a run that is whole */
    LARGE = 16,    /* no need: has as many rows as there are samples */
};

static const struct {
    void (*make)(const struct roast_table_job *job);
    unsigned needs;
} makers[ROAST_RUN_TABLE_COUNT] = {
#define T(name, key, shape, maker, needs, text) \
    [ROAST_TABLE_##name] = {roast__make_##maker, needs},
#define S(name, key, shape, text)
#include "roast/tables.def"
#undef T
#undef S
};

/* A formula has made all rows. */
void roast__make_nothing(const struct roast_table_job *job)
{
    (void)job;
}

bool roast_table_from_summary(enum roast_table_id table)
{
    return !(makers[table].needs & (RECORDS | SCHEDULER));
}

bool roast_table_is_large(enum roast_table_id table)
{
    return makers[table].needs & (ORDER | LARGE);
}

/* ---- making ---------------------------------------------------------------------- */

/* The input of tables from records; everything is owned. */
struct table_input {
    struct roast_totals totals;
    struct roast_order order;
    struct roast_summary *summary; /* iterators note in it that memory ran out */
    struct roast_summary_context ctx;
};

static int prepare(struct table_input *input, struct roast_run *run, unsigned needs,
                   roast_error *err)
{
    int status = ROAST_OK;

    roast__run_resolve_pending(run);
    input->summary = roast__alloc(sizeof(*input->summary));
    if (!input->summary)
        return roast_error_set(err, ROAST_NO_MEMORY, "a table");
    input->ctx = (struct roast_summary_context){.run = run,
                                                .end_ns = roast__run_end(run),
                                                .totals = &input->totals,
                                                .summary = input->summary};
    status = roast__compute_totals(&input->totals, run, err);
    if (status == ROAST_OK && needs & ORDER)
        status = roast__order_make(&input->order, run, err);
    return status;
}

/* The lock is held. */
static int make(roast_table **out, struct roast_table_job *job, struct roast_run *run,
                roast_error *err)
{
    unsigned needs = makers[job->table].needs;
    struct table_input input = {0};
    int status = ROAST_OK;

    if (needs & RECORDS)
        status = prepare(&input, run, needs, err);
    if (status < 0)
        goto out;
    job->ctx = &input.ctx;
    job->order = &input.order;
    size_t rows = needs & ORDER ? run->attempts.count : 0;
    if (job->parts && job->parts->rows < rows)
        rows = job->parts->rows;
    job->to = roast__table_new(job->table, rows);
    roast__table_part(job->to, job->parts);
    makers[job->table].make(job);
    if (input.summary && input.summary->failed)
        roast__table_fail(job->to);
    *out = job->to;
    status = roast__table_finish(out, err);
out:
    job->ctx = NULL; /* they are released below */
    job->order = NULL;
    roast__totals_release(&input.totals);
    roast__order_release(&input.order);
    roast_summary_free(input.summary);
    return status;
}

static int lock_and_make(roast_table **out, struct roast_table_job *job, roast_run *run,
                         roast_error *err)
{
    unsigned needs = makers[job->table].needs;
    roast_summary *own = NULL;
    int status = ROAST_OK;

    *out = NULL;
    if (needs & SUMMARY && !job->summary) {
        status = roast_summarize(&own, run, err);
        job->summary = own;
    }
    if (status == ROAST_OK && needs & SUMMARY && job->summary->tables[job->table]) {
        *out = roast_table_hold(job->summary->tables[job->table]);
    } else if (status == ROAST_OK) {
        roast__run_lock(run);
        status = make(out, job, run, err);
        roast__run_unlock(run);
    }
    roast_summary_free(own);
    return status;
}

int roast_run_table(roast_table **out, enum roast_table_id table, roast_run *run,
                    const roast_summary *summary, roast_error *err)
{
    struct roast_table_job job = {.table = table, .run = run, .summary = summary};

    return lock_and_make(out, &job, run, err);
}

/* ---- in parts -------------------------------------------------------------------- */

struct unlocked_parts {
    roast_run *run;
    const struct roast_table_parts *parts;
    bool stopped;
};

static bool put_unlocked(void *context, roast_table *part)
{
    struct unlocked_parts *unlocked = context;

    roast__run_unlock(unlocked->run);
    unlocked->stopped = !unlocked->parts->put(unlocked->parts->context, part);
    roast__run_lock(unlocked->run);
    return !unlocked->stopped;
}

int roast_run_table_parts(enum roast_table_id table, roast_run *run,
                          const roast_summary *summary,
                          const struct roast_table_parts *parts, roast_error *err)
{
    struct unlocked_parts unlocked = {.run = run, .parts = parts};
    const struct roast_table_parts inner = {parts->rows, put_unlocked, &unlocked};
    struct roast_table_job job = {
        .table = table, .run = run, .summary = summary, .parts = &inner};
    roast_table *last = NULL;
    int status = lock_and_make(&last, &job, run, err);

    if (status == ROAST_OK)
        (void)parts->put(parts->context, last);
    return unlocked.stopped ? ROAST_OK : status;
}
