/* SPDX-License-Identifier: BSD-3-Clause */
/* records.c - fields of records that are not columns: cost, losses, absences. */
#include "analyze/formulas.h"
#include "base/array.h"
#include "base/mem.h"
#include "record/fields.h"
#include "run/cold_fields.h"

#define BIT(name) (UINT64_C(1) << ROAST_FIELD_##name)

static const uint64_t wanted_fields =
    BIT(monitor_ns) | BIT(monitor_errors) | BIT(losses) | BIT(absences);

/* Sums over records; a damaged list ends at the damage. */
struct record_sums {
    bool cost_known;
    double monitor_ns;
    double monitor_errors;
    uint64_t losses[ROAST_LOSS_END];
    uint64_t absent[ROAST_FIELD_COUNT][ROAST_WHY_END];
};

/* ---- tables ---------------------------------------------------------------------- */

static void put_loss(roast_table *table, const char *name, const char *meaning,
                     const uint64_t *count)
{
    roast__table_row(table);
    roast__fill_string(table, ROAST_COL_losses_name, name);
    roast__fill_string(table, ROAST_COL_losses_meaning, meaning);
    if (count)
        roast__fill_count(table, ROAST_COL_losses_count, *count);
}

void roast__losses_fill(roast_table *table, const uint64_t *of_run,
                        const uint64_t *of_records)
{
    for (int i = 0; i < ROAST_RUN_LOSS_COUNT; i++)
        put_loss(table, roast_run_loss_name((enum roast_run_loss)i),
                 roast_run_loss_text((enum roast_run_loss)i),
                 of_run ? &of_run[i] : NULL);
    for (unsigned i = 0; i < ROAST_LOSS_END; i++) {
        if (roast_loss_name(i))
            put_loss(table, roast_loss_name(i), roast_loss_text(i),
                     of_records ? &of_records[i] : NULL);
    }
}

/* Of the chunks in the results, those that have no record, if recording was interrupted:
 * a worker does not measure in that time. */
static uint64_t missing_records(const struct roast_summary_context *ctx)
{
    double gaps = roast__context_fact(ctx, ROAST_FACT_scheduler_gaps);
    double chunks = roast__context_fact(ctx, ROAST_FACT_processed_chunks);
    double missing = chunks - (double)ctx->totals->roles.successful_chunks;

    if (!(gaps > 0))
        return 0;
    return (uint64_t)(missing > gaps ? missing : gaps); /* false for NaN */
}

void roast__summarize_records(const struct roast_summary_context *ctx)
{
    double client = roast__context_fact(ctx, ROAST_FACT_monitor_errors);
    struct record_sums *sums = roast__alloc(sizeof(*sums));

    if (!sums) {
        ctx->summary->failed = true;
        return;
    }
    uint64_t records = 0;
    roast_record rec;
    for (size_t row = 0; row < ctx->run->attempts.count; row++) {
        if (!roast__attempt_fields(ctx->run, row, wanted_fields, &rec))
            continue;
        records++;
        if (roast_record_has(&rec, ROAST_FIELD_monitor_ns)) {
            sums->cost_known = true;
            sums->monitor_ns += (double)rec.values[ROAST_FIELD_monitor_ns].u64;
        }
        if (roast_record_has(&rec, ROAST_FIELD_monitor_errors))
            sums->monitor_errors += (double)rec.values[ROAST_FIELD_monitor_errors].u64;
        if (roast_record_has(&rec, ROAST_FIELD_losses)) {
            struct roast_pair pair;
            while (roast_pair_next(&pair, &rec.values[ROAST_FIELD_losses].str, NULL) ==
                   1) {
                if (pair.key < ROAST_LOSS_END)
                    sums->losses[pair.key] =
                        roast__sat_count(sums->losses[pair.key], pair.value);
            }
        }
        if (roast_record_has(&rec, ROAST_FIELD_absences)) {
            struct roast_pair pair;
            while (roast_pair_next(&pair, &rec.values[ROAST_FIELD_absences].str,
                                   NULL) == 1) {
                enum roast_field field = roast__field_by_number(pair.key);
                if (field != ROAST_FIELD_COUNT && pair.value < ROAST_WHY_END)
                    sums->absent[field][pair.value]++;
            }
        }
    }
    if (sums->cost_known)
        roast__context_set(ctx, ROAST_METRIC_monitor_seconds, sums->monitor_ns / 1e9);
    if (records > 0 || !isnan(client))
        roast__context_set(ctx, ROAST_METRIC_monitor_errors,
                           sums->monitor_errors + (isnan(client) ? 0 : client));
    uint64_t of_run[ROAST_RUN_LOSS_COUNT];
    memcpy(of_run, ctx->run->losses, sizeof(of_run));
    of_run[ROAST_RUN_LOSS_records_missing] = missing_records(ctx);
    roast__losses_fill(roast__summary_open(ctx->summary, ROAST_TABLE_losses), of_run,
                       sums->losses);
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_absent_fields);
    for (int field = 0; field < ROAST_FIELD_COUNT; field++) {
        const char *name = roast_field_info((enum roast_field)field)->name;
        for (unsigned reason = 1; reason < ROAST_WHY_END; reason++) {
            uint64_t chunks = sums->absent[field][reason];
            if (chunks == 0)
                continue;
            roast__table_row(table);
            roast__fill_string(table, ROAST_COL_absent_fields_field, name);
            roast__fill_string(table, ROAST_COL_absent_fields_reason,
                               roast_reason_text(reason));
            roast__fill_count(table, ROAST_COL_absent_fields_chunks, chunks);
        }
    }
    roast__free(sums);
}
