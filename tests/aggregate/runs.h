/* SPDX-License-Identifier: BSD-3-Clause */
/* runs.h - runs made by hand: seconds in, frames to the store, a summary out.
 *
 * Time 0 is the start of the run. Everything goes through the public interface, as it
 * would from workers. */
#ifndef ROAST_TESTS_AGGREGATE_RUNS_H
#define ROAST_TESTS_AGGREGATE_RUNS_H

#include <math.h>

#include "roast/aggregate.h"
#include "support.h"

#define RUN_EPOCH_NS INT64_C(1700000000000000000)
#define NS(seconds) ((int64_t)((seconds)*1e9))

/* One frame of an attempt. Zero is absent, except for `start` and the entries. */
struct frame {
    enum roast_frame_kind kind; /* 0: chunk */
    uint64_t process;           /* 0: 1 */
    uint32_t sequence;          /* 0: a new one */
    const char *dataset;        /* NULL: "ttbar" */
    const char *file;           /* NULL: "a.root"; "": none */
    const char *tree;           /* NULL: "Events"; "": none */
    uint64_t first, stop;       /* entries */
    uint64_t status;            /* 0: ok */
    double start, duration;
    double cpu;
    double task_start, task;
    uint64_t events;
    uint64_t before_mb, after_mb, peak_mb;
    bool bytes_known;
    uint64_t bytes, bytes_before;
    const char *host; /* NULL: "here" */
    uint64_t pid;     /* 0: 100 + process */
    const char *worker;
    const char *error_type, *error_message, *error_section;
    struct roast_str sections, losses, absences;
    double monitor;
    uint64_t monitor_errors;
};

static inline roast_run *run_new(void)
{
    roast_run *run = NULL;

    assert_int_equal(roast_run_new(&run, 0, RUN_EPOCH_NS, NULL), ROAST_OK);
    assert_int_equal(roast_run_set_host(run, roast_str_of("here"), NULL), ROAST_OK);
    return run;
}

static inline void set_text(roast_record *rec, enum roast_field field,
                            const char *text, const char *otherwise)
{
    text = text ? text : otherwise;
    if (text && text[0])
        roast_record_set_str(rec, field, roast_str_of(text));
}

static inline void set_count(roast_record *rec, enum roast_field field, uint64_t count)
{
    if (count > 0)
        roast_record_set_u64(rec, field, count);
}

static inline void set_seconds(roast_record *rec, enum roast_field field,
                               double seconds)
{
    if (seconds > 0)
        roast_record_set_u64(rec, field, (uint64_t)NS(seconds));
}

static inline void fill_chunk(roast_record *rec, const struct frame *frame)
{
    set_text(rec, ROAST_FIELD_dataset, frame->dataset, "ttbar");
    set_text(rec, ROAST_FIELD_file, frame->file, "a.root");
    set_text(rec, ROAST_FIELD_treename, frame->tree, "Events");
    roast_record_set_u64(rec, ROAST_FIELD_entry_start, frame->first);
    roast_record_set_u64(rec, ROAST_FIELD_entry_stop, frame->stop);
    roast_record_set_i64(rec, ROAST_FIELD_start_mono_ns, NS(frame->start));
    roast_record_set_i64(rec, ROAST_FIELD_start_epoch_ns,
                         RUN_EPOCH_NS + NS(frame->start));
    set_seconds(rec, ROAST_FIELD_duration_ns, frame->duration);
    set_seconds(rec, ROAST_FIELD_cpu_ns, frame->cpu);
    set_seconds(rec, ROAST_FIELD_monitor_ns, frame->monitor);
    set_count(rec, ROAST_FIELD_num_events, frame->events);
    set_count(rec, ROAST_FIELD_rss_before_bytes, frame->before_mb << 20);
    set_count(rec, ROAST_FIELD_rss_after_bytes, frame->after_mb << 20);
    set_count(rec, ROAST_FIELD_rss_peak_bytes, frame->peak_mb << 20);
    set_count(rec, ROAST_FIELD_monitor_errors, frame->monitor_errors);
    if (frame->bytes_known) {
        roast_record_set_u64(rec, ROAST_FIELD_bytes_read, frame->bytes);
        roast_record_set_u64(rec, ROAST_FIELD_bytes_before, frame->bytes_before);
    }
    set_text(rec, ROAST_FIELD_host, frame->host, "here");
    set_text(rec, ROAST_FIELD_worker, frame->worker, NULL);
    set_text(rec, ROAST_FIELD_error_message, frame->error_message, NULL);
    set_text(rec, ROAST_FIELD_error_section, frame->error_section, NULL);
    roast_record_set_str(rec, ROAST_FIELD_sections, frame->sections);
    roast_record_set_str(rec, ROAST_FIELD_losses, frame->losses);
    roast_record_set_str(rec, ROAST_FIELD_absences, frame->absences);
}

static inline void fill_end(roast_record *rec, const struct frame *frame)
{
    roast_record_set_i64(rec, ROAST_FIELD_task_start_mono_ns, NS(frame->task_start));
    set_seconds(rec, ROAST_FIELD_task_ns, frame->task);
    roast_record_set_i64(rec, ROAST_FIELD_end_epoch_ns,
                         RUN_EPOCH_NS + NS(frame->task_start + frame->task));
}

static inline void fill_begin(roast_record *rec, const struct frame *frame,
                              unsigned char place[ROAST_PLACE_BYTES])
{
    roast_record names = {0};

    set_text(&names, ROAST_FIELD_dataset, frame->dataset, "ttbar");
    set_text(&names, ROAST_FIELD_file, frame->file, "a.root");
    roast_record_set_u64(&names, ROAST_FIELD_entry_start, frame->first);
    roast_record_set_u64(&names, ROAST_FIELD_entry_stop, frame->stop);
    assert_true(roast_place_pack(place, &names));
    roast_record_set_str(rec, ROAST_FIELD_place, str_from(place, ROAST_PLACE_BYTES));
    roast_record_set_i64(rec, ROAST_FIELD_start_epoch_ns,
                         RUN_EPOCH_NS + NS(frame->start));
}

/* Adds a frame; out of memory is for the caller to see. */
static inline int try_frame(roast_run *run, struct frame frame)
{
    static uint32_t next_sequence = 1000;
    unsigned char identity[ROAST_IDENTITY_BYTES], place[ROAST_PLACE_BYTES];
    struct roast_identity id = {
        .run_id = {1},
        .process_id = frame.process ? frame.process : 1,
        .sequence = frame.sequence ? frame.sequence : next_sequence++,
    };
    roast_record rec = {.kind = frame.kind ? frame.kind : ROAST_FRAME_CHUNK};
    char bytes[4096];

    roast_identity_pack(identity, &id);
    roast_record_set_str(&rec, ROAST_FIELD_identity,
                         str_from(identity, sizeof(identity)));
    if (rec.kind == ROAST_FRAME_BEGIN) {
        fill_begin(&rec, &frame, place);
    } else {
        roast_record_set_u64(&rec, ROAST_FIELD_status, frame.status ? frame.status : 1);
        roast_record_set_u64(&rec, ROAST_FIELD_pid,
                             frame.pid ? frame.pid : 100 + id.process_id);
        set_text(&rec, ROAST_FIELD_error_type, frame.error_type, NULL);
    }
    if (rec.kind == ROAST_FRAME_CHUNK)
        fill_chunk(&rec, &frame);
    if (rec.kind == ROAST_FRAME_END)
        fill_end(&rec, &frame);
    int64_t size = roast_record_encode(bytes, sizeof(bytes), &rec, NULL);
    assert_true(size > 0);
    return roast_run_add_frames(run, str_from(bytes, (size_t)size), ROAST_FROM_USER,
                                NULL, NULL);
}

static inline void add_frame(roast_run *run, struct frame frame)
{
    assert_int_equal(try_frame(run, frame), ROAST_OK);
}

static inline void mark(roast_run *run, enum roast_mark what, double seconds)
{
    assert_int_equal(roast_run_mark(run, what, NS(seconds), NULL), ROAST_OK);
}

static inline void offer(roast_run *run, double seconds, uint64_t workers,
                         uint64_t threads)
{
    assert_int_equal(
        roast_run_offer(run, RUN_EPOCH_NS + NS(seconds), workers, threads, NULL),
        ROAST_OK);
}

static inline roast_summary *summary_of(roast_run *run)
{
    roast_summary *summary = NULL;

    assert_int_equal(roast_summarize(&summary, run, NULL), ROAST_OK);
    return summary;
}

/* ---- looking --------------------------------------------------------------------- */

#define assert_near(a, b) check_near((a), (b), __FILE__, __LINE__)
#define assert_metric(summary, id, value) \
    check_metric((summary), ROAST_METRIC_##id, (value), __FILE__, __LINE__)
#define assert_absent(summary, id) \
    check_absent((summary), ROAST_METRIC_##id, __FILE__, __LINE__)

static inline void check_near(double a, double b, const char *file, int line)
{
    if (fabs(a - b) <= 1e-9 * (1 + fabs(b)))
        return;
    print_error("%.17g is not %.17g\n", a, b);
    _fail(file, line);
}

static inline void check_metric(const roast_summary *summary, enum roast_metric metric,
                                double value, const char *file, int line)
{
    const struct roast_metric_values *values = roast_summary_metrics(summary);

    if (!values->known[metric]) {
        print_error("%s: %s\n", roast_metric_info(metric)->name, values->why[metric]);
        _fail(file, line);
    }
    assert_null(values->why[metric]);
    check_near(values->value[metric], value, file, line);
}

/* Gives the reason, which is never missing. */
static inline const char *check_absent(const roast_summary *summary,
                                       enum roast_metric metric, const char *file,
                                       int line)
{
    const struct roast_metric_values *values = roast_summary_metrics(summary);

    if (values->known[metric] || !values->why[metric]) {
        print_error("%s is known, or does not say why\n",
                    roast_metric_info(metric)->name);
        _fail(file, line);
    }
    return values->why[metric];
}

static inline size_t column_of(const struct roast_table *table, const char *column)
{
    size_t i = 0;

    while (i < table->column_count && strcmp(table->columns[i], column) != 0)
        i++;
    if (i == table->column_count)
        fail_msg("%s has no column %s", table->name, column);
    return i;
}

static inline const struct roast_cell *cell_at(const roast_summary *summary,
                                               const char *name, size_t row,
                                               const char *column)
{
    const struct roast_table *table = roast_summary_table(summary, name);

    assert_non_null(table);
    if (row >= table->row_count)
        fail_msg("%s has %zu rows", name, table->row_count);
    return &table->cells[row * table->column_count + column_of(table, column)];
}

/* The row of a keyed table with this key; fails where there is none. */
static inline size_t row_of(const roast_summary *summary, const char *name,
                            const char *key)
{
    const struct roast_table *table = roast_summary_table(summary, name);

    assert_non_null(table);
    for (size_t i = 0; i < table->row_count; i++) {
        if (str_is(table->cells[i * table->column_count].text, key))
            return i;
    }
    fail_msg("%s has no row %s", name, key);
    return 0;
}

static inline double number_at(const roast_summary *summary, const char *name,
                               size_t row, const char *column)
{
    const struct roast_cell *cell = cell_at(summary, name, row, column);

    if (cell->type == ROAST_CELL_COUNT || cell->type == ROAST_CELL_BOOL)
        return (double)cell->count;
    if (cell->type != ROAST_CELL_NUMBER)
        fail_msg("%s[%zu].%s is no number", name, row, column);
    return cell->number;
}

static inline struct roast_str text_at(const roast_summary *summary, const char *name,
                                       size_t row, const char *column)
{
    return cell_at(summary, name, row, column)->text;
}

static inline size_t rows_of(const roast_summary *summary, const char *name)
{
    return roast_summary_table(summary, name)->row_count;
}

#endif
