/* SPDX-License-Identifier: BSD-3-Clause */
/* row_sums.c - sums over the attempts of a run: of all, and by group. */
#include "analyze/totals/row_sums.h"

#include <math.h>

void roast__group_init(struct roast_group *group)
{
    *group = (struct roast_group){.shortest_ns = INFINITY, .longest_ns = -INFINITY};
}

void roast__group_add(struct roast_group *sum, const struct roast_group *part)
{
    for (int i = 0; i < ROAST_AMOUNTS; i++) {
        sum->sums[i] += part->sums[i];
        sum->without[i] += part->without[i];
    }
    sum->shortest_ns = fmin(sum->shortest_ns, part->shortest_ns);
    sum->longest_ns = fmax(sum->longest_ns, part->longest_ns);
    sum->chunks += part->chunks;
    sum->bare += part->bare;
    sum->bare_events += part->bare_events;
    sum->bare_unknown += part->bare_unknown;
    sum->others += part->others;
    sum->failures += part->failures;
}

/* A chunk without a record: its entries are its events. */
static void add_bare(struct roast_group *group, const struct roast_attempts *attempts,
                     size_t row)
{
    const struct roast_column *columns = attempts->columns;
    double events = roast__column_number(&columns[ROAST_COLUMN_entry_stop], row) -
                    roast__column_number(&columns[ROAST_COLUMN_entry_start], row);

    group->bare++;
    if (events >= 0)
        group->bare_events += events;
    else
        group->bare_unknown++;
}

static void add_chunk(struct roast_group *group, const double amounts[ROAST_AMOUNTS])
{
    double duration_ns = amounts[ROAST_DURATION_NS];

    group->chunks++;
    if (duration_ns < group->shortest_ns) /* false for NaN */
        group->shortest_ns = duration_ns;
    if (duration_ns > group->longest_ns)
        group->longest_ns = duration_ns;
    for (int i = 0; i < ROAST_AMOUNTS; i++) {
        if (isnan(amounts[i]))
            group->without[i]++;
        else
            group->sums[i] += amounts[i];
    }
}

/* CPU time and wall time come from two clocks: the difference may be negative. */
static double noncpu_of(double wall_ns, double cpu_ns)
{
    double noncpu_ns = wall_ns - cpu_ns;

    return noncpu_ns < 0 ? 0 : noncpu_ns;
}

/* Of a chunk with the role COUNTS. */
static void add_chunk_sums(struct roast_row_sums *sums,
                           const double amounts[ROAST_AMOUNTS],
                           const struct roast_column *columns, size_t row)
{
    double duration_ns = amounts[ROAST_DURATION_NS], events = amounts[ROAST_EVENTS];
    double noncpu_ns = noncpu_of(duration_ns, amounts[ROAST_CPU_NS]);
    double delta_bytes =
        roast__column_number(&columns[ROAST_COLUMN_rss_after_bytes], row) -
        roast__column_number(&columns[ROAST_COLUMN_rss_before_bytes], row);
    int64_t peak_bytes =
        roast__column_get(&columns[ROAST_COLUMN_rss_peak_bytes], row, -1);

    roast__moments_add(&sums->duration_ns, &duration_ns, 1);
    roast__moments_add(&sums->events, &events, 1);
    roast__moments_add(&sums->memory_delta_bytes, &delta_bytes, 1);
    roast__moments_add(&sums->output_bytes, &amounts[ROAST_OUTPUT], 1);
    roast__quantiles_add(&sums->durations_ns, duration_ns);
    if (events > 0)
        roast__quantiles_add(&sums->ns_per_event, duration_ns / events);
    if (peak_bytes > sums->memory_peak_bytes)
        sums->memory_peak_bytes = peak_bytes;
    if (!isnan(noncpu_ns)) {
        sums->noncpu_ns += noncpu_ns;
        sums->noncpu_chunks++;
    }
    if (!isnan(duration_ns + events)) {
        sums->paired_duration_ns += duration_ns;
        sums->paired_events += events;
    }
    if (!isnan(delta_bytes + events)) {
        sums->paired_delta_bytes += delta_bytes;
        sums->delta_events += events;
    }
}

void roast__rows_add(struct roast_group *groups, const int32_t *of,
                     struct roast_row_sums *sums, const struct roast_attempts *attempts,
                     const struct roast_roles *roles)
{
    const struct roast_column *columns = attempts->columns;

    for (size_t row = 0; row < attempts->count; row++) {
        struct roast_group *group = &groups[of[row] + 1];
        unsigned role = roles->of_row[row];
        if (role == ROAST_ROLE_COUNTS) {
            const double amounts[ROAST_AMOUNTS] = {
                [ROAST_DURATION_NS] =
                    roast__column_number(&columns[ROAST_COLUMN_duration_ns], row),
                [ROAST_EVENTS] =
                    roast__column_number(&columns[ROAST_COLUMN_num_events], row),
                [ROAST_CPU_NS] =
                    roast__column_number(&columns[ROAST_COLUMN_cpu_ns], row),
                [ROAST_BYTES] =
                    roast__column_number(&columns[ROAST_COLUMN_bytes_read], row) +
                    roast__column_number(&columns[ROAST_COLUMN_bytes_before], row),
                [ROAST_OUTPUT] =
                    roast__column_number(&columns[ROAST_COLUMN_output_bytes], row),
            };
            add_chunk(group, amounts);
            if (sums)
                add_chunk_sums(sums, amounts, columns, row);
        } else if (role == ROAST_ROLE_BARE) {
            add_bare(group, attempts, row);
        } else {
            group->others++;
            group->failures += role == ROAST_ROLE_FAILED || role == ROAST_ROLE_LOST;
        }
        if (!sums)
            continue;
        double task_ns = roast__column_number(&columns[ROAST_COLUMN_task_ns], row);
        double cpu_ns = roast__column_number(&columns[ROAST_COLUMN_task_cpu_ns], row);
        bool successful = role == ROAST_ROLE_COUNTS || role == ROAST_ROLE_BARE ||
                          role == ROAST_ROLE_REPEAT;
        sums->task_ns += isnan(task_ns) ? 0 : task_ns;
        if (successful && !isnan(task_ns + cpu_ns)) {
            sums->clocked_cpu_ns += cpu_ns;
            sums->clocked_noncpu_ns += noncpu_of(task_ns, cpu_ns);
            sums->clocked++;
        }
    }
}
