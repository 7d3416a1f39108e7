/* SPDX-License-Identifier: BSD-3-Clause */
/* process_groups.c - the tables per worker and per host.
 *
 * A worker is identified by its name, else by its pid. Pids of two hosts may be equal:
 * on other hosts than the client's the key contains the host. */
#include <inttypes.h>
#include <stdio.h>

#include "analyze/budget/worker_match.h"
#include "analyze/formulas.h"
#include "analyze/recorded.h"
#include "analyze/totals/groups.h"
#include "base/mem.h"
#include "run/series.h"

struct roast_str roast__process_name(const struct roast_run *run,
                                     const struct roast_worker_process *process,
                                     char room[ROAST_PROCESS_NAME_BYTES])
{
    struct roast_str name = roast__strings_get(&run->strings, process->worker);

    if (name.data || process->pid == 0)
        return name;
    (void)snprintf(room, ROAST_PROCESS_NAME_BYTES, "pid-%" PRIu64, process->pid);
    return roast_str_of(room);
}

/* ---- keys ------------------------------------------------------------------------ */

static const struct roast_worker_process *process_at(const void *run, size_t item)
{
    return &((const struct roast_run *)run)->attempts.processes[item];
}

/* A process without a host was forked on this machine, or died before it sent it. */
static int32_t host_number(const void *run, size_t item)
{
    int32_t host = process_at(run, item)->host;

    return host != ROAST_NO_STRING ? host : ((const struct roast_run *)run)->host;
}

/* Names of workers are unique; pids are unique on their host. */
static struct roast_key key_of_worker(const void *run, size_t item)
{
    const struct roast_worker_process *process = process_at(run, item);

    if (process->worker != ROAST_NO_STRING)
        return (struct roast_key){.a = (uint32_t)process->worker, .b = UINT64_MAX};
    return (struct roast_key){.a = process->pid, .b = (uint32_t)host_number(run, item)};
}

static struct roast_key key_of_host(const void *run, size_t item)
{
    return (struct roast_key){.a = (uint32_t)host_number(run, item)};
}

struct roast_str roast__worker_key(const struct roast_run *run, size_t process,
                                   struct roast_buf *room)
{
    const struct roast_worker_process *own = process_at(run, process);
    struct roast_str host = roast__strings_get(&run->strings, own->host);
    char name_room[ROAST_PROCESS_NAME_BYTES];
    struct roast_str name = roast__process_name(run, own, name_room);

    if (!name.data)
        name = roast_str_of("(unknown)");
    roast__buf_put(room, name.data, name.size_bytes);
    if (own->worker == ROAST_NO_STRING && host_number(run, process) != run->host) {
        roast__buf_put(room, "@", 1);
        roast__buf_put(room, host.data, host.size_bytes);
    }
    if (!roast__buf_ok(room))
        return (struct roast_str){NULL, 0};
    return (struct roast_str){room->data ? (const char *)room->data : "",
                              room->size_bytes};
}

/* ---- memory ---------------------------------------------------------------------- */

double roast__highest_memory(const struct roast_worker_samples *worker)
{
    struct roast_moments memory = {0};
    struct roast_series_cursor cursor;
    double values[ROAST_SERIES_BLOCK];
    size_t read;

    roast__series_open(&cursor, worker, ROAST_SERIES_memory);
    while ((read = roast__series_block(&cursor, NULL, values)) > 0)
        roast__moments_add(&memory, values, read);
    return memory.count > 0 ? memory.max : NAN;
}

/* The same, from the values that worker_samples.c kept. */
static double sampled_peak(const struct roast_summary_context *ctx, size_t sampled)
{
    const double *peaks = ctx->totals->sampled_peaks;

    return peaks && !(peaks[sampled] < 0)
               ? peaks[sampled]
               : roast__highest_memory(&ctx->run->samples.workers[sampled]);
}

/* The highest memory in records or samples per worker; returns owned, NULL when out of
 * memory. */
static double *peaks_of(const struct roast_keys *keys,
                        const struct roast_worker_match *match,
                        const struct roast_summary_context *ctx)
{
    double *peaks = roast__alloc(keys->count * sizeof(peaks[0]));

    for (size_t i = 0; peaks && i < keys->count; i++)
        peaks[i] = NAN;
    if (peaks) {
        const struct roast_column *peak =
            &ctx->run->attempts.columns[ROAST_COLUMN_rss_peak_bytes];
        for (size_t row = 0; peak->known > 0 && row < ctx->run->attempts.count; row++) {
            double *own = &peaks[keys->key_of[ctx->run->attempts.process[row]]];
            if (roast__column_has(peak, row))
                *own = fmax(*own, (double)peak->values[row]);
        }
        for (size_t i = 0; i < ctx->run->samples.count; i++) {
            int32_t key = match->process[i] >= 0 ? keys->key_of[match->process[i]] : -1;
            if (key >= 0)
                peaks[key] = fmax(peaks[key], sampled_peak(ctx, i));
        }
    }
    return peaks;
}

/* ---- tables ---------------------------------------------------------------------- */

void roast__fill_worker(roast_table *table, int col,
                        const struct roast_summary_context *ctx, size_t process)
{
    struct roast_buf room = {0};

    roast__fill_text(table, col, roast__worker_key(ctx->run, process, &room));
    ctx->summary->failed |= !roast__buf_ok(&room);
    roast__buf_release(&room);
}

/* Whether all records have their process. */
static bool all_are_known(const struct roast_attempts *attempts)
{
    for (size_t i = 0; i < attempts->process_count; i++) {
        if (!roast__process_is_known(&attempts->processes[i]))
            return false;
    }
    return true;
}

static void put_workers(const struct roast_summary_context *ctx,
                        const struct roast_keys *keys)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_per_worker);
    struct roast_worker_match match = {0};
    bool found = roast__worker_match_find(&match, ctx->run);
    double *peaks = found ? peaks_of(keys, &match, ctx) : NULL;

    if (!peaks)
        ctx->summary->failed = true;
    for (size_t i = 0; peaks && i < keys->count; i++) {
        size_t first = (size_t)keys->first_item[i];
        const struct roast_worker_process *process = process_at(ctx->run, first);
        roast__table_row(table);
        roast__fill_worker(table, ROAST_COL_per_worker_worker, ctx, first);
        roast__fill_group(table, ROAST_COL_per_worker_num_chunks, &keys->groups[i]);
        roast__fill_text(table, ROAST_COL_per_worker_host,
                         roast__context_text(ctx, process->host));
        if (process->pid != 0)
            roast__fill_count(table, ROAST_COL_per_worker_pid, process->pid);
        roast__fill_number(table, ROAST_COL_per_worker_peak_memory_mb,
                           peaks[i] / (1024.0 * 1024.0));
    }
    if (peaks) {
        /* Workers that a backend sampled, without records. They were idle, unless there
         * are records without a process: then their work is not known. */
        const struct roast_samples *samples = &ctx->run->samples;
        bool idle = all_are_known(&ctx->run->attempts);
        struct roast_group nothing;
        roast__group_init(&nothing);
        for (size_t i = 0; i < samples->count; i++) {
            if (samples->workers[i].pid != 0 || match.process[i] >= 0)
                continue;
            roast__table_row(table);
            roast__fill_text(table, ROAST_COL_per_worker_worker,
                             roast__context_text(ctx, samples->workers[i].name));
            if (idle)
                roast__fill_group(table, ROAST_COL_per_worker_num_chunks, &nothing);
            roast__fill_number(table, ROAST_COL_per_worker_peak_memory_mb,
                               sampled_peak(ctx, i) / (1024.0 * 1024.0));
        }
    }
    roast__worker_match_release(&match);
    roast__free(peaks);
}

static void put_hosts(const struct roast_summary_context *ctx,
                      const struct roast_keys *keys)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_per_host);

    for (size_t i = 0; i < keys->count; i++) {
        int32_t host = host_number(ctx->run, (size_t)keys->first_item[i]);
        roast__table_row(table);
        roast__fill_text(table, ROAST_COL_per_host_host,
                         host == ROAST_NO_STRING ? roast_str_of("(unknown)")
                                                 : roast__context_text(ctx, host));
        roast__fill_group(table, ROAST_COL_per_host_num_chunks, &keys->groups[i]);
    }
}

void roast__summarize_process_groups(const struct roast_summary_context *ctx)
{
    size_t count = ctx->run->attempts.process_count;
    struct roast_group *processes = roast__totals_by_process(ctx->totals, ctx->run);
    struct roast_keys workers = {0}, hosts = {0};

    if (processes &&
        roast__keys_join(&workers, processes + 1, count, key_of_worker, ctx->run) &&
        roast__keys_join(&hosts, processes + 1, count, key_of_host, ctx->run)) {
        put_workers(ctx, &workers);
        put_hosts(ctx, &hosts);
    } else {
        ctx->summary->failed = true;
    }
    roast__keys_release(&workers);
    roast__keys_release(&hosts);
    roast__free(processes);
}
