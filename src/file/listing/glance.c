/* SPDX-License-Identifier: BSD-3-Clause */
/* glance.c - what a list of runs shows: one row of a finished file.
 *
 * It is read without SQLite where it is sealed: a folder may have ten thousand runs. A
 * live file has no such row: where it is small all of it is read, once, and its numbers
 * are computed; that takes some times its bytes of memory, so threads share one allowance
 * of bytes. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "file/runfile.h"
#include "file/sqlite/seal.h"

enum { SMALL_LIVE_BYTES = 64 << 20 };

/* ---- finished files ---------------------------------------------------------------- */

static double number_of(const struct roast_sql_value *value)
{
    double number = value->type == ROAST_SQL_INTEGER ? (double)value->integer
                    : value->type == ROAST_SQL_REAL  ? value->real
                                                     : -1;

    return number >= 0 && number < 1e300 ? number : -1;
}

static void copy_text(char *out, size_t out_bytes, const struct roast_sql_value *value)
{
    struct roast_str text = roast_str_cut(value->text, out_bytes - 1);

    if (text.size_bytes > 0)
        memcpy(out, text.data, text.size_bytes);
    out[text.size_bytes] = '\0';
}

static void fill(struct roast_glance *out, const struct roast_sql_value *row)
{
    out->start_ns = row[ROAST_RUN_start_ns].integer;
    out->wall_s = number_of(&row[ROAST_RUN_wall_s]);
    out->events = number_of(&row[ROAST_RUN_events]);
    out->chunks = number_of(&row[ROAST_RUN_chunks]);
    out->failed = number_of(&row[ROAST_RUN_failed]);
    out->event_rate = number_of(&row[ROAST_RUN_event_rate]);
    copy_text(out->id, sizeof(out->id), &row[ROAST_RUN_run_id]);
    copy_text(out->state, sizeof(out->state), &row[ROAST_RUN_state]);
    copy_text(out->processor, sizeof(out->processor), &row[ROAST_RUN_processor]);
    copy_text(out->executor, sizeof(out->executor), &row[ROAST_RUN_executor]);
    copy_text(out->labels, sizeof(out->labels), &row[ROAST_RUN_labels]);
    out->labels_whole = row[ROAST_RUN_label_count].type == ROAST_SQL_INTEGER &&
                        row[ROAST_RUN_labels].text.size_bytes == strlen(out->labels);
}

static void fill_checked(struct roast_glance *out, const struct roast_checked *in)
{
    struct roast_sql_value row[ROAST_RUN_COLUMN_COUNT] = {{.type = ROAST_SQL_NULL}};

    for (int i = 0; i < ROAST_RUN_COLUMN_COUNT; i++) {
        const char *name = roast__run_column_name((enum roast_run_column)i);
        int column = roast__checked_column(in, name);
        if (column >= 0)
            row[i] = roast__sql_value(in->select, column);
    }
    fill(out, row);
}

static int read_row(struct roast_glance *out, sqlite3 *db, roast_error *err)
{
    struct roast_checked in;
    int status = roast__checked_open(&in, db, "run", err);

    if (status == ROAST_OK)
        status = roast__checked_next(&in, err);
    if (status > 0)
        fill_checked(out, &in);
    else if (status == 0)
        status =
            roast_error_set(err, ROAST_BAD_CHECKSUM, "the row of the run is damaged");
    roast__checked_close(&in);
    return status < 0 ? status : ROAST_OK;
}

/* A millisecond of work, most of it for the schema. */
static int ask_sqlite(struct roast_glance *out, const char *path,
                      const struct roast_look *look, roast_error *err)
{
    sqlite3 *db = NULL;
    uint64_t budget;
    int status = roast__sql_open(&db, path, look->file_bytes, &budget, err);

    if (status == ROAST_OK)
        status = roast__schema_check(db, err);
    if (status == ROAST_OK)
        status = read_row(out, db, err);
    roast__sql_close(db);
    return status;
}

static int glance_at_finished(struct roast_glance *out, const char *path, int fd,
                              const struct roast_look *look, roast_error *err)
{
    struct roast_sql_value row[ROAST_RUN_COLUMN_COUNT];
    unsigned char page[ROAST_SEAL_PAGE_BYTES];
    int sealed = roast__seal_read(row, page, fd, look, err);

    if (sealed == 0)
        return ask_sqlite(out, path, look, err);
    if (sealed > 0)
        fill(out, row);
    return sealed < 0 ? sealed : ROAST_OK;
}

/* ---- live files -------------------------------------------------------------------- */

/* Bytes of live files that are read for their numbers now, by all threads together. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t bytes;
} in_flight = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void take_room(uint64_t bytes)
{
    (void)pthread_mutex_lock(&in_flight.lock);
    while (in_flight.bytes + bytes > SMALL_LIVE_BYTES)
        (void)pthread_cond_wait(&in_flight.changed, &in_flight.lock);
    in_flight.bytes += bytes;
    (void)pthread_mutex_unlock(&in_flight.lock);
}

static void give_room(uint64_t bytes)
{
    (void)pthread_mutex_lock(&in_flight.lock);
    in_flight.bytes -= bytes;
    (void)pthread_cond_broadcast(&in_flight.changed);
    (void)pthread_mutex_unlock(&in_flight.lock);
}

static void copy_note(roast_run *run, const char *name, char *out, size_t out_bytes)
{
    (void)roast_run_note(run, ROAST_NOTES_run, name, out, out_bytes);
}

static void fill_words(struct roast_glance *out, roast_run *run)
{
    out->live = true;
    out->start_ns = roast_run_span(run).start_ns;
    (void)snprintf(out->state, sizeof(out->state), "%s",
                   roast_run_state_name(roast_run_state(run)));
    copy_note(run, "id", out->id, sizeof(out->id));
    copy_note(run, "processor", out->processor, sizeof(out->processor));
    copy_note(run, "executor", out->executor, sizeof(out->executor));
    out->labels_whole = roast_run_labels(run, out->labels, sizeof(out->labels)) >= 0;
}

static double value_of(const roast_summary *summary, enum roast_metric metric)
{
    const struct roast_metric_values *values = roast_summary_metrics(summary);

    return values->known[metric] ? values->value[metric] : -1;
}

static int fill_numbers(struct roast_glance *out, roast_run *run, roast_error *err)
{
    roast_summary *summary = NULL;
    int status = roast_summarize(&summary, run, err);

    if (status == ROAST_OK) {
        double rate_khz = value_of(summary, ROAST_METRIC_event_rate_wall_khz);
        out->wall_s = value_of(summary, ROAST_METRIC_wall_time);
        out->events = value_of(summary, ROAST_METRIC_total_events);
        out->chunks = value_of(summary, ROAST_METRIC_num_successful_chunks);
        out->failed = value_of(summary, ROAST_METRIC_num_failed_or_lost);
        out->event_rate = rate_khz >= 0 ? rate_khz * 1000 : -1;
    }
    roast_summary_free(summary);
    return status;
}

/* Closes the file. */
static int glance_at_live(struct roast_glance *out, const struct roast_live_file *file,
                          roast_error *err)
{
    struct roast_live_reading seen;
    roast_run *run = NULL;
    int status = roast__live_read_open(&run, file, &seen, err);

    if (status == ROAST_OK && !file->notes_only)
        status = fill_numbers(out, run, err);
    if (status == ROAST_OK)
        fill_words(out, run);
    roast_run_free(run);
    return status;
}

/* Closes the file. It may grow while others are waited for: what it had before counts. */
static int glance_in_turn(struct roast_glance *out, struct roast_live_file *file,
                          const struct roast_look *look, roast_error *err)
{
    if (look->file_bytes > SMALL_LIVE_BYTES)
        file->notes_only = true;
    if (file->notes_only)
        return glance_at_live(out, file, err);
    take_room(look->file_bytes);
    int status = glance_at_live(out, file, err);
    give_room(look->file_bytes);
    return status;
}

/* ---- both -------------------------------------------------------------------------- */

int roast__glance(struct roast_glance *out, const char *path, bool wants_numbers,
                  roast_error *err)
{
    struct roast_look look;
    int fd;
    int status = roast__look_open(&look, &fd, path, err);

    *out = (struct roast_glance){
        .wall_s = -1, .events = -1, .chunks = -1, .failed = -1, .event_rate = -1};
    if (status < 0)
        return status;
    if (look.live) {
        struct roast_live_file file = {fd, path, !wants_numbers};
        return glance_in_turn(out, &file, &look, err);
    }
    status = glance_at_finished(out, path, fd, &look, err);
    (void)close(fd);
    return status;
}

int roast_runfile_glance(struct roast_glance *out, const char *path, roast_error *err)
{
    return roast__glance(out, path, true, err);
}
