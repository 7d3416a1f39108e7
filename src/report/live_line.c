/* SPDX-License-Identifier: BSD-3-Clause */
/* live_line.c - one line for a running run.
 *
 * No allocation: a thread refreshes the line during the analysis. */
#include <math.h>
#include <stdio.h>

#include "roast/report.h"

enum { LINE_BYTES = 512 };

struct live_line {
    char text[LINE_BYTES];
    size_t used;
};

static void put_number(struct live_line *line, double value, const char *unit,
                       const char *label)
{
    int size =
        snprintf(line->text + line->used, sizeof(line->text) - line->used, "%s%s%s",
                 line->used ? " | " : "", roast_number(value, unit).text, label);
    line->used += (size_t)size; /* all parts together are shorter than a line */
}

/* Seconds to the end, if chunks go on ending as they did since the first one began; NaN:
 * not known. */
static double seconds_left(const struct roast_live_line *live)
{
    const struct roast_progress *progress = &live->progress;
    double since_s = live->seconds - progress->first_s;

    if (progress->done == 0 || progress->done >= progress->planned || !(since_s > 0))
        return NAN;
    return since_s / (double)progress->done *
           (double)(progress->planned - progress->done);
}

static void put_chunks(struct live_line *line, const struct roast_live_line *live)
{
    const struct roast_progress *progress = &live->progress;
    double left_s = seconds_left(live);
    uint64_t done = progress->done;
    char label[64] = " chunks done";

    if (progress->planned > 0 && done > progress->planned)
        done = progress->planned; /* two attempts at a chunk ended well */
    if (progress->planned > 0)
        (void)snprintf(label, sizeof(label), " of %s chunks done",
                       roast_number((double)progress->planned, "").text);
    put_number(line, (double)done, "", label);
    if (isfinite(left_s))
        put_number(line, left_s, "s", " left at this rate");
}

size_t roast_report_live(char *out, size_t out_bytes,
                         const struct roast_live_line *live)
{
    struct live_line line = {.used = 0};

    if (out_bytes == 0)
        return 0;
    if (isfinite(live->seconds) && live->seconds >= 0)
        put_number(&line, live->seconds, "s", "");
    const struct roast_progress *progress = &live->progress;
    uint64_t open =
        progress->begun > progress->done ? progress->begun - progress->done : 0;
    put_chunks(&line, live);
    if (open > progress->failed)
        put_number(&line, (double)(open - progress->failed), "", " running");
    if (progress->failed > 0)
        put_number(&line, (double)progress->failed, "", " failed");
    if (isfinite(live->seconds) && live->seconds > 0) {
        if (progress->events > 0)
            put_number(&line, (double)progress->events / live->seconds, "Hz", "");
        if (progress->bytes > 0)
            put_number(&line, 8 * (double)progress->bytes / live->seconds / 1e9,
                       "Gbit/s", "");
    }
    if (progress->workers > 0)
        put_number(&line, (double)progress->workers, "",
                   progress->workers == 1 ? " worker" : " workers");
    if (progress->rss_bytes > 0)
        put_number(&line, (double)progress->rss_bytes, "B", " in workers");
    if (live->machine_memory_percent >= 0)
        put_number(&line, live->machine_memory_percent, "%", " of memory in use");
    struct roast_str fits = roast_str_cut(roast_str_of(line.text), out_bytes - 1);
    memcpy(out, fits.data, fits.size_bytes);
    out[fits.size_bytes] = '\0';
    return fits.size_bytes;
}
