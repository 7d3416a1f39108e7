/* SPDX-License-Identifier: BSD-3-Clause */
/* run_info.c - what a list of runs shows of each: its head and its summary.
 *
 * A finished file has both. A live file has no summary: a small one is read and
 * summarized, a large one has only its notes shown. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "file/runfile.h"

enum { SMALL_LIVE_BYTES = 64 << 20 };

static void copy_note(roast_run *run, const char *name, char *out, size_t out_bytes)
{
    (void)roast_run_note(run, ROAST_NOTES_run, name, out, out_bytes);
}

static void fill_notes(struct roast_run_info *out, roast_run *run)
{
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

static void fill_numbers(struct roast_run_info *out, const roast_summary *summary)
{
    double rate_khz = value_of(summary, ROAST_METRIC_event_rate_wall_khz);

    out->wall_s = value_of(summary, ROAST_METRIC_wall_time);
    out->events = value_of(summary, ROAST_METRIC_total_events);
    out->chunks = value_of(summary, ROAST_METRIC_num_successful_chunks);
    out->failed = value_of(summary, ROAST_METRIC_num_failed_or_lost);
    out->event_rate = rate_khz >= 0 ? rate_khz * 1000 : -1;
}

/* ---- one file -------------------------------------------------------------------- */

static int visit_finished(const char *path, bool with_summary,
                          roast__run_visitor *visit, void *context, roast_error *err)
{
    const roast_summary *summary = NULL;
    roast_runfile *file = NULL;
    int status = roast_runfile_open(&file, path, err);

    if (status == ROAST_OK && with_summary)
        status = roast_runfile_summary(file, &summary, err);
    if (status == ROAST_OK)
        status = visit(context, &(struct roast_listed_run){false, file->small, summary},
                       err);
    roast_runfile_close(file);
    return status;
}

/* Closes the file. */
static int visit_live(const struct roast_live_file *file, roast__run_visitor *visit,
                      void *context, roast_error *err)
{
    struct roast_journal_reading seen;
    roast_summary *summary = NULL;
    roast_run *run = NULL;
    int status = roast__live_read_open(&run, file, &seen, err);

    if (status == ROAST_OK && !file->notes_only)
        status = roast_summarize(&summary, run, err);
    if (status == ROAST_OK)
        status = visit(context, &(struct roast_listed_run){true, run, summary}, err);
    roast_summary_free(summary);
    roast_run_free(run);
    return status;
}

int roast__run_visit(const char *path, bool with_summary, roast__run_visitor *visit,
                     void *context, roast_error *err)
{
    struct roast_header header;
    int fd;
    int status = roast__read_header(&header, &fd, path, err);

    if (status < 0)
        return status;
    if (header.live)
        return visit_live(
            &(struct roast_live_file){
                fd, path, !with_summary || header.file_bytes > SMALL_LIVE_BYTES},
            visit, context, err);
    (void)close(fd);
    return visit_finished(path, with_summary, visit, context, err);
}

/* ---- the list -------------------------------------------------------------------- */

static int fill_info(void *info, const struct roast_listed_run *listed,
                     roast_error *err)
{
    struct roast_run_info *out = info;

    (void)err;
    out->live = listed->live;
    fill_notes(out, listed->run);
    if (listed->summary)
        fill_numbers(out, listed->summary);
    return ROAST_OK;
}

int roast__run_info(struct roast_run_info *out, const char *path, bool with_numbers,
                    roast_error *err)
{
    *out = (struct roast_run_info){
        .wall_s = -1, .events = -1, .chunks = -1, .failed = -1, .event_rate = -1};
    return roast__run_visit(path, with_numbers, fill_info, out, err);
}

int roast_run_info_read(struct roast_run_info *out, const char *path, roast_error *err)
{
    return roast__run_info(out, path, true, err);
}
