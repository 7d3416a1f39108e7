/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_scale.c - roast scale: what more workers bring. */
#include <stdlib.h>

#include "out.h"
#include "roast/report.h"
#include "source.h"

static int scale(const struct arguments *args)
{
    size_t count = args->operand_count;
    struct source *sources = need_memory(NULL, count * sizeof(*sources));
    const roast_summary **summaries =
        need_memory(NULL, count * sizeof(roast_summary *));
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
        if (code == CODE_OK)
            code = source_summary(source, &summaries[opened]);
        if (code == CODE_OK)
            source_say_state(source);
        opened++;
    }
    if (code == CODE_OK) {
        int status = roast_scale(&scaling, summaries, count, &err);
        if (status >= 0)
            status = args_format(args) == FORMAT_JSON
                         ? roast_report_scale_json(&page, &scaling, names, &err)
                         : roast_report_scale(&page, &scaling, names, &err);
        code = out_page(&page, status, "scale", &err);
    }
    roast_scaling_release(&scaling);
    for (size_t i = 0; i < opened; i++)
        source_close(&sources[i]);
    free(sources);
    free(summaries);
    free(names);
    return code;
}

static const struct option options[] = {FORMAT_OPTION("text|json"), {0}};

const struct command cmd_scale = {
    .name = "scale",
    .operands = "RUN ...",
    .summary = "what more workers bring: efficiency, and the law behind it",
    .help =
        "Runs of the same analysis with different numbers of workers. Efficiency is\n"
        "the rate of events per thread against that of the run with the fewest.\n"
        "The Universal Scalability Law is fitted where there are 3 different\n"
        "numbers of threads; a 4th run shows how sure the fit is.\n",
    .options = options,
    .min_operands = 1,
    .max_operands = (size_t)-1,
    .run = scale,
};
