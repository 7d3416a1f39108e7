/* SPDX-License-Identifier: BSD-3-Clause */
/* samples.c - the table `samples`, and the table of one series.
 *
 * The series are those of tracking_data. The table of one series has no column for its
 * name. */
#include "analyze/tables/job.h"
#include "base/mem.h"
#include "run/timelines.h"

struct samples_fill {
    roast_table *to;
    int32_t counts_word; /* for the number of workers */
    int32_t words[ROAST_SERIES_COUNT];
};

/* The word of a series; -1 before its first use. */
static int32_t series_word(struct samples_fill *fill, const struct roast_timeline *line,
                           bool is_count)
{
    int32_t *word = is_count ? &fill->counts_word : &fill->words[line->series];
    const char *name = is_count ? "workers" : roast_series_info(line->series)->name;

    if (*word < 0)
        *word =
            roast__table_word(fill->to, ROAST_COL_samples_series, roast_str_of(name));
    return *word;
}

static bool put_line(void *context, struct roast_timeline *line, struct roast_str name)
{
    struct samples_fill *fill = context;
    roast_table *to = fill->to;
    int32_t series = series_word(fill, line, !name.data);
    int32_t worker = roast__table_word(to, ROAST_COL_samples_worker, name);

    for (size_t i = 0; i < line->count && roast__table_ok(to); i++) {
        roast__table_row(to);
        roast__fill_word(to, ROAST_COL_samples_worker, worker);
        roast__fill_word(to, ROAST_COL_samples_series, series);
        roast__fill_int(to, ROAST_COL_samples_time, line->points[i].time_ns);
        roast__fill_number(to, ROAST_COL_samples_value, line->points[i].value);
    }
    return roast__table_ok(to);
}

static void put_lines(roast_table *to, const struct roast_run *run, int only)
{
    struct samples_fill fill = {.to = to, .counts_word = -1};

    for (int i = 0; i < ROAST_SERIES_COUNT; i++)
        fill.words[i] = -1;
    if (!roast__timelines_each(run, only, put_line, &fill))
        roast__table_fail(to);
}

void roast__make_samples(const struct roast_table_job *job)
{
    put_lines(job->to, job->run, ROAST_ALL_SERIES);
}

int roast_series_table(roast_table **out, roast_run *run, enum roast_series series,
                       roast_error *err)
{
    *out = roast__table_new(ROAST_TABLE_samples, 0);
    roast__run_lock(run);
    roast__run_resolve_pending(run);
    put_lines(*out, run, (int)series);
    roast__run_unlock(run);
    int status = roast__table_finish(out, err);
    if (status == ROAST_OK)
        roast__table_drop(*out, ROAST_COL_samples_series);
    return status;
}
