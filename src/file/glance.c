/* SPDX-License-Identifier: BSD-3-Clause */
/* glance.c - what a list of runs shows: one row of a finished file.
 *
 * It is read without SQLite where it is sealed: a folder may have ten thousand runs. A
 * live file has no such row: its numbers are computed where it is small. */
#include <string.h>
#include <unistd.h>

#include "file/runfile.h"
#include "file/seal.h"

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
    out->label_count = number_of(&row[ROAST_RUN_label_count]);
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

static double value_of(const roast_summary *summary, enum roast_metric metric)
{
    const struct roast_metric_values *values = roast_summary_metrics(summary);

    return values->known[metric] ? values->value[metric] : -1;
}

static int compute(struct roast_glance *out, const char *path, roast_error *err)
{
    struct roast_live_reading seen;
    roast_summary *summary = NULL;
    roast_run *run = NULL;
    int status = roast__live_read(&run, path, &seen, err);

    if (status == ROAST_OK)
        status = roast_summarize(&summary, run, err);
    if (status == ROAST_OK) {
        double rate_khz = value_of(summary, ROAST_METRIC_event_rate_wall_khz);
        out->wall_s = value_of(summary, ROAST_METRIC_wall_time);
        out->events = value_of(summary, ROAST_METRIC_total_events);
        out->chunks = value_of(summary, ROAST_METRIC_num_successful_chunks);
        out->failed = value_of(summary, ROAST_METRIC_num_failed_chunks);
        out->event_rate = rate_khz >= 0 ? rate_khz * 1000 : -1;
    }
    roast_summary_free(summary);
    roast_run_free(run);
    return status;
}

static int glance_at_live(struct roast_glance *out, const char *path,
                          const struct roast_look *look, bool wants_numbers,
                          roast_error *err)
{
    int status = roast__live_glance(out, path, err);

    if (status == ROAST_OK && wants_numbers && look->file_bytes <= SMALL_LIVE_BYTES)
        status = compute(out, path, err);
    return status;
}

int roast__glance(struct roast_glance *out, const char *path, bool wants_numbers,
                  roast_error *err)
{
    struct roast_look look;
    int fd;
    int status = roast__look_open(&look, &fd, path, err);

    *out = (struct roast_glance){.wall_s = -1,
                                 .events = -1,
                                 .chunks = -1,
                                 .failed = -1,
                                 .event_rate = -1,
                                 .label_count = -1};
    if (status < 0)
        return status;
    status = look.live ? glance_at_live(out, path, &look, wants_numbers, err)
                       : glance_at_finished(out, path, fd, &look, err);
    (void)close(fd);
    return status;
}

int roast_runfile_glance(struct roast_glance *out, const char *path, roast_error *err)
{
    return roast__glance(out, path, true, err);
}
