/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_scale.c - roast scale: what more workers bring. */
#include <stdlib.h>

#include "out.h"
#include "roast/report.h"
#include "source.h"

static int show(const struct roast_scaling *scaling, const struct roast_str *names,
                enum format format)
{
    struct roast_page page = {NULL, 0};
    roast_error err = {0};
    int status = format == FORMAT_JSON
                     ? roast_report_scale_json(&page, scaling, names, &err)
                     : roast_report_scale(&page, scaling, names, &err);

    if (status < 0)
        return fail_with("scale", &err, NULL);
    out_bytes((struct roast_str){page.text, page.size_bytes});
    roast_page_release(&page);
    return CODE_OK;
}

static int scale_all(const roast_summary *const *summaries,
                     const struct roast_str *names, const struct arguments *args)
{
    struct roast_scaling scaling = {0};
    roast_error err = {0};
    int code = CODE_OK;

    if (roast_scale(&scaling, summaries, args->operand_count, &err) < 0)
        code = fail_with("scale", &err, NULL);
    if (code == CODE_OK)
        code = show(&scaling, names, args_format(args));
    roast_scaling_release(&scaling);
    return code;
}

static int scale(const struct arguments *args)
{
    size_t count = args->operand_count;
    struct source *sources = need_memory(NULL, count * sizeof(*sources));
    const roast_summary **summaries =
        need_memory(NULL, count * sizeof(roast_summary *));
    struct roast_str *names = need_memory(NULL, count * sizeof(*names));
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
    if (code == CODE_OK)
        code = scale_all(summaries, names, args);
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
        "numbers of threads; how sure the fit is, a 4th run tells.\n",
    .options = options,
    .min_operands = 1,
    .max_operands = (size_t)-1,
    .run = scale,
};
