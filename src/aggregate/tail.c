/* SPDX-License-Identifier: BSD-3-Clause */
/* tail.c - the end of a run: the last chunks to begin, and who kept the others waiting.
 *
 * The tail lasts from when the last 5 % of the chunks began to the end of the last one.
 * Of several calls of the Runner the one with most chunks is looked at. Every thread has
 * a last chunk: those that end far behind the median of these, further than a chunk
 * takes, are the stragglers. */
#include "aggregate/budget.h"
#include "aggregate/calls.h"
#include "aggregate/formulas.h"
#include "aggregate/latest.h"
#include "aggregate/recorded.h"
#include "aggregate/timeline.h"
#include "base/mem.h"

enum { LAST_PART = 20, MOST_THREADS = 1 << 16, MOST_STRAGGLERS = 20 };

static const char *const tail_columns[] = {"start", "seconds", "thread_seconds_lost"};

enum {
    DATASET,
    FILE_NAME,
    ENTRY_START,
    ENTRY_STOP,
    WORKER,
    HOST,
    SECONDS,
    ENDS_AFTER,
    CAUSE,
    COLUMNS
};

static const char *const columns[COLUMNS] = {
    [DATASET] = "dataset",       [FILE_NAME] = "file", [ENTRY_START] = "entry_start",
    [ENTRY_STOP] = "entry_stop", [WORKER] = "worker",  [HOST] = "host",
    [SECONDS] = "seconds",       [CAUSE] = "cause",    [ENDS_AFTER] = "ends_after",
};

struct looking {
    const struct roast_study *study;
    struct roast_calls calls;
    int32_t call; /* that is looked at */
    size_t chunks;
    int64_t start_ns;
    int64_t end_ns;
    double median_s; /* that a chunk takes */
    double median_events;
    double median_wait_s;
};

/* ---- chunks ---------------------------------------------------------------------- */

/* Whether a row stands for a chunk of the call, and when it began and ended. */
static bool is_chunk(const struct looking *looking, size_t row, int64_t times[2])
{
    unsigned role = looking->study->totals->roles.of_row[row];

    if (role != ROAST_ROLE_COUNTS && role != ROAST_ROLE_BARE)
        return false;
    if (looking->calls.count > 0 && looking->calls.of_row[row] != looking->call)
        return false;
    return roast__attempt_times(&looking->study->run->attempts, row, &times[0],
                                &times[1]);
}

static size_t count_chunks(const struct looking *looking)
{
    int64_t times[2];
    size_t count = 0;

    for (size_t row = 0; row < looking->study->run->attempts.count; row++)
        count += is_chunk(looking, row, times);
    return count;
}

/* The call with most chunks; false when out of memory. */
static bool choose_call(struct looking *looking)
{
    const struct roast_run *run = looking->study->run;

    if (!roast__calls_find(&looking->calls, run))
        return false;
    size_t *counts = roast__alloc(looking->calls.count * sizeof(counts[0]));
    if (!counts)
        return false;
    for (size_t row = 0; looking->calls.count > 0 && row < run->attempts.count; row++) {
        if (looking->calls.of_row[row] != ROAST_NO_CALL)
            counts[looking->calls.of_row[row]]++;
    }
    for (int32_t i = 0; i < (int32_t)looking->calls.count; i++) {
        if (counts[i] > counts[looking->call])
            looking->call = i;
    }
    roast__free(counts);
    looking->chunks = count_chunks(looking);
    return true;
}

/* ---- the tail -------------------------------------------------------------------- */

/* Finds when it begins and ends; false when out of memory. */
static bool find_tail(struct looking *looking)
{
    size_t last = looking->chunks / LAST_PART > 0 ? looking->chunks / LAST_PART : 1;
    struct roast_latest begins = {0};
    bool found = roast__latest_init(&begins, last);

    looking->end_ns = INT64_MIN;
    for (size_t row = looking->study->run->attempts.count; found && row-- > 0;) {
        int64_t times[2];
        if (!is_chunk(looking, row, times))
            continue; /* the latest are the last ones, or nearly */
        roast__latest_add(&begins, times[0], (uint32_t)row);
        if (times[1] > looking->end_ns)
            looking->end_ns = times[1];
    }
    if (found)
        looking->start_ns = begins.items[0].time_ns;
    roast__latest_release(&begins);
    return found;
}

static double shared_seconds(const struct looking *looking, int64_t from_ns,
                             int64_t to_ns)
{
    return roast__seconds_between(from_ns > looking->start_ns ? from_ns
                                                              : looking->start_ns,
                                  to_ns < looking->end_ns ? to_ns : looking->end_ns);
}

/* Seconds of threads without work while the last chunks ran. */
static double lost_seconds(const struct looking *looking)
{
    const struct roast_schedule *schedule = &looking->study->budget->schedule;
    double lost = 0;

    for (size_t i = 0; i < schedule->shift_count; i++) {
        const struct roast_shift *shift = &schedule->shifts[i];
        lost += (double)shift->threads *
                shared_seconds(looking, shift->from_ns, shift->to_ns);
    }
    for (size_t i = 0; i < schedule->job_count; i++) {
        const struct roast_job *job = &schedule->jobs[i];
        const struct roast_shift *shift = &schedule->shifts[job->shift];
        if (!job->guessed)
            lost -= shared_seconds(
                looking, roast__time_clamp(job->start_ns, shift->from_ns, shift->to_ns),
                roast__time_clamp(job->stop_ns, shift->from_ns, shift->to_ns));
    }
    return lost > 0 ? lost : 0;
}

static void put_tail(const struct looking *looking, size_t table)
{
    const struct roast_study *study = looking->study;
    struct roast_cell *row = roast__table_row(study->summary, table);

    row[0] = roast__cell_number(
        roast__seconds_between(study->run->start_ns, looking->start_ns));
    row[1] =
        roast__cell_number(roast__seconds_between(looking->start_ns, looking->end_ns));
    if (study->budget->schedule.shift_count > 0)
        row[2] = roast__cell_number(lost_seconds(looking));
}

/* ---- what is usual --------------------------------------------------------------- */

static double column_of(const struct looking *looking, enum roast_attempt_column column,
                        size_t row)
{
    const struct roast_column *values = &looking->study->run->attempts.columns[column];

    return roast__column_has(values, row) ? (double)values->values[row] : NAN;
}

/* Seconds inside process() without the CPU; NaN: not known. */
static double wait_of(const struct looking *looking, size_t row)
{
    double wait_ns = column_of(looking, ROAST_COLUMN_duration_ns, row) -
                     column_of(looking, ROAST_COLUMN_cpu_ns, row);

    return wait_ns < 0 ? 0 : wait_ns / 1e9;
}

/* False when out of memory. */
static bool find_usual(struct looking *looking)
{
    struct roast_quantiles taken = {0}, events = {0}, waits = {0};

    for (size_t row = 0; row < looking->study->run->attempts.count; row++) {
        int64_t times[2];
        if (!is_chunk(looking, row, times))
            continue;
        double took_s = roast__seconds_between(times[0], times[1]);
        double count = column_of(looking, ROAST_COLUMN_num_events, row);
        double wait_s = wait_of(looking, row);
        roast__quantiles_add(&taken, &took_s, 1);
        roast__quantiles_add(&events, &count, 1);
        roast__quantiles_add(&waits, &wait_s, 1);
    }
    looking->median_s = roast__quantiles_get(&taken, 0.5);
    looking->median_events = roast__quantiles_get(&events, 0.5);
    looking->median_wait_s = roast__quantiles_get(&waits, 0.5);
    bool found = !taken.failed && !events.failed && !waits.failed;
    roast__quantiles_release(&taken);
    roast__quantiles_release(&events);
    roast__quantiles_release(&waits);
    return found;
}

/* ---- stragglers ------------------------------------------------------------------ */

static const char *cause_of(const struct looking *looking, size_t row, double took_s)
{
    const struct roast_study *study = looking->study;
    const struct roast_attempts *attempts = &study->run->attempts;
    const struct roast_tried *tried = roast__roles_tried(&study->totals->roles, row);
    double excess_s = took_s - looking->median_s;

    if (tried && tried->attempt > 1)
        return "tried again";
    if (took_s <= 1.5 * looking->median_s)
        return "began late";
    if (column_of(looking, ROAST_COLUMN_num_events, row) > 1.5 * looking->median_events)
        return "more events";
    if (wait_of(looking, row) - looking->median_wait_s > 0.5 * excess_s)
        return "waited longer"; /* for storage, a core or the GIL */
    if (roast__is_slow_host(study, attempts->processes[attempts->process[row]].host))
        return "slow host";
    return "more work per event";
}

static int32_t host_of(const struct roast_run *run, size_t row)
{
    int32_t host = run->attempts.processes[run->attempts.process[row]].host;

    return host != ROAST_NO_STRING ? host : run->host;
}

static void put_straggler(const struct looking *looking, size_t table, size_t row,
                          double after_s)
{
    const struct roast_study *study = looking->study;
    const struct roast_attempts *attempts = &study->run->attempts;
    struct roast_cell *cells = roast__table_row(study->summary, table);
    int32_t source = attempts->source[row];
    int64_t times[2] = {0, 0};

    (void)is_chunk(looking, row, times);
    double took_s = roast__seconds_between(times[0], times[1]);
    if (source >= 0) {
        cells[DATASET] = roast__study_text(study, attempts->sources[source].dataset);
        cells[FILE_NAME] = roast__study_text(study, attempts->sources[source].file);
    }
    cells[ENTRY_START] =
        roast__cell_sum(column_of(looking, ROAST_COLUMN_entry_start, row));
    cells[ENTRY_STOP] =
        roast__cell_sum(column_of(looking, ROAST_COLUMN_entry_stop, row));
    cells[WORKER] = roast__worker_cell(study, (size_t)attempts->process[row]);
    cells[HOST] = roast__study_text(study, host_of(study->run, row));
    cells[SECONDS] = roast__cell_number(took_s);
    cells[ENDS_AFTER] = roast__cell_number(after_s);
    cells[CAUSE] =
        roast__cell_text(study->summary, roast_str_of(cause_of(looking, row, took_s)));
}

/* How many chunks could run at once when the tail began. */
static size_t threads_at_start(const struct looking *looking)
{
    const struct roast_schedule *schedule = &looking->study->budget->schedule;
    size_t most = looking->chunks < MOST_THREADS ? looking->chunks : MOST_THREADS;
    size_t count = 0;

    for (size_t i = 0; i < schedule->shift_count; i++) {
        const struct roast_shift *shift = &schedule->shifts[i];
        if (shift->from_ns <= looking->start_ns && looking->start_ns < shift->to_ns)
            count += shift->threads < most ? (size_t)shift->threads : most;
    }
    return count < most ? count : most;
}

static void put_late(const struct looking *looking, size_t table,
                     struct roast_latest *ends)
{
    roast__latest_sort(ends); /* the last one first */
    int64_t median_ns = ends->items[ends->count / 2].time_ns;

    for (size_t i = 0; i < ends->count && i < MOST_STRAGGLERS; i++) {
        double after_s = roast__seconds_between(median_ns, ends->items[i].time_ns);
        if (!(after_s > looking->median_s))
            break;
        put_straggler(looking, table, ends->items[i].row, after_s);
    }
}

/* False when out of memory. */
static bool find_stragglers(struct looking *looking, size_t table)
{
    struct roast_latest ends = {0};
    size_t threads = threads_at_start(looking);

    if (threads < 2)
        return true; /* nobody waits */
    bool found = find_usual(looking) && roast__latest_init(&ends, threads);
    for (size_t row = looking->study->run->attempts.count; found && row-- > 0;) {
        int64_t times[2];
        if (is_chunk(looking, row, times))
            roast__latest_add(&ends, times[1], (uint32_t)row);
    }
    if (found)
        put_late(looking, table, &ends);
    roast__latest_release(&ends);
    return found;
}

void roast__study_tail(const struct roast_study *study)
{
    struct roast_summary *summary = study->summary;
    size_t tail = roast__table_open(summary, "tail", ROAST_TABLE_SINGLE, tail_columns,
                                    sizeof(tail_columns) / sizeof(tail_columns[0]));
    size_t stragglers =
        roast__table_open(summary, "stragglers", ROAST_TABLE_LIST, columns, COLUMNS);
    struct looking looking = {.study = study};
    bool done = choose_call(&looking);

    if (done && looking.chunks == 0) {
        roast__summary_miss(summary, "tail", "no chunk ended well");
    } else if (done) {
        done = find_tail(&looking);
        if (done)
            put_tail(&looking, tail);
        done = done && find_stragglers(&looking, stragglers);
    }
    summary->failed |= !done;
    roast__calls_release(&looking.calls);
}
