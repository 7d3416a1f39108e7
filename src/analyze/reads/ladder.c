/* SPDX-License-Identifier: BSD-3-Clause */
/* ladder.c - the ladders of the chunks that count, summed up.
 *
 * The ladder is sent with the end of an attempt, so chunks without a record have one too.
 * Sums are over the chunks with a ladder; the number of others is a metric. */
#include "analyze/reads/ladder.h"

#include "analyze/formulas.h"
#include "analyze/record_iter.h"

/* ---- sums ------------------------------------------------------------------------ */

static bool is_known(const struct roast_ladder_sums *sums, enum roast_ladder_item item)
{
    return (sums->known >> item) & 1;
}

static void add_split(struct roast_ladder_sums *sums, const roast_record *rec,
                      const struct roast_ladder *ladder)
{
    struct roast_split split;

    if (!roast_record_has(rec, ROAST_FIELD_task_ns) ||
        !roast_record_has(rec, ROAST_FIELD_task_cpu_ns) ||
        !roast_ladder_split(&split, rec->values[ROAST_FIELD_task_ns].u64,
                            rec->values[ROAST_FIELD_task_cpu_ns].u64, ladder))
        return;
    sums->splits++;
    sums->on_cpu_ns += (double)split.on_cpu_ns;
    sums->runqueue_ns += (double)split.runqueue_ns;
    if (!split.fetch_known) {
        sums->waiting_ns += (double)split.blocked_ns;
        return;
    }
    sums->splits_with_fetch++;
    sums->fetch_wait_ns += (double)split.fetch_wait_ns;
    sums->blocked_ns += (double)split.blocked_ns;
}

static void add_all(struct roast_ladder_sums *sums,
                    const struct roast_summary_context *ctx)
{
    const struct roast_roles *roles = &ctx->totals->roles;
    const uint64_t wanted = ROAST_FIELD_BIT(ladder) | ROAST_FIELD_BIT(task_ns) |
                            ROAST_FIELD_BIT(task_cpu_ns);
    struct roast_ladder ladder;
    roast_record rec;

    sums->chunks = roles->rows[ROAST_ROLE_COUNTS] + roles->rows[ROAST_ROLE_BARE];
    const struct roast_attempts *attempts = &ctx->run->attempts;
    if (!(attempts->columns[ROAST_COLUMN_ladder].known > 0 ||
          attempts->fields & ROAST_FIELD_BIT(ladder)))
        return;
    for (size_t row = 0; row < ctx->run->attempts.count; row++) {
        unsigned role = roles->of_row[row];
        if (role != ROAST_ROLE_COUNTS && role != ROAST_ROLE_BARE)
            continue;
        (void)roast__attempt_fields(ctx->run, row, wanted, &rec);
        if (!roast_record_has(&rec, ROAST_FIELD_ladder) ||
            roast_ladder_read(&ladder, rec.values[ROAST_FIELD_ladder].str, NULL) < 0)
            continue;
        sums->ladders++;
        sums->known |= ladder.present;
        for (uint32_t left = ladder.present; left != 0; left &= left - 1) {
            int item = __builtin_ctz(left);
            sums->items[item] += (double)ladder.values[item];
        }
        uint64_t missing = ladder.values[ROAST_ITEM_hooks_missing];
        for (unsigned hook = 0; hook < ROAST_HOOK_END && missing >> hook != 0; hook++)
            sums->without_hook[hook] += (missing >> hook) & 1;
        add_split(sums, &rec, &ladder);
    }
}

/* ---- tables and metrics ---------------------------------------------------------- */

/* Chunks that cannot separate two kinds of waiting have their own column, so that every
 * column means the same in all runs. */
static void put_split(const struct roast_summary_context *ctx,
                      const struct roast_ladder_sums *sums)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_chunk_split);

    if (sums->splits == 0) {
        if (sums->ladders > 0)
            roast__summary_unavailable(
                ctx->summary, "chunk_split",
                "the system does not report how long threads wait for a core");
        return;
    }
    roast__table_row(table);
    roast__fill_number(table, ROAST_COL_chunk_split_on_cpu, sums->on_cpu_ns / 1e9);
    roast__fill_number(table, ROAST_COL_chunk_split_runqueue, sums->runqueue_ns / 1e9);
    if (sums->splits_with_fetch > 0) {
        roast__fill_number(table, ROAST_COL_chunk_split_fetch_wait,
                           sums->fetch_wait_ns / 1e9);
        roast__fill_number(table, ROAST_COL_chunk_split_blocked,
                           sums->blocked_ns / 1e9);
    } else {
        static const char *const parts[] = {"chunk_split.fetch_wait",
                                            "chunk_split.blocked"};
        for (int i = 0; i < 2; i++)
            roast__summary_unavailable(
                ctx->summary, parts[i],
                "no chunk separates waiting for data from other waiting: "
                "chunk_split.waiting has both");
    }
    if (sums->splits_with_fetch < sums->splits)
        roast__fill_number(table, ROAST_COL_chunk_split_waiting,
                           sums->waiting_ns / 1e9);
}

static void set_metrics(const struct roast_summary_context *ctx,
                        const struct roast_ladder_sums *sums)
{
    static const struct {
        enum roast_metric metric;
        enum roast_ladder_item item;
        double scale;
    } items[] = {
        {ROAST_METRIC_open_bytes, ROAST_ITEM_open_bytes, 1},
        {ROAST_METRIC_metadata_bytes, ROAST_ITEM_metadata_bytes, 1},
        {ROAST_METRIC_column_bytes, ROAST_ITEM_column_bytes, 1},
        {ROAST_METRIC_other_bytes, ROAST_ITEM_other_bytes, 1},
        {ROAST_METRIC_foreign_bytes, ROAST_ITEM_foreign_bytes, 1},
        {ROAST_METRIC_storage_wait_seconds, ROAST_ITEM_storage_wait, 1e-9},
        {ROAST_METRIC_cached_reads, ROAST_ITEM_cached_reads, 1},
        {ROAST_METRIC_gc_seconds, ROAST_ITEM_gc_cpu, 1e-9},
        {ROAST_METRIC_gc_runs, ROAST_ITEM_gc_runs, 1},
        {ROAST_METRIC_gil_wait_seconds, ROAST_ITEM_gil_wait, 1e-9},
        {ROAST_METRIC_hook_seconds, ROAST_ITEM_hook_cost, 1e-9},
    };

    if (sums->chunks > 0) {
        roast__context_set(ctx, ROAST_METRIC_ladder_chunks, (double)sums->ladders);
        roast__context_set(ctx, ROAST_METRIC_num_chunks_without_ladder,
                           (double)(sums->chunks - sums->ladders));
    }
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
        if (is_known(sums, items[i].item))
            roast__context_set(ctx, items[i].metric,
                               sums->items[items[i].item] * items[i].scale);
    }
}

void roast__summarize_ladder(const struct roast_summary_context *ctx)
{
    struct roast_ladder_sums sums = {0};

    add_all(&sums, ctx);
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_ladder);
    if (sums.ladders != 0) {
        roast__table_row(table);
        for (int i = 0; i < ROAST_SLICE_COUNT; i++) {
            if (is_known(&sums, (enum roast_ladder_item)i))
                roast__fill_number(table, ROAST_COL_ladder_import + i,
                                   sums.items[i] / 1e9);
        }
    }
    put_split(ctx, &sums);
    set_metrics(ctx, &sums);
    /* The first chunks of processes: their duration includes imports and cold caches. */
    struct roast_record_iter iter = {
        .ctx = ctx, .fields = ROAST_FIELD_BIT(first_chunk), .roles = ROAST_ROLES_COUNT};
    double seconds = NAN;
    while (roast__record_iter_next(&iter)) {
        double own = roast__attempt_seconds(&ctx->run->attempts, iter.row);
        if (iter.rec.values[ROAST_FIELD_first_chunk].u64 != 0 && !isnan(own))
            seconds = (isnan(seconds) ? 0 : seconds) + own;
    }
    roast__context_set(ctx, ROAST_METRIC_first_chunk_seconds, seconds);
    roast__put_missing_hooks(ctx, &sums);
}
