/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_forecast.c - roast forecast: what more events on other workers would take. */
#include "out.h"
#include "roast/report.h"
#include "source.h"

static int forecast(const struct arguments *args)
{
    struct source source = {0};
    struct roast_side side = {0};
    roast_table *chunks = NULL;
    struct roast_plan plan = {0};
    struct roast_forecast made;
    struct roast_page page = {NULL, 0};
    roast_error err = {0};

    if (!args_number(args, "events", ABOVE_0, 0, &plan.events) ||
        !args_number(args, "workers", ABOVE_0, 0, &plan.workers) ||
        !args_number(args, "chunksize", ABOVE_0, 0, &plan.chunksize))
        return CODE_USAGE;
    if (plan.events < 1 || plan.workers <= 0)
        return fail(CODE_USAGE, "forecast",
                    "of how many events on how many workers? give "
                    "--events N --workers M");
    int code = source_side(&source, args->operands[0], &side, &chunks);
    if (code == CODE_OK && roast_make_forecast(&made, &side, &plan, &err) < 0)
        code = fail_with(source.path, &err, NULL);
    if (code == CODE_OK) {
        int status = args_format(args) == FORMAT_JSON
                         ? roast_report_forecast_json(&page, &made, &plan, &err)
                         : roast_report_forecast(&page, &made, &plan, &err);
        code = out_page(&page, status, "forecast", &err);
    }
    roast_table_free(chunks);
    source_close(&source);
    return code;
}

static const struct option options[] = {
    {"events", 'n', "N", "how many events there will be; 1e9 is fine"},
    {"workers", 'w', "M", "how many workers, with as many threads as in RUN"},
    {"chunksize", 'c', "EVENTS", "events per chunk; as in RUN if not given"},
    FORMAT_OPTION("text|json"),
    {0},
};

const struct command cmd_forecast = {
    .name = "forecast",
    .operands = "RUN",
    .summary = "what more events on other workers would take",
    .help =
        "Wall time and thread-seconds, from what a chunk and an event cost in RUN and\n"
        "how busy its threads were. Ranges hold how much chunks differ, and of the\n"
        "wall time the best and the worst end of the last ones; all else is taken to\n"
        "be as it was, preprocessing as long as for so many more files.\n",
    .options = options,
    .min_operands = 1,
    .max_operands = 1,
    .run = forecast,
};
