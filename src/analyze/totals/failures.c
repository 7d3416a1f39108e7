/* SPDX-License-Identifier: BSD-3-Clause */
/* failures.c - one row for every attempt that failed or was lost.
 *
 * `resolved`: another attempt at the same chunk was successful. The other chunks are
 * missing in the result. */
#include <stdio.h>

#include "analyze/budget/last_seen.h"
#include "analyze/calls.h"
#include "analyze/formulas.h"
#include "analyze/recorded.h"
#include "analyze/timeline.h"
#include "base/mem.h"
#include "run/cold_fields.h"

/* Type, message, and both together: "ValueError: text". */
static void put_error(roast_table *table, const struct roast_summary_context *ctx,
                      size_t row)
{
    const struct roast_column *types =
        &ctx->run->attempts.columns[ROAST_COLUMN_error_type];
    struct roast_str type = {NULL, 0}, message = {NULL, 0};
    unsigned char identity[ROAST_IDENTITY_BYTES];
    roast_record rec;
    char text[800];

    if (roast__column_has(types, row))
        type = roast__context_text(ctx, (int32_t)types->values[row]);
    if (roast__attempt_record(ctx->run, row, &rec, identity)) {
        if (roast_record_has(&rec, ROAST_FIELD_error_message))
            message = rec.values[ROAST_FIELD_error_message].str;
        if (roast_record_has(&rec, ROAST_FIELD_error_section))
            roast__fill_text(table, ROAST_COL_failures_error_section,
                             rec.values[ROAST_FIELD_error_section].str);
    }
    roast__fill_text(table, ROAST_COL_failures_error_type, type);
    roast__fill_text(table, ROAST_COL_failures_error_message, message);
    if (!type.data || !message.data) {
        roast__fill_text(table, ROAST_COL_failures_error, type);
        return;
    }
    type = roast_str_cut(type, 128);
    message = roast_str_cut(message, 600);
    int size = snprintf(text, sizeof(text), "%.*s: %.*s", (int)type.size_bytes,
                        type.data, (int)message.size_bytes, message.data);
    roast__fill_text(table, ROAST_COL_failures_error,
                     (struct roast_str){text, (size_t)size});
}

static void put_failure(roast_table *table, const struct roast_summary_context *ctx,
                        size_t row, const int64_t *last_seen)
{
    const struct roast_roles *roles = &ctx->totals->roles;
    const struct roast_retry *retry = roast__roles_retry(roles, row);
    bool lost = roles->of_row[row] == ROAST_ROLE_LOST;

    roast__table_row(table);
    const struct roast_attempts *attempts = &ctx->run->attempts;
    roast__fill_chunk(table, ROAST_COL_failures_dataset, ctx, row);
    put_error(table, ctx, row);
    const struct roast_worker_process *process =
        &attempts->processes[attempts->process[row]];
    char room[ROAST_PROCESS_NAME_BYTES];
    roast__fill_text(table, ROAST_COL_failures_worker,
                     roast__process_name(ctx->run, process, room));
    roast__fill_text(table, ROAST_COL_failures_host,
                     roast__context_text(ctx, process->host));
    if (process->pid != 0)
        roast__fill_count(table, ROAST_COL_failures_pid, process->pid);
    int64_t start, end;
    if (roast__attempt_times(attempts, row, &start, &end))
        roast__fill_int(table, ROAST_COL_failures_start, start);
    roast__fill_number(table, ROAST_COL_failures_seconds,
                       lost ? roast__lost_seconds(attempts, row, last_seen)
                            : roast__attempt_seconds(attempts, row));
    roast__fill_count(table, ROAST_COL_failures_attempt, retry ? retry->attempt : 1);
    roast__fill_string(table, ROAST_COL_failures_status, lost ? "lost" : "failed");
    roast__fill_bool(table, ROAST_COL_failures_resolved,
                     roast__roles_resolved(roles, ctx->run, row));
}

void roast__summarize_failures(const struct roast_summary_context *ctx)
{
    const struct roast_roles *roles = &ctx->totals->roles;
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_failures);

    if (roles->rows[ROAST_ROLE_FAILED] + roles->rows[ROAST_ROLE_LOST] == 0)
        return;
    int64_t *last_seen = roast__last_seen(ctx->run);
    if (!last_seen)
        ctx->summary->failed = true;
    for (size_t row = 0; last_seen && row < ctx->run->attempts.count; row++) {
        unsigned role = roles->of_row[row];
        if (role == ROAST_ROLE_FAILED || role == ROAST_ROLE_LOST)
            put_failure(table, ctx, row, last_seen);
    }
    roast__free(last_seen);
}
