/* SPDX-License-Identifier: BSD-3-Clause */
/* heading.c - what ran, where, when and how it ended, from the notes of a run. */
#include <stdio.h>
#include <time.h>

#include "roast/report.h"

static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

static struct roast_str part_of(const char *text)
{
    return *text ? roast_str_of(text) : (struct roast_str){NULL, 0};
}

static void take_note(char *out, size_t out_bytes, roast_run *run, const char *name)
{
    (void)roast_run_note(run, ROAST_NOTES_run, name, out, out_bytes);
}

static void put_started(char *out, size_t out_bytes, int64_t start_ns)
{
    time_t seconds = (time_t)(start_ns / 1000000000);
    struct tm utc;

    *out = '\0';
    if (start_ns > 0 && gmtime_r(&seconds, &utc))
        (void)snprintf(out, out_bytes, "%02d %s %02d:%02d UTC", utc.tm_mday,
                       months[utc.tm_mon], utc.tm_hour, utc.tm_min);
}

static void put_state(struct roast_heading_text *out, roast_run *run,
                      bool from_live_file)
{
    char failure[440];
    const char *word = "finished";

    take_note(failure, sizeof(failure), run, "failure");
    if (*failure) {
        (void)snprintf(out->state, sizeof(out->state), "failed: %s", failure);
        return;
    }
    if (roast_run_span(run).end_ns == 0)
        word = from_live_file ? "unfinished: it goes on, or its collector was killed"
                              : "still running";
    (void)snprintf(out->state, sizeof(out->state), "%s", word);
}

struct label_line {
    char *text;
    size_t used_bytes;
    size_t cap_bytes;
};

static void add_label(void *context, struct roast_str name, struct roast_str text)
{
    struct label_line *line = context;
    size_t left = line->cap_bytes - line->used_bytes;
    int size = snprintf(line->text + line->used_bytes, left, "%s%.*s=%.*s",
                        line->used_bytes > 0 ? ", " : "", (int)name.size_bytes,
                        name.data, (int)text.size_bytes, text.data);

    if (size < 0 || (size_t)size >= left)
        line->text[line->used_bytes] = '\0'; /* whole labels only */
    else
        line->used_bytes += (size_t)size;
}

void roast_report_heading(struct roast_heading_text *out, roast_run *run,
                          bool from_live_file)
{
    struct label_line labels = {out->labels, 0, sizeof(out->labels)};

    out->labels[0] = '\0';
    roast_run_notes(run, ROAST_NOTES_label, add_label, &labels);
    take_note(out->name, sizeof(out->name), run, "processor");
    take_note(out->executor, sizeof(out->executor), run, "executor");
    take_note(out->first_error, sizeof(out->first_error), run, "first_error");
    if (out->first_error[0] == '\0')
        roast_run_first_error(run, out->first_error, sizeof(out->first_error));
    put_started(out->started, sizeof(out->started), roast_run_span(run).start_ns);
    put_state(out, run, from_live_file);
    out->heading = (struct roast_heading){
        .name = part_of(out->name),
        .executor = part_of(out->executor),
        .state = part_of(out->state),
        .started = part_of(out->started),
        .labels = part_of(out->labels),
        .first_error = part_of(out->first_error),
    };
}
