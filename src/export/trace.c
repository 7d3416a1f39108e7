/* SPDX-License-Identifier: BSD-3-Clause */
/* trace.c - the attempts of a run and what is inside them.
 *
 * Which attempts there are is decided when the trace is opened; their records are read one
 * by one. A section ends after those inside it, so the measured passes are sorted by start
 * before it is known which lies in which. */
#include "export/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/timeline.h"
#include "base/mem.h"

/* Keeps those with a start; a broken file may have one before 1970. */
static void drop_unplaced(struct roast__trace *trace, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t start_ns = trace->list[i].start_ns;
        if (start_ns >= 0 && start_ns < INT64_MAX)
            trace->list[trace->count++] = trace->list[i];
    }
    trace->without_start = count - trace->count;
}

int roast__trace_open(struct roast__trace *trace, roast_run *run, roast_error *err)
{
    struct roast_order order = {0};

    trace->run = run;
    roast__run_lock(run);
    int status = roast__order_make(&order, run, err);
    if (status == ROAST_OK)
        status = roast__roles_find(&trace->roles, run, err);
    if (status == ROAST_OK) {
        trace->list = roast__attempts_list(run, &trace->roles, &order);
        if (!trace->list || !roast__calls_find(&trace->calls, run))
            status = roast_error_set(err, ROAST_NO_MEMORY, "a list of attempts");
        else
            drop_unplaced(trace, order.count);
    }
    roast__run_unlock(run);
    roast__order_release(&order);
    return status;
}

void roast__trace_release(struct roast__trace *trace)
{
    roast__free(trace->list);
    roast__roles_release(&trace->roles);
    roast__calls_release(&trace->calls);
    roast__strings_release(&trace->retried);
    roast__free(trace->failed);
    roast__section_list_release(&trace->sections);
}

/* ---- sections -------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
    const struct roast__trace_section *left = a, *right = b;

    if (left->start_ns != right->start_ns)
        return left->start_ns < right->start_ns ? -1 : 1;
    if (left->depth != right->depth)
        return left->depth < right->depth ? -1 : 1;
    return (left->end_ns > right->end_ns) - (left->end_ns < right->end_ns);
}

/* The section that the next one lies in, found from the one before it. */
static int parent_of(const struct roast__trace_section *sections, int number)
{
    const struct roast__trace_section *own = &sections[number];
    int parent = number - 1;

    while (parent >= 0 && (sections[parent].depth >= own->depth ||
                           sections[parent].end_ns < own->start_ns))
        parent = sections[parent].parent;
    return parent;
}

static void read_sections(struct roast__trace *trace)
{
    struct roast__trace_attempt *now = &trace->now;
    struct roast_interval intervals[ROAST_SECTION_MAX_INTERVALS];
    const roast_record *rec = &now->record;
    int64_t count = 0;

    now->section_count = 0;
    if (now->process_end_ns < now->process_start_ns ||
        !roast_record_has(rec, ROAST_FIELD_intervals))
        return;
    if (!roast__record_sections(&trace->sections, rec)) {
        trace->out_of_memory = true;
        return;
    }
    count = roast_intervals_read(intervals, ROAST_SECTION_MAX_INTERVALS,
                                 rec->values[ROAST_FIELD_intervals].str, NULL);
    for (int64_t i = 0; i < count && i < ROAST_SECTION_MAX_INTERVALS; i++) {
        const struct roast_interval *from = &intervals[i];
        if (from->section >= trace->sections.count || from->start_ns > INT64_MAX ||
            from->duration_ns > INT64_MAX)
            continue;
        int64_t start_ns =
            roast__sat_add(now->process_start_ns, (int64_t)from->start_ns);
        now->sections[now->section_count++] = (struct roast__trace_section){
            .name = trace->sections.all[from->section].name,
            .start_ns = start_ns,
            .end_ns = roast__sat_add(start_ns, (int64_t)from->duration_ns),
            .depth = trace->sections.all[from->section].depth,
        };
    }
    qsort(now->sections, (size_t)now->section_count, sizeof(now->sections[0]),
          by_start);
    for (int i = 0; i < now->section_count; i++)
        now->sections[i].parent = parent_of(now->sections, i);
}

/* ---- retries --------------------------------------------------------------------- */

/* The number of the chunk of a row that has several attempts; negative: it has not, or out
 * of memory. */
static int32_t chunk_number(struct roast__trace *trace, size_t row)
{
    const struct roast_attempts *attempts = &trace->run->attempts;
    const struct roast_column *columns = attempts->columns;
    int64_t key[] = {attempts->source[row],
                     roast__column_get(&columns[ROAST_COLUMN_entry_start], row, 0),
                     roast__column_get(&columns[ROAST_COLUMN_entry_stop], row, 0)};
    int32_t number = roast__strings_put(
        &trace->retried, (struct roast_str){(const char *)key, sizeof(key)});
    int64_t *failed = number < 0 ? NULL
                                 : roast__array_room(trace->failed, &trace->failed_cap,
                                                     (size_t)number, sizeof(*failed));

    if (!failed) {
        trace->out_of_memory = true;
        return -1;
    }
    trace->failed = failed;
    return number;
}

/* The attempt that failed before attempt i at its chunk, if i is the next one. */
static int64_t failed_before(struct roast__trace *trace, size_t i, bool failed)
{
    const struct roast_retry *retry =
        roast__roles_retry(&trace->roles, trace->list[i].row);
    size_t known = trace->retried.count;
    int32_t chunk = retry ? chunk_number(trace, trace->list[i].row) : -1;

    if (chunk < 0)
        return -1;
    int64_t before = (size_t)chunk < known ? trace->failed[chunk] : -1;
    trace->failed[chunk] = failed ? (int64_t)i : -1;
    return retry->attempt > 1 ? before : -1;
}

/* ---- attempts -------------------------------------------------------------------- */

static int64_t end_of(int64_t start_ns, double seconds)
{
    double ns = seconds * 1e9;

    return ns >= 0 && ns < 0x1p62 ? roast__sat_add(start_ns, llround(ns)) : -1;
}

static struct roast_str text_of(const struct roast_run *run, int32_t number)
{
    return roast__strings_get(&run->strings, number);
}

void roast__trace_read(struct roast__trace *trace, size_t i)
{
    const struct roast_run *run = trace->run;
    const struct roast_attempts *attempts = &run->attempts;
    const struct roast_listed_attempt *listed = &trace->list[i];
    struct roast__trace_attempt *now = &trace->now;
    size_t row = listed->row;
    int32_t source = attempts->source[row];
    const struct roast_column *errors = &attempts->columns[ROAST_COLUMN_error_type];
    const struct roast_column *starts = &attempts->columns[ROAST_COLUMN_start_ns];
    const struct roast_column *lengths = &attempts->columns[ROAST_COLUMN_duration_ns];

    now->listed = listed;
    now->end_ns = end_of(listed->start_ns, listed->seconds);
    now->status = roast__role_status(run, listed->role);
    now->failed = listed->role == ROAST_ROLE_FAILED ||
                  listed->role == ROAST_ROLE_LOST ||
                  listed->role == ROAST_ROLE_CANCELLED;
    now->retry_of = failed_before(trace, i, now->failed);
    now->call = trace->calls.of_row ? trace->calls.of_row[row] : ROAST_NO_CALL;
    now->dataset = now->file = now->error_type = (struct roast_str){NULL, 0};
    if (source >= 0) {
        now->dataset = text_of(run, attempts->sources[source].dataset);
        now->file = text_of(run, attempts->sources[source].file);
    }
    if (roast__column_has(errors, row))
        now->error_type = text_of(run, (int32_t)errors->values[row]);
    (void)roast__attempt_record(run, row, &now->record, now->identity);
    roast__attempt_identity(run, row, now->identity);
    if (!roast_record_has(&now->record, ROAST_FIELD_ladder) ||
        roast_ladder_read(&now->ladder, now->record.values[ROAST_FIELD_ladder].str,
                          NULL) < 0)
        now->ladder.present = 0;
    now->process_start_ns = roast__column_get(starts, row, 0);
    now->process_end_ns = -1;
    if (roast__column_has(starts, row) && roast__column_has(lengths, row))
        now->process_end_ns =
            roast__sat_add(now->process_start_ns, lengths->values[row]);
    read_sections(trace);
}

/* ---- facts ----------------------------------------------------------------------- */

static void put_number(const struct roast__fact_sink *sink, enum roast_field field,
                       uint64_t value)
{
    if (value <= INT64_MAX)
        sink->number(sink->context, roast_field_info(field)->name, (int64_t)value);
}

static void put_text(const struct roast__fact_sink *sink, const char *name,
                     struct roast_str text)
{
    if (text.data)
        sink->text(sink->context, name, text);
}

static void put_column(const struct roast__trace *trace,
                       const struct roast__fact_sink *sink, enum roast_field field,
                       enum roast_attempt_column from)
{
    const struct roast_column *column = &trace->run->attempts.columns[from];
    size_t row = trace->now.listed->row;

    if (roast__column_has(column, row))
        sink->number(sink->context, roast_field_info(field)->name, column->values[row]);
}

void roast__trace_facts(const struct roast__trace *trace,
                        const struct roast__fact_sink *sink)
{
    static const enum roast_field numbers[] = {
        ROAST_FIELD_num_events,  ROAST_FIELD_cpu_ns,       ROAST_FIELD_task_cpu_ns,
        ROAST_FIELD_bytes_read,  ROAST_FIELD_bytes_before, ROAST_FIELD_rss_peak_bytes,
        ROAST_FIELD_output_bytes};
    static const enum roast_field texts[] = {ROAST_FIELD_error_message,
                                             ROAST_FIELD_error_section};
    const struct roast__trace_attempt *now = &trace->now;
    const roast_record *rec = &now->record;

    put_text(sink, "status", roast_str_of(now->status));
    sink->number(sink->context, "attempt", now->listed->attempt);
    if (trace->run->attempts.cold_fields[now->listed->row] != 0)
        sink->number(sink->context, "chunk_id", now->listed->chunk_id);
    if (now->call != ROAST_NO_CALL)
        sink->number(sink->context, "call", now->call + 1);
    put_text(sink, "dataset", now->dataset);
    put_text(sink, "file", now->file);
    put_column(trace, sink, ROAST_FIELD_entry_start, ROAST_COLUMN_entry_start);
    put_column(trace, sink, ROAST_FIELD_entry_stop, ROAST_COLUMN_entry_stop);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (roast_record_has(rec, numbers[i]))
            put_number(sink, numbers[i], rec->values[numbers[i]].u64);
    }
    put_text(sink, "error_type", now->error_type);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (roast_record_has(rec, texts[i]))
            put_text(sink, roast_field_info(texts[i])->name, rec->values[texts[i]].str);
    }
}

void roast__trace_ladder(const struct roast__trace *trace, enum roast_ladder_kind kind,
                         const struct roast__fact_sink *sink)
{
    const struct roast_ladder *ladder = &trace->now.ladder;
    char name[64];

    for (int i = 0; i < ROAST_ITEM_COUNT; i++) {
        const struct roast_ladder_info *info =
            roast_ladder_info((enum roast_ladder_item)i);
        if (info->kind != kind ||
            !roast_ladder_has(ladder, (enum roast_ladder_item)i) ||
            ladder->values[i] > INT64_MAX)
            continue;
        (void)snprintf(name, sizeof(name), "%s_ns", info->name);
        sink->number(sink->context, name, (int64_t)ladder->values[i]);
    }
}
