/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_compare.c - roast compare: two runs side by side, and gates for CI. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metric_name.h"
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

/* ---- limits of metrics ------------------------------------------------------------ */

/* A limit that was given as METRIC=VALUE, in the unit of the metric. */
struct limit {
    const char *text;
    int metric;
    double most;
};

struct limits {
    struct limit *items; /* owned */
    size_t count;
};

/* False after printing the reason. */
static bool read_limit(struct limit *limit, const char *text)
{
    const char *value = strchr(text, '=');
    char name[64], *end = NULL;
    double per;

    if (!value || (size_t)(value - text) >= sizeof(name)) {
        (void)fail(CODE_USAGE, "compare", "--max cannot be \"%s\": METRIC=VALUE", text);
        return false;
    }
    memcpy(name, text, (size_t)(value - text));
    name[value - text] = '\0';
    limit->text = text;
    limit->metric = metric_named(name, &per);
    if (limit->metric < 0)
        return false;
    limit->most = strtod(value + 1, &end) * per;
    if (end != value + 1 && *end == '\0' && isfinite(limit->most))
        return true;
    (void)fail(CODE_USAGE, "compare", "--max cannot be \"%s\": no number after \"=\"",
               text);
    return false;
}

static bool read_limits(struct limits *limits, const struct arguments *args)
{
    limits->items =
        need_memory(NULL, (args->given_count + 1) * sizeof(limits->items[0]));
    for (size_t i = 0; i < args->given_count; i++) {
        if (strcmp(args->given[i].option->name, "max") == 0 &&
            !read_limit(&limits->items[limits->count++], args->given[i].value))
            return false;
    }
    return true;
}

/* The larger problem of two codes: a run that is worse, then one that is not known. */
static int worse_code(int a, int b)
{
    return a == CODE_NO || b == CODE_NO ? CODE_NO : a != CODE_OK ? a : b;
}

static int check_limits(const struct limits *limits, const roast_summary *summary,
                        const char *run)
{
    const struct roast_metric_values *values = roast_summary_metrics(summary);
    int code = CODE_OK;

    for (size_t i = 0; i < limits->count; i++) {
        int metric = limits->items[i].metric;
        const struct roast_metric_info *info =
            roast_metric_info((enum roast_metric)metric);
        if (!values->known[metric]) {
            note(run, "%s: %s", info->name,
                 values->why[metric] ? values->why[metric] : "not known");
            code = worse_code(code, CODE_UNKNOWN);
        } else if (values->value[metric] > limits->items[i].most) {
            note(run, "%s: %.6g%s%s is above --max %s", info->name,
                 values->value[metric], *info->unit ? " " : "", info->unit,
                 limits->items[i].text);
            code = CODE_NO;
        }
    }
    return code;
}

/* ---- the command ------------------------------------------------------------------ */

/* Compares two open runs, prints the page, and checks the gates. */
static int compare_sides(const struct roast_side sides[2], const struct limits *limits,
                         const struct arguments *args, int measure, double percent)
{
    const struct roast_str names[2] = {roast_str_of(args->operands[0]),
                                       roast_str_of(args->operands[1])};
    static struct roast_comparison comparison;
    struct roast_page page = {NULL, 0};
    roast_error err = {0};

    if (roast_compare(&comparison, &sides[0], &sides[1], &err) < 0)
        return fail_with("compare", &err, NULL);
    int status = args_format(args) == ROAST_FORMAT_JSON
                     ? roast_report_compare_json(&page, &comparison, names, &err)
                     : roast_report_compare(&page, &comparison, names, &err);
    int code = out_page(&page, status, "compare", &err);
    if (code != CODE_OK)
        return code;
    if (percent >= 0)
        code = check_limit(&comparison, measure, percent, args->operands[1]);
    return worse_code(code, check_limits(limits, sides[1].summary, args->operands[1]));
}

static int compare(const struct arguments *args)
{
    struct source sources[2] = {{0}};
    struct roast_side sides[2] = {{0}};
    roast_table *chunks[2] = {NULL, NULL};
    struct limits limits = {NULL, 0};
    int measure = find_measure(args_value(args, "measure"));
    int code = CODE_OK;
    double percent;

    if (measure == UNKNOWN_MEASURE ||
        !args_number(args, "fail-over", FROM_0, -1, &percent) ||
        !read_limits(&limits, args))
        code = CODE_USAGE;
    for (int i = 0; i < 2 && code == CODE_OK; i++)
        code = source_open_side(&sources[i], args->operands[i], &sides[i], &chunks[i]);
    if (code == CODE_OK)
        code = compare_sides(sides, &limits, args, measure, percent);
    for (int i = 0; i < 2; i++) {
        roast_table_free(chunks[i]);
        source_close(&sources[i]);
    }
    free(limits.items);
    return code;
}

static const struct option options[] = {
    FORMAT_OPTION("text|json"),
    {"fail-over", 'x', "PERCENT", "exit 1 if B is worse by that, 5: not known"},
    {"measure", 'm', "NAME", "measure to use; CPU per chunk if not given"},
    {"max", 0, "METRIC=VALUE", "exit 1 if B has more, 5: not known"},
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
        "--max is an absolute limit on a number of B, in the unit that roast metrics\n"
        "shows: --max wall_time=600 --max num_failed_chunks=0.\n"
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
