/* SPDX-License-Identifier: BSD-3-Clause */
/* heading.c - what ran, where, when and how it ended, from the notes of a run. */
#include <stdio.h>

#include "roast/report.h"

static struct roast_str text_if_any(const char *text)
{
    return *text ? roast_str_of(text) : (struct roast_str){NULL, 0};
}

static void copy_note(char *out, size_t out_bytes, roast_run *run, const char *name)
{
    (void)roast_run_note(run, ROAST_NOTES_run, name, out, out_bytes);
}

const char *roast_report_ending(enum roast_origin origin, bool ended)
{
    if (origin == ROAST_IN_LIVE_FILE)
        return ended ? "finished: its run file could not be written, this is the live "
                       "file"
                     : "unfinished: still running, or its collector was killed";
    if (ended)
        return NULL;
    return origin == ROAST_IN_RUN_FILE ? "unfinished: saved before its end was known"
                                       : "still running";
}

void roast_report_heading(struct roast_heading_text *out, roast_run *run,
                          enum roast_origin origin)
{
    roast_run_labels(run, out->labels, sizeof(out->labels));
    copy_note(out->name, sizeof(out->name), run, "processor");
    copy_note(out->executor, sizeof(out->executor), run, "executor");
    copy_note(out->first_error, sizeof(out->first_error), run, "first_error");
    if (out->first_error[0] == '\0')
        roast_run_first_error(run, out->first_error, sizeof(out->first_error));
    copy_note(out->remarks, sizeof(out->remarks), run, "remarks");
    int64_t start_ns = roast_run_span(run).start_ns;
    char time[ROAST_TIME_BYTES]; /* "2025-11-15T14:02:03..." */
    *out->started = '\0';
    if (start_ns > 0 && roast_format_time(time, start_ns) > 16)
        (void)snprintf(out->started, sizeof(out->started), "%.10s %.5s UTC", time,
                       time + 11);
    const char *ending = roast_report_ending(origin, roast_run_span(run).end_ns != 0);
    char failure[440];
    copy_note(failure, sizeof(failure), run, "failure");
    enum roast_run_state state = roast_run_state(run);
    if (state == ROAST_IS_failed || state == ROAST_IS_interrupted)
        (void)snprintf(out->state, sizeof(out->state), "%s%s%s",
                       roast_run_state_name(state), *failure ? ": " : "", failure);
    else
        (void)snprintf(out->state, sizeof(out->state), "%s",
                       ending ? ending : "finished");
    out->heading = (struct roast_heading){
        .name = text_if_any(out->name),
        .executor = text_if_any(out->executor),
        .state = text_if_any(out->state),
        .started = text_if_any(out->started),
        .labels = text_if_any(out->labels),
        .first_error = text_if_any(out->first_error),
        .remarks = text_if_any(out->remarks),
        .incomplete = state != ROAST_IS_finished,
    };
}
