/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_scale.c - roast scale: how the rate grows with workers. */
#include <stdlib.h>

#include "out.h"
#include "roast/report.h"
#include "source.h"

static int scale(const struct arguments *args)
{
    size_t count = args->operand_count;
    struct source *sources = need_memory(NULL, count * sizeof(*sources));
    struct roast_side *sides = need_memory(NULL, count * sizeof(*sides));
    struct roast_str *names = need_memory(NULL, count * sizeof(*names));
    struct roast_scaling scaling = {0};
    struct roast_page page = {NULL, 0};
    roast_error err = {0};
    size_t opened = 0;
    int code = CODE_OK;

    while (opened < count && code == CODE_OK) {
        struct source *source = &sources[opened];
        *source = (struct source){0};
        names[opened] = roast_str_of(args->operands[opened]);
        code = source_open(source, args->operands[opened]);
        sides[opened] = (struct roast_side){0};
        if (code == CODE_OK)
            code = source_run(source, false, &sides[opened].run);
        if (code == CODE_OK)
            code = source_summary(source, &sides[opened].summary);
        if (code == CODE_OK)
            source_note_state(source);
        opened++;
    }
    if (code == CODE_OK) {
        bool mix = args_value(args, "mix") != NULL;
        int status = roast_scale(&scaling, sides, count, mix, &err);
        if (status == ROAST_REFUSED) {
            code = fail_with("scale", &err, "--mix scales them anyway");
            goto out;
        }
        if (status >= 0)
            status = args_format(args) == ROAST_FORMAT_JSON
                         ? roast_report_scale_json(&page, &scaling, names, &err)
                         : roast_report_scale(&page, &scaling, names, &err);
        code = out_page(&page, status, "scale", &err);
    }
out:
    roast_scaling_release(&scaling);
    for (size_t i = 0; i < opened; i++)
        source_close(&sources[i]);
    free(sources);
    free(sides);
    free(names);
    return code;
}

static const struct option options[] = {
    FORMAT_OPTION("text|json"),
    {"mix", 'x', NULL, "also runs of different processors"},
    {0},
};

const struct command cmd_scale = {
    .name = "scale",
    .operands = "RUN ...",
    .summary = "how the rate grows with workers: efficiency, scalability law",
    .help =
        "Runs of the same analysis with different numbers of workers. Runs of\n"
        "different processors are refused without --mix. Efficiency is the event\n"
        "rate per thread, relative to the run with the fewest threads.\n"
        "The Universal Scalability Law is fitted to at least 3 different numbers of\n"
        "threads; with a 4th run the fit has confidence intervals.\n",
    .options = options,
    .min_operands = 1,
    .max_operands = (size_t)-1,
    .run = scale,
};
