/* SPDX-License-Identifier: BSD-3-Clause */
/* perfetto.c - the run as a trace for ui.perfetto.dev.
 *
 *     process "run: <processor>"  the client: calls of the Runner and what is in them;
 *                                 counters of the whole run
 *     process per host            its workers: joins and leaves, memory, CPU
 *       worker
 *         thread                  attempts, in each the slices of its ladder
 *           process() and sections
 *         other tasks             what else a scheduler ran there
 *
 * An attempt knows how long each slice of its ladder took, and not when: they are laid out
 * one after the other in the order of the list, and their category says so. Attempts,
 * process(), sections and tasks are where they were measured.
 *
 * Slices of a track must lie inside each other. Attempts of a thread may overlap, by the
 * inaccuracy of clocks, or because the thread is not known: a thread gets another track
 * (lane) then, which the viewer shows as one with the first. */
#include <math.h>
#include <stdio.h>

#include "analyze/budget/task_joins.h"
#include "analyze/formulas.h"
#include "analyze/key_table.h"
#include "analyze/totals/task_kinds.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/str.h"
#include "export/export.h"
#include "export/perfetto_packets.h"
#include "export/trace.h"
#include "roast/version.h"

/* A new clock begins after so much time at the earliest: below 2^35 ns, which are 34 s, a
 * time takes five bytes. */
static const int64_t CLOCK_NS = INT64_C(30000000000);

enum {
    FLUSH_BYTES = 1 << 16,
    ATTEMPT_CLOCKS = 60,
    MOST_LANES_TRIED = 1000, /* a broken file may have all attempts at once */
    UNKNOWN_THREAD = -1,
    OTHER_TASKS = -2,
    UNKNOWN_HOST = -2, /* ROAST_NO_STRING is the host of the client */
};

/* A track, and when its last slice ends. */
struct lane {
    uint64_t track;
    uint64_t sections; /* track below it; 0: not made yet */
    int64_t free_ns;
    size_t next; /* of the same thread; 0: none, else its number + 1 */
};

/* The key tables give the number of a track, `threads` of a lane. */
struct writer {
    struct roast__export *out;
    struct roast__packets packets;
    struct roast__fact_sink facts; /* into the packets */
    struct roast__trace trace;
    int64_t next_clock_ns;            /* an attempt from then on begins one */
    uint64_t run;                     /* process of the client */
    struct roast_key_table hosts;     /* by the number of their name in the run */
    struct roast_string_table names;  /* of workers */
    struct roast_key_table workers;   /* by the number of their name in `names` */
    struct roast_key_table processes; /* by their number in the run: their worker */
    struct roast_key_table threads;   /* by worker and thread: first lane + 1 */
    struct lane *lanes;               /* owned */
    size_t lane_count;
    size_t lane_cap;
    unsigned char *task_kinds; /* owned */
    size_t task_count;
    size_t session_count;
    struct roast_task_joins joins;
    const roast_table *table; /* borrowed; of samples, below */
    size_t series;            /* of the table, in `sampled` */
    struct roast_str worker;  /* of the row before */
    uint64_t counter;
    bool failed; /* out of memory */
};

/* ---- tracks ---------------------------------------------------------------------- */

/* The value of a key, 0 if it is new; NULL when out of memory. */
static uint64_t *value_of(struct writer *to, struct roast_key_table *table, uint64_t a,
                          uint64_t b)
{
    int64_t number =
        roast__key_number(table, (struct roast_key){.a = a, .b = b}, ROAST_NO_HINT);

    to->failed |= number < 0;
    return number < 0 ? NULL : (uint64_t *)table->values + number;
}

/* A process without a host was forked on that of the client. */
static uint64_t track_of_host(struct writer *to, int32_t host)
{
    const struct roast_run *run = to->trace.run;
    int32_t number = host == ROAST_NO_STRING ? run->host : host;
    uint64_t *track = value_of(to, &to->hosts, (uint32_t)number, 0);

    if (!track || *track != 0)
        return track ? *track : 0;
    struct roast_str name = roast__strings_get(&run->strings, number);
    *track = roast__packet_process(&to->packets,
                                   name.data ? name : roast_str_of("unknown host"));
    return *track;
}

/* A worker is on the host that is given at first. */
static uint64_t track_of_worker(struct writer *to, struct roast_str name, int32_t host)
{
    int32_t number = roast__strings_put(&to->names, name);
    uint64_t *track =
        number < 0 ? NULL : value_of(to, &to->workers, (uint64_t)number, 0);

    if (!track || *track != 0) {
        to->failed |= !track;
        return track ? *track : 0;
    }
    return *track = roast__packet_track(&to->packets, track_of_host(to, host), name);
}

static uint64_t track_of_process(struct writer *to, int32_t process)
{
    const struct roast_run *run = to->trace.run;
    uint64_t *track = value_of(to, &to->processes, (uint64_t)process, 0);
    struct roast_buf room = {0};

    if (!track || *track != 0)
        return track ? *track : 0;
    struct roast_str name = roast__worker_key(run, (size_t)process, &room);
    *track = track_of_worker(to, name, run->attempts.processes[process].host);
    roast__buf_release(&room);
    return *track;
}

static size_t new_lane(struct writer *to, uint64_t worker, int64_t thread)
{
    char room[32] = "other tasks";
    struct lane *lanes = roast__array_room(to->lanes, &to->lane_cap, to->lane_count,
                                           sizeof(to->lanes[0]));

    if (!lanes) {
        to->failed = true;
        return 0;
    }
    to->lanes = lanes;
    if (thread >= 0)
        (void)snprintf(room, sizeof(room), "thread %lld", (long long)thread);
    else if (thread == UNKNOWN_THREAD)
        (void)snprintf(room, sizeof(room), "thread");
    lanes[to->lane_count] = (struct lane){
        .track = roast__packet_track(&to->packets, worker, roast_str_of(room)),
        .free_ns = INT64_MIN};
    return ++to->lane_count;
}

/* A lane of the thread that is free at this time; NULL when out of memory. */
static struct lane *find_lane(struct writer *to, uint64_t worker, int64_t thread,
                              int64_t start_ns)
{
    uint64_t *first = value_of(to, &to->threads, worker, (uint64_t)thread);
    size_t at = first ? (size_t)*first : 0;

    for (int tried = 0; at != 0 && tried < MOST_LANES_TRIED; tried++) {
        if (to->lanes[at - 1].free_ns <= start_ns)
            return &to->lanes[at - 1];
        at = to->lanes[at - 1].next;
    }
    at = first ? new_lane(to, worker, thread) : 0;
    if (at == 0)
        return NULL;
    if (*first == 0) {
        *first = at;
    } else { /* behind the first one, which is tried first */
        to->lanes[at - 1].next = to->lanes[*first - 1].next;
        to->lanes[*first - 1].next = at;
    }
    return &to->lanes[at - 1];
}

/* ---- slices ---------------------------------------------------------------------- */

/* The caller adds arguments and finishes it. */
static void begin(struct writer *to, uint64_t track, int64_t time_ns,
                  const char *category, struct roast_str name)
{
    roast__packet_event(&to->packets, ROAST_EVENT_BEGIN, track, time_ns);
    roast__packet_name(&to->packets, category, name);
}

static void end(struct writer *to, uint64_t track, int64_t time_ns)
{
    roast__packet_event(&to->packets, ROAST_EVENT_END, track, time_ns);
    roast__packet_finish(&to->packets);
}

static void instant(struct writer *to, uint64_t track, int64_t time_ns,
                    const char *category, struct roast_str name)
{
    roast__packet_event(&to->packets, ROAST_EVENT_INSTANT, track, time_ns);
    roast__packet_name(&to->packets, category, name);
}

/* ---- attempts -------------------------------------------------------------------- */

/* The slices of the ladder, unless they are longer than the attempt: then they cannot be
 * right. */
static void put_ladder(struct writer *to, uint64_t track)
{
    const struct roast__trace_attempt *now = &to->trace.now;
    uint64_t left_ns = (uint64_t)(now->end_ns - now->listed->start_ns);
    int64_t time_ns = now->listed->start_ns;

    for (int i = 0; i < ROAST_SLICE_COUNT; i++) {
        if (roast_ladder_has(&now->ladder, (enum roast_ladder_item)i)) {
            if (now->ladder.values[i] > left_ns)
                return;
            left_ns -= now->ladder.values[i];
        }
    }
    for (int i = 0; i < ROAST_SLICE_COUNT; i++) {
        enum roast_ladder_item item = (enum roast_ladder_item)i;
        if (!roast_ladder_has(&now->ladder, item) || now->ladder.values[item] == 0)
            continue;
        begin(to, track, time_ns, "ladder (shares, not moments)",
              roast_str_of(roast_ladder_info(item)->shown));
        roast__packet_finish(&to->packets);
        time_ns += (int64_t)now->ladder.values[item];
        end(to, track, time_ns);
    }
}

static void put_sections(struct writer *to, struct lane *lane)
{
    const struct roast__trace_attempt *now = &to->trace.now;
    const struct roast__trace_section *sections = now->sections;
    int open = -1;

    if (lane->sections == 0)
        lane->sections = roast__packet_track(&to->packets, lane->track,
                                             roast_str_of("process() and sections"));
    begin(to, lane->sections, now->process_start_ns, "process",
          roast_str_of("process()"));
    roast__packet_finish(&to->packets);
    for (int i = 0; i < now->section_count; i++) {
        for (; open != sections[i].parent; open = sections[open].parent)
            end(to, lane->sections, sections[open].end_ns);
        begin(to, lane->sections, sections[i].start_ns, "section", sections[i].name);
        roast__packet_finish(&to->packets);
        open = i;
    }
    for (; open >= 0; open = sections[open].parent)
        end(to, lane->sections, sections[open].end_ns);
    end(to, lane->sections, now->process_end_ns);
}

static void put_failure(struct writer *to, uint64_t track, int64_t time_ns)
{
    const struct roast__trace_attempt *now = &to->trace.now;

    instant(to, track, time_ns, "failure", roast_str_of(now->status));
    if (now->error_type.data)
        roast__packet_text(&to->packets, "error_type", now->error_type);
    roast__packet_finish(&to->packets);
}

/* Begins a clock for this attempt and those after it. */
static void put_clock(struct writer *to, int64_t start_ns)
{
    const struct roast__trace *trace = &to->trace;
    int64_t whole_ns =
        roast__sat_sub(trace->list[trace->count - 1].start_ns, trace->list[0].start_ns);
    int64_t each_ns =
        whole_ns / ATTEMPT_CLOCKS > CLOCK_NS ? whole_ns / ATTEMPT_CLOCKS : CLOCK_NS;

    roast__packets_clock(&to->packets, start_ns);
    to->next_clock_ns = roast__sat_add(start_ns, each_ns);
}

static void put_attempt(struct writer *to, size_t i)
{
    const struct roast__trace_attempt *now = &to->trace.now;
    int64_t start_ns = to->trace.list[i].start_ns;
    int64_t thread = UNKNOWN_THREAD;

    if (i == 0 || start_ns >= to->next_clock_ns)
        put_clock(to, start_ns);
    roast__trace_read(&to->trace, i);
    if (roast_record_has(&now->record, ROAST_FIELD_thread) &&
        now->record.values[ROAST_FIELD_thread].u64 <= INT64_MAX)
        thread = (int64_t)now->record.values[ROAST_FIELD_thread].u64;
    bool ended = now->end_ns >= start_ns;
    int32_t process = to->trace.run->attempts.process[now->listed->row];
    struct lane *lane = find_lane(to, track_of_process(to, process), thread, start_ns);
    if (!lane)
        return;
    begin(to, lane->track, start_ns, "attempt",
          now->dataset.data ? now->dataset : roast_str_of("chunk"));
    roast__trace_facts(&to->trace, &to->facts);
    roast__trace_ladder(&to->trace, ROAST_LADDER_TIME, &to->facts);
    if (now->retry_of >= 0)
        roast__packet_flow(&to->packets, (uint64_t)now->retry_of + 1, false);
    if (now->failed)
        roast__packet_flow(&to->packets, i + 1, true);
    roast__packet_finish(&to->packets);
    lane->free_ns = INT64_MAX;
    if (ended) {
        put_ladder(to, lane->track);
        end(to, lane->track, now->end_ns);
        lane->free_ns = now->end_ns;
    }
    if (now->failed)
        put_failure(to, lane->track, ended ? now->end_ns : start_ns);
    if (now->process_end_ns >= now->process_start_ns)
        put_sections(to, lane);
}

/* ---- what a scheduler reports ---------------------------------------------------- */

static void put_session(struct writer *to, size_t i)
{
    const struct roast_run *run = to->trace.run;
    const struct roast_worker_session *session = &run->scheduler.sessions.items[i];
    uint64_t track = track_of_worker(
        to, roast__strings_get(&run->strings, session->worker), session->host);

    instant(to, track, session->joined_ns, "worker", roast_str_of("joined"));
    roast__packet_number(&to->packets, "threads", (int64_t)session->threads);
    roast__packet_finish(&to->packets);
    if (session->left_ns == 0)
        return;
    instant(to, track, session->left_ns, "worker",
            roast_str_of(session->expected ? "left" : "lost"));
    if (session->reason != ROAST_NO_STRING)
        roast__packet_text(&to->packets, "reason",
                           roast__strings_get(&run->strings, session->reason));
    roast__packet_finish(&to->packets);
}

/* A task that was not an attempt; one that never ran is not shown. */
static void put_task(struct writer *to, size_t i)
{
    const struct roast_run *run = to->trace.run;
    const struct roast_tasks *tasks = &run->scheduler.tasks;
    int64_t start_ns = tasks->start_ns[i], stop_ns = tasks->stop_ns[i];
    int64_t time_ns = start_ns > 0 ? start_ns : stop_ns;
    bool is_slice = start_ns > 0 && stop_ns >= start_ns;
    const char *kind = roast_task_kind_name((enum roast_task_kind)to->task_kinds[i]);
    unsigned status = tasks->end[i] & ~(unsigned)ROAST_TASK_OURS;
    struct roast_str prefix = roast__strings_get(&run->strings, tasks->prefix[i]);
    struct roast_str worker = roast__strings_get(&run->strings, tasks->worker[i]);

    if (to->joins.has_row[i] || time_ns <= 0)
        return;
    struct lane *lane =
        find_lane(to, worker.data ? track_of_worker(to, worker, UNKNOWN_HOST) : to->run,
                  OTHER_TASKS, time_ns);
    if (!lane)
        return;
    if (is_slice)
        begin(to, lane->track, time_ns, "task",
              prefix.data ? prefix : roast_str_of(kind));
    else
        instant(to, lane->track, time_ns, "task",
                prefix.data ? prefix : roast_str_of(kind));
    roast__packet_text(&to->packets, "kind", roast_str_of(kind));
    roast__packet_text(&to->packets, "status",
                       roast_str_of(roast_task_end_name(status)));
    if (start_ns > 0 && tasks->assigned_ns[i] > 0 && tasks->assigned_ns[i] <= start_ns)
        roast__packet_number(&to->packets, "waited_ns",
                             start_ns - tasks->assigned_ns[i]);
    roast__packet_finish(&to->packets);
    if (is_slice)
        end(to, lane->track, stop_ns);
    lane->free_ns = is_slice ? stop_ns : time_ns;
}

/* ---- the client ------------------------------------------------------------------ */

static const struct {
    enum roast_mark begin;
    enum roast_mark end;
    const char *name;
} client_work[] = {
    {ROAST_MARK_RUN_BEGIN, ROAST_MARK_RUN_END, "Runner.run"},
    {ROAST_MARK_PREPROCESS_BEGIN, ROAST_MARK_PREPROCESS_END, "preprocessing"},
    {ROAST_MARK_POSTPROCESS_BEGIN, ROAST_MARK_POSTPROCESS_END, "postprocess()"},
    {ROAST_MARK_POOL_STOP_BEGIN, ROAST_MARK_POOL_STOP_END, "pool stop"},
    {ROAST_MARK_OWN_BEGIN, ROAST_MARK_OWN_END, "roastcoffea"},
};

enum {
    KINDS_OF_WORK = sizeof(client_work) / sizeof(client_work[0]),
    MOST_OPEN = 16, /* in a sound run at most one of each kind */
};

/* Marks as slices; one whose end is missing ends with what it lies in. */
static void put_marks(struct writer *to, uint64_t track)
{
    const struct roast_run *run = to->trace.run;
    int open[MOST_OPEN], depth = 0;

    for (size_t i = 0; i < run->moment_count; i++) {
        const struct roast_moment *moment = &run->moments[i];
        if (moment->mark == ROAST_MARK_POOL_START) {
            instant(to, track, moment->time_ns, "client", roast_str_of("pool start"));
            roast__packet_finish(&to->packets);
        }
        for (int kind = 0; kind < KINDS_OF_WORK; kind++) {
            int level = depth;
            if (moment->mark == client_work[kind].begin && depth < MOST_OPEN) {
                begin(to, track, moment->time_ns, "client",
                      roast_str_of(client_work[kind].name));
                roast__packet_finish(&to->packets);
                open[depth++] = kind;
            }
            if (moment->mark != client_work[kind].end)
                continue;
            while (level > 0 && open[level - 1] != kind)
                level--;
            for (; level > 0 && depth >= level; depth--)
                end(to, track, moment->time_ns);
        }
    }
    for (; run->end_ns != 0 && depth > 0; depth--)
        end(to, track, run->end_ns);
}

static void put_note(struct writer *to, const char *name)
{
    char text[512];

    if (roast_run_note(to->trace.run, ROAST_NOTES_run, name, text, sizeof(text)) >= 0)
        roast__packet_text(&to->packets, name, roast_str_of(text));
}

static void put_client(struct writer *to)
{
    roast_run *run = to->trace.run;
    struct roast_span span = roast_run_span(run);
    char processor[256] = "", name[300];

    roast__packets_clock(&to->packets, span.start_ns);
    (void)roast_run_note(run, ROAST_NOTES_run, "processor", processor,
                         sizeof(processor));
    (void)snprintf(name, sizeof(name), "run: %s", processor);
    to->run = roast__packet_process(&to->packets, roast_str_of(name));
    uint64_t track = roast__packet_track(&to->packets, to->run, roast_str_of("client"));
    begin(to, track, span.start_ns, "run", roast_str_of("run"));
    put_note(to, "id");
    put_note(to, "processor");
    put_note(to, "executor");
    roast__packet_text(&to->packets, "state",
                       roast_str_of(roast_run_state_name(roast_run_state(run))));
    roast__packet_text(&to->packets, "writer",
                       roast_str_of("roastcoffea " ROAST_VERSION));
    if (to->trace.without_start > 0)
        roast__packet_number(&to->packets, "attempts_without_start",
                             (int64_t)to->trace.without_start);
    roast__packet_finish(&to->packets);
    roast__run_lock(run);
    put_marks(to, track);
    roast__run_unlock(run);
    if (span.end_ns != 0)
        end(to, track, span.end_ns);
}

/* ---- counters -------------------------------------------------------------------- */

static void put_value(struct writer *to, uint64_t track, int64_t time_ns, double value)
{
    if (!isfinite(value) || time_ns < 0)
        return;
    roast__packet_event(&to->packets, ROAST_EVENT_COUNTER, track, time_ns);
    roast__packet_value(&to->packets, value);
    roast__packet_finish(&to->packets);
}

/* The whole run, in steps of the table `timeline`. */
static void put_timeline(struct writer *to, const roast_table *table)
{
#define AT(name) ROAST_COL_timeline_##name
    static const struct {
        int col;
        bool is_rate; /* an amount per step */
        const char *name;
        const char *unit;
    } counters[] = {
        {AT(workers), false, "workers", "workers"},
        {AT(threads), false, "threads", "threads"},
        {AT(running), false, "running attempts", "attempts"},
        {AT(memory_bytes), false, "memory of workers", "bytes"},
        {AT(cpu_percent), false, "CPU of workers", "%"},
        {AT(events), true, "events per second", "1/s"},
        {AT(bytes), true, "bytes read per second", "bytes/s"},
    };

    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        uint64_t track = roast__packet_counter(&to->packets, to->run, counters[i].name,
                                               counters[i].unit);
        for (size_t row = 0; row < roast_table_rows(table); row++) {
            int64_t time_ns;
            double value = roast_table_number(table, row, counters[i].col);
            if (counters[i].is_rate)
                value /= roast_table_number(table, row, AT(length));
            if (roast_table_int(&time_ns, table, row, AT(start)))
                put_value(to, track, time_ns, value);
        }
    }
#undef AT
}

/* The series that are shown of every worker. */
static const struct {
    enum roast_series series;
    const char *name;
    const char *unit;
} sampled[] = {
    {ROAST_SERIES_memory, "memory", "bytes"},
    {ROAST_SERIES_cpu, "CPU", "%"},
    {ROAST_SERIES_client_memory, "memory of the client", "bytes"},
    {ROAST_SERIES_gpu_utilization, "GPU utilization", "%"},
    {ROAST_SERIES_gpu_memory, "GPU memory", "bytes"},
    {ROAST_SERIES_gpu_power, "GPU power", "W"},
    {ROAST_SERIES_gpu_process_memory, "GPU memory", "bytes"},
};

/* The columns of a table of one series. */
enum {
    SAMPLE_WORKER = ROAST_COL_samples_worker,
    SAMPLE_TIME,
    SAMPLE_VALUE,
};

/* What has no attempts or sessions has a host only if it is a process or GPU of this
 * machine. */
static uint64_t track_of_sampled(struct writer *to, struct roast_str worker)
{
    bool is_local =
        roast__str_begins(worker, "pid-") || roast__str_begins(worker, "gpu-");

    if (!worker.data)
        return to->run;
    return track_of_worker(to, worker, is_local ? ROAST_NO_STRING : UNKNOWN_HOST);
}

static void put_sample(struct writer *to, size_t row)
{
    struct roast_str worker = roast_table_text(to->table, row, SAMPLE_WORKER);
    int64_t time_ns;

    if (row == 0 || !roast__str_equal(worker, to->worker))
        to->counter =
            roast__packet_counter(&to->packets, track_of_sampled(to, worker),
                                  sampled[to->series].name, sampled[to->series].unit);
    to->worker = worker;
    if (roast_table_int(&time_ns, to->table, row, SAMPLE_TIME))
        put_value(to, to->counter, time_ns,
                  roast_table_number(to->table, row, SAMPLE_VALUE));
}

/* ---- all ------------------------------------------------------------------------- */

static void flush(struct writer *to)
{
    struct roast_buf *out = &to->packets.out;

    roast__export_put(to->out, out->data, out->size_bytes);
    out->size_bytes = 0;
}

/* Puts the items of a list, while the run is locked, and writes while it is not. */
static void put_each(struct writer *to, size_t count,
                     void (*put)(struct writer *to, size_t item))
{
    for (size_t i = 0; i < count; i++) {
        roast__run_lock(to->trace.run);
        put(to, i);
        roast__run_unlock(to->trace.run);
        to->failed |= to->trace.out_of_memory || !roast__packets_ok(&to->packets);
        if (to->failed || to->out->failure.code != ROAST_OK)
            return;
        if (to->packets.out.size_bytes > FLUSH_BYTES)
            flush(to);
    }
}

/* Opens what is read in one piece. */
static int open_all(struct writer *to, roast_error *err)
{
    roast_run *run = to->out->run;
    int status = roast__trace_open(&to->trace, run, err);

    if (status < 0)
        return status;
    roast__run_lock(run);
    to->task_kinds = roast__task_kinds(run);
    to->task_count = run->scheduler.tasks.count;
    to->session_count = run->scheduler.sessions.count;
    bool done = to->task_kinds && roast__task_joins_find(&to->joins, run);
    roast__run_unlock(run);
    return done ? ROAST_OK : roast_error_set(err, ROAST_NO_MEMORY, "a list of tasks");
}

static int put_counters(struct writer *to, roast_error *err)
{
    roast_run *run = to->trace.run;
    roast_table *table = NULL;
    int status = roast_run_table(&table, ROAST_TABLE_timeline, run, NULL, err);

    if (status == ROAST_OK)
        put_timeline(to, table);
    roast_table_free(table);
    for (size_t i = 0; status == ROAST_OK && i < sizeof(sampled) / sizeof(sampled[0]);
         i++) {
        status = roast_series_table(&table, run, sampled[i].series, err);
        if (status < 0)
            return status;
        to->table = table;
        to->series = i;
        put_each(to, roast_table_rows(table), put_sample);
        roast_table_free(table);
    }
    return status;
}

static void release(struct writer *to)
{
    roast__packets_release(&to->packets);
    roast__trace_release(&to->trace);
    roast__key_table_release(&to->hosts);
    roast__strings_release(&to->names);
    roast__key_table_release(&to->workers);
    roast__key_table_release(&to->processes);
    roast__key_table_release(&to->threads);
    roast__task_joins_release(&to->joins);
    roast__free(to->lanes);
    roast__free(to->task_kinds);
    roast__free(to);
}

int roast__export_perfetto(struct roast__export *in, roast_error *err)
{
    struct writer *to = roast__alloc(sizeof(*to));

    if (!to)
        return roast_error_set(err, ROAST_NO_MEMORY, "a trace");
    to->out = in;
    to->facts = (struct roast__fact_sink){roast__packet_number, roast__packet_text,
                                          &to->packets};
    to->hosts.value_bytes = to->workers.value_bytes = to->processes.value_bytes =
        to->threads.value_bytes = sizeof(uint64_t);
    int status = open_all(to, err);
    if (status == ROAST_OK) {
        put_client(to);
        put_each(to, to->session_count, put_session);
        put_each(to, to->trace.count, put_attempt);
        roast__packets_first_clock(&to->packets);
        put_each(to, to->task_count, put_task);
        status = put_counters(to, err);
        flush(to);
    }
    if (status == ROAST_OK && to->failed)
        status = roast_error_set(err, ROAST_NO_MEMORY, "a trace of %zu attempts",
                                 to->trace.count);
    release(to);
    return status;
}
