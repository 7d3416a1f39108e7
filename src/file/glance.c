/* SPDX-License-Identifier: BSD-3-Clause */
/* glance.c - what a list of runs shows: one row of a finished file.
 *
 * A live file has no such row: its numbers are computed where it is small. */
#include <string.h>

#include "file/runfile.h"
#include "file/schema.h"

enum { SMALL_LIVE_BYTES = 64 << 20 };

/* ---- finished files ---------------------------------------------------------------- */

static int column_of(const struct roast_checked *in, enum roast_run_column column)
{
    return roast__checked_column(in, roast__run_column_name(column));
}

static double number_of(const struct roast_checked *in, enum roast_run_column column)
{
    int at = column_of(in, column);
    int type = at >= 0 ? sqlite3_column_type(in->select, at) : SQLITE_NULL;

    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        return -1;
    double value = sqlite3_column_double(in->select, at);
    return value >= 0 && value < 1e300 ? value : -1;
}

static void copy_text(char *out, size_t out_bytes, const struct roast_checked *in,
                      enum roast_run_column column)
{
    int at = column_of(in, column);
    struct roast_str text = {NULL, 0};

    if (at >= 0)
        text = roast_str_cut(roast__sql_text(in->select, at), out_bytes - 1);
    if (text.size_bytes > 0)
        memcpy(out, text.data, text.size_bytes);
    out[text.size_bytes] = '\0';
}

static void fill(struct roast_glance *out, const struct roast_checked *in)
{
    int start = column_of(in, ROAST_RUN_start_ns);

    if (start >= 0)
        out->start_ns = sqlite3_column_int64(in->select, start);
    out->wall_s = number_of(in, ROAST_RUN_wall_s);
    out->events = number_of(in, ROAST_RUN_events);
    out->chunks = number_of(in, ROAST_RUN_chunks);
    out->failed = number_of(in, ROAST_RUN_failed);
    out->event_rate = number_of(in, ROAST_RUN_event_rate);
    copy_text(out->id, sizeof(out->id), in, ROAST_RUN_run_id);
    copy_text(out->state, sizeof(out->state), in, ROAST_RUN_state);
    copy_text(out->processor, sizeof(out->processor), in, ROAST_RUN_processor);
    copy_text(out->executor, sizeof(out->executor), in, ROAST_RUN_executor);
    copy_text(out->labels, sizeof(out->labels), in, ROAST_RUN_labels);
}

static int read_row(struct roast_glance *out, sqlite3 *db, roast_error *err)
{
    struct roast_checked in;
    int status = roast__checked_open(&in, db, "run", err);

    if (status == ROAST_OK)
        status = roast__checked_next(&in, err);
    if (status > 0)
        fill(out, &in);
    else if (status == 0)
        status =
            roast_error_set(err, ROAST_BAD_CHECKSUM, "the row of the run is damaged");
    roast__checked_close(&in);
    return status < 0 ? status : ROAST_OK;
}

static int glance_at_finished(struct roast_glance *out, const char *path,
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

int roast__glance(struct roast_glance *out, const char *path, bool wants_numbers,
                  roast_error *err)
{
    struct roast_look look;
    int status = roast__look(&look, path, err);

    *out = (struct roast_glance){
        .wall_s = -1, .events = -1, .chunks = -1, .failed = -1, .event_rate = -1};
    if (status < 0)
        return status;
    if (!look.live)
        return glance_at_finished(out, path, &look, err);
    status = roast__live_glance(out, path, err);
    if (status == ROAST_OK && wants_numbers && look.file_bytes <= SMALL_LIVE_BYTES)
        status = compute(out, path, err);
    return status;
}

int roast_runfile_glance(struct roast_glance *out, const char *path, roast_error *err)
{
    return roast__glance(out, path, true, err);
}
