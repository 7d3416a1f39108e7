/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_compare.c - roast compare: two runs side by side, and a gate for CI. */
#include <string.h>

#include "out.h"
#include "roast/compare.h"
#include "roast/report.h"
#include "source.h"

enum { UNKNOWN_MEASURE = -1, DEFAULT_MEASURE = -2 };

/* The measure of this name; UNKNOWN_MEASURE after printing the reason. */
static int find_measure(const char *name)
{
    const char *names[ROAST_MEASURE_COUNT];

    if (!name)
        return DEFAULT_MEASURE;
    for (int i = 0; i < ROAST_MEASURE_COUNT; i++) {
        names[i] = roast_measure_info((enum roast_measure)i)->name;
        if (strcmp(names[i], name) == 0)
            return i;
    }
    (void)fail_unknown("measure", name, names, ROAST_MEASURE_COUNT,
                       "measures are per chunk; see roast help compare");
    return UNKNOWN_MEASURE;
}

/* The gate: CODE_NO when the run is worse, CODE_UNKNOWN when that is not known. */
static int check_limit(const struct roast_comparison *comparison, int wanted,
                       double percent, const char *run)
{
    enum roast_measure measure = wanted == DEFAULT_MEASURE
                                     ? roast_compare_main(comparison)
                                     : (enum roast_measure)wanted;
    const struct roast_contrast *contrast = &comparison->measures[measure];
    const char *shown = roast_measure_info(measure)->shown;

    if (contrast->why) {
        note(run, "%s: %s", shown, contrast->why);
        return CODE_UNKNOWN;
    }
    bool worse = roast_contrast_exceeds(contrast, percent);
    note(run, "%s: %+.1f %%, from %+.1f to %+.1f: %s than %g %% worse", shown,
         100 * (contrast->ratio - 1), 100 * (contrast->low - 1),
         100 * (contrast->high - 1), worse ? "more" : "not significantly more",
         percent);
    const struct roast_contrast *per_event =
        &comparison->measures[ROAST_MEASURE_cpu_per_event];
    if (!worse && wanted == DEFAULT_MEASURE &&
        roast_contrast_exceeds(per_event, percent))
        note(run, "%s is: %+.1f %%; to compare by it, use --measure cpu_per_event",
             roast_measure_info(ROAST_MEASURE_cpu_per_event)->shown,
             100 * (per_event->ratio - 1));
    if (*comparison->differs[ROAST_DIFFERS_chunksize])
        note(run, "different chunk sizes, which also changes costs per event: %s",
             comparison->differs[ROAST_DIFFERS_chunksize]);
    if (worse && roast_compare_machine_slower(comparison))
        note(run,
             "chunks are as much slower outside process(): was the machine slower?");
    return worse ? CODE_NO : CODE_OK;
}

static int compare_sides(struct roast_comparison *comparison,
                         const struct arguments *args)
{
    struct source sources[2] = {{0}};
    struct roast_side sides[2] = {{0}};
    roast_table *chunks[2] = {NULL, NULL};
    roast_error err = {0};
    int code = CODE_OK;

    for (int i = 0; i < 2 && code == CODE_OK; i++)
        code = source_open_side(&sources[i], args->operands[i], &sides[i], &chunks[i]);
    if (code == CODE_OK && roast_compare(comparison, &sides[0], &sides[1], &err) < 0)
        code = fail_with("compare", &err, NULL);
    for (int i = 0; i < 2; i++) {
        roast_table_free(chunks[i]);
        source_close(&sources[i]);
    }
    return code;
}

static int compare(const struct arguments *args)
{
    const struct roast_str names[2] = {roast_str_of(args->operands[0]),
                                       roast_str_of(args->operands[1])};
    static struct roast_comparison comparison;
    struct roast_page page = {NULL, 0};
    roast_error err = {0};
    int measure = find_measure(args_value(args, "measure"));
    double percent;

    if (measure == UNKNOWN_MEASURE ||
        !args_number(args, "fail-over", FROM_0, -1, &percent))
        return CODE_USAGE;
    int code = compare_sides(&comparison, args);
    if (code == CODE_OK) {
        int status = args_format(args) == ROAST_FORMAT_JSON
                         ? roast_report_compare_json(&page, &comparison, names, &err)
                         : roast_report_compare(&page, &comparison, names, &err);
        code = out_page(&page, status, "compare", &err);
    }
    if (code == CODE_OK && percent >= 0)
        code = check_limit(&comparison, measure, percent, args->operands[1]);
    return code;
}

static const struct option options[] = {
    FORMAT_OPTION("text|json"),
    {"fail-over", 'x', "PERCENT", "exit 1 if B is worse by that, 5: not known"},
    {"measure", 'm', "NAME", "measure to use; CPU per chunk if not given"},
    {0},
};

const struct command cmd_compare = {
    .name = "compare",
    .operands = "A B",
    .summary = "two runs side by side; a gate for CI",
    .help =
        "A is the old run, B the new one. The change of the median chunk is shown\n"
        "with its 95 % confidence interval, from the spread of the chunks. With\n"
        "--fail-over the exit code is 1 when the whole interval is above PERCENT, 0\n"
        "when it is not, and 5 when there is none: fewer than 8 chunks in a run, no\n"
        "dataset in common, or no values of the measure. Of runs of different\n"
        "processors only the time outside process() is compared.\n"
        "\nMeasures:\n"
#define M(name, column, minus, per, unit, shown, text) "  " #name ": " text "\n"
#include "roast/compare_measures.def"
#undef M
    ,
    .options = options,
    .min_operands = 2,
    .max_operands = 2,
    .run = compare,
};
