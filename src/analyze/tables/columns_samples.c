/* SPDX-License-Identifier: BSD-3-Clause */
/* columns_samples.c - the table `samples`, and one series alone.
 *
 * The lines are those of tracking_data. One series has the columns of `samples` but for
 * its name, which would say the same in every row. */
#include "analyze/tables/columns_job.h"
#include "analyze/tables/columns_own.h"
#include "base/mem.h"
#include "run/tracking.h"

struct filling {
    struct roast_builder *to;
    int32_t counts_word; /* for the number of workers */
    int32_t words[ROAST_SERIES_COUNT];
};

/* The word of a series; -1 until it is met. */
static int32_t series_word(struct filling *filling, const struct roast_timeline *line,
                           bool is_count)
{
    int32_t *word = is_count ? &filling->counts_word : &filling->words[line->series];
    const char *name = is_count ? "workers" : roast_series_info(line->series)->name;

    if (*word < 0)
        *word = roast__word(filling->to, ROAST_AT_samples_series, roast_str_of(name));
    return *word;
}

static bool put_line(void *context, struct roast_timeline *line, struct roast_str name)
{
    struct filling *filling = context;
    struct roast_builder *to = filling->to;
    int32_t series = series_word(filling, line, !name.data);
    int32_t worker = roast__word(to, ROAST_AT_samples_worker, name);

    for (size_t i = 0; i < line->count && roast__builder_ok(to); i++) {
        roast__builder_row(to);
        roast__fill_word(to, ROAST_AT_samples_worker, worker);
        roast__fill_word(to, ROAST_AT_samples_series, series);
        roast__fill_int(to, ROAST_AT_samples_time, line->points[i].time_ns);
        roast__fill_number(to, ROAST_AT_samples_value, line->points[i].value);
    }
    return roast__builder_ok(to);
}

static void put_lines(struct roast_builder *to, const struct roast_run *run, int only)
{
    struct filling filling = {.to = to, .counts_word = -1};

    for (int i = 0; i < ROAST_SERIES_COUNT; i++)
        filling.words[i] = -1;
    if (!roast__tracking_each(run, only, put_line, &filling))
        roast__builder_fail(to);
}

void roast__columns_samples(const struct roast_columns_job *job)
{
    put_lines(job->to, job->run, ROAST_ALL_SERIES);
}

int roast_columns_of_series(roast_columns **out, roast_run *run,
                            enum roast_series series, roast_error *err)
{
    struct roast_builder *to = roast__builder_new(ROAST_COLUMNS_samples, 0);

    *out = NULL;
    if (!to)
        return roast_error_set(err, ROAST_NO_MEMORY, "a table");
    roast__run_lock(run);
    roast__run_resolve_pending(run);
    put_lines(to, run, (int)series);
    roast__run_unlock(run);
    int status = roast__builder_finish(out, to, err);
    if (status == ROAST_OK)
        roast__columns_drop(*out, ROAST_AT_samples_series - ROAST_AT_samples_worker);
    return status;
}
