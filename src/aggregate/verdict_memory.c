/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict_memory.c - rules about memory: pressure, growth, spilling.
 *
 * What is suggested as a limit is what was used at most, so that it is a healthy part of
 * the limit. */
#include "aggregate/verdict_limits.h"
#include "aggregate/verdict_text.h"
#include "base/mem.h"

static void tell_limit(const struct roast_case *at, struct roast_finding *finding)
{
    double peak = roast__case_metric(at, ROAST_METRIC_peak_memory_bytes);
    double spilled = roast__case_metric(at, ROAST_METRIC_spilled_bytes_peak);
    double workers = roast__case_metric(at, ROAST_METRIC_peak_workers);

    if (spilled > 0 && workers > 0)
        peak += spilled / workers;
    roast__say_memory(finding, "suggested_memory", peak / LIMIT_ADVISED_PERCENT * 100);
}

/* The chunksize with which a worker stays well below its limit, where one would help. */
static void tell_smaller(const struct roast_case *at, struct roast_finding *finding)
{
    const struct roast_chunk_model *model = &at->model;
    double room = model->limit_bytes * LIMIT_ADVISED_PERCENT / 100 - model->base_bytes;
    double size = room / (model->per_event_bytes * model->threads_per_worker);

    if (!(size >= 1) || !(size < model->now_events))
        return;
    roast__say_size(finding, "size", roast__friendly(size));
    roast__say_size(finding, "now", model->now_events);
    roast__say_made(finding, "smaller", ", or chunksize={size} (now {now})");
}

void roast__rule_memory_pressure(const struct roast_case *at,
                                 struct roast_finding *finding)
{
    double percent =
        roast__case_metric(at, ROAST_METRIC_memory_utilization_max_percent);
    double peak = roast__case_metric(at, ROAST_METRIC_peak_memory_bytes);
    const struct roast_table *table = roast__case_table(at, "peak_memory");

    finding->found = percent > LIMIT_MEMORY_PERCENT;
    if (!finding->found)
        return;
    finding->risk = true;
    finding->cost_s = NAN;
    roast__say(finding, "percent", percent, "%");
    roast__say(finding, "peak", peak, "B");
    roast__say(finding, "limit", peak / percent * 100, "B");
    roast__say_text(finding, "worker", roast__case_text(table, 0, "worker"));
    tell_limit(at, finding);
    tell_smaller(at, finding);
}

/* ---- growth ---------------------------------------------------------------------- */

/* Memory of one process after its chunks, one after the other: sums for a straight line.
 * Time would not do: the first chunk takes long, because it imports. */
struct growing {
    double count;
    double x, y, xx, xy, yy;
    double first_y; /* memory after its first chunk */
};

static void grow(struct growing *own, double bytes)
{
    double number = own->count++;

    if (number == 0)
        own->first_y = bytes;
    own->x += number;
    own->y += bytes;
    own->xx += number * number;
    own->xy += number * bytes;
    own->yy += bytes * bytes;
}

static bool add_all(struct growing *processes, const struct roast_case *at)
{
    const struct roast_attempts *attempts = &at->study->run->attempts;
    const struct roast_column *after = &attempts->columns[ROAST_COLUMN_rss_after_bytes];

    for (size_t row = 0; row < attempts->count; row++) {
        if (at->study->totals->roles.of_row[row] == ROAST_ROLE_COUNTS &&
            roast__column_has(after, row))
            grow(&processes[attempts->process[row]], (double)after->values[row]);
    }
    return after->known > 0;
}

/* What a process gained from its first chunk to its last, by the line through them; NaN
 * where memory does not follow their number. */
static double growth_of(const struct growing *own)
{
    double n = own->count;
    double var_x = own->xx / n - own->x / n * (own->x / n);
    double var_y = own->yy / n - own->y / n * (own->y / n);
    double both = own->xy / n - own->x / n * (own->y / n);
    double r = LIMIT_GROWTH_R_PERCENT / 100.0;

    if (n < LIMIT_GROWTH_CHUNKS || !(var_x > 0) || !(both > 0) ||
        !(both * both > r * r * var_x * var_y))
        return NAN;
    return both / var_x * (n - 1);
}

static const struct growing *find_largest(const struct growing *processes, size_t count)
{
    const struct growing *largest = NULL;

    for (size_t i = 0; i < count; i++) {
        double growth = growth_of(&processes[i]);
        if (!isnan(growth) && (!largest || growth > growth_of(largest)))
            largest = &processes[i];
    }
    return largest;
}

void roast__rule_memory_leak(const struct roast_case *at, struct roast_finding *finding)
{
    size_t count = at->study->run->attempts.process_count;
    struct growing *processes = roast__alloc(count * sizeof(processes[0]));

    finding->cost_s = NAN;
    if (!processes) {
        at->study->summary->failed = true;
        return;
    }
    const struct growing *largest =
        add_all(processes, at) ? find_largest(processes, count) : NULL;
    if (largest) {
        double growth = growth_of(largest);
        finding->found = growth >= LIMIT_GROWTH_MB * 1e6 &&
                         growth * 100 >= LIMIT_GROWTH_PERCENT * largest->first_y;
        finding->risk = true;
        roast__say(finding, "rate", growth / (largest->count - 1), "B");
        roast__say(finding, "growth", growth, "B");
        roast__say(finding, "first", largest->first_y, "B");
    }
    roast__free(processes);
}

/* ---- spilling -------------------------------------------------------------------- */

static bool is_text(const struct roast_run *run, int32_t number, const char *text)
{
    struct roast_str found = roast__strings_get(&run->strings, number);

    return found.data && found.size_bytes == strlen(text) &&
           memcmp(found.data, text, found.size_bytes) == 0;
}

/* Seconds that Dask says it spent on its spill files; they are not of task threads. */
static double spill_seconds(const struct roast_run *run)
{
    double seconds = 0;

    for (size_t i = 0; i < run->scheduler.activity_count; i++) {
        const struct roast_activity_row *row = &run->scheduler.activities[i];
        if (is_text(run, row->unit, "seconds") &&
            (is_text(run, row->activity, "disk-read") ||
             is_text(run, row->activity, "disk-write")))
            seconds += row->value;
    }
    return seconds;
}

void roast__rule_spilling(const struct roast_case *at, struct roast_finding *finding)
{
    double peak = roast__case_metric(at, ROAST_METRIC_spilled_bytes_peak);
    double written = roast__case_metric(at, ROAST_METRIC_disk_write_bytes);
    double spilled = fmax(isnan(peak) ? 0 : peak, isnan(written) ? 0 : written);
    double seconds = spill_seconds(at->study->run);

    finding->found = spilled >= LIMIT_SPILLED_MB * 1e6;
    if (!finding->found)
        return;
    finding->risk = true;
    finding->cost_s = seconds > 0 ? seconds : NAN;
    finding->saves_unknown = true; /* who waited for the disk? */
    roast__say(finding, "spilled", spilled, "B");
    roast__say_text(finding, "when",
                    roast_str_of(peak >= spilled ? "on disk at the peak"
                                                 : "written to disk in all"));
    if (seconds > 0) {
        roast__say(finding, "disk", seconds, "s");
        roast__say_made(finding, "seconds", ", {disk} reading and writing it");
    }
    tell_limit(at, finding);
}
