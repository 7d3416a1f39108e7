/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_check.c - roast check: is a run whole? */
#include "out.h"
#include "source.h"

struct findings {
    const char *path;
};

static void put_problem(void *context, const char *problem)
{
    const struct findings *findings = context;

    (void)out_data(roast_str_of(findings->path));
    out_text(": ");
    (void)out_data(roast_str_of(problem));
    out_text("\n");
}

static int check_one(const char *path)
{
    struct source source = {0};
    int code = source_open_file(&source, path);
    struct findings findings = {source.path};
    roast_error err = {0};

    if (code == CODE_OK) {
        int64_t problems =
            roast_runfile_check(source.file, put_problem, &findings, &err);
        if (problems < 0)
            code = fail_with(source.path, &err, NULL);
        else if (problems > 0)
            code = CODE_NO;
        else {
            (void)out_data(roast_str_of(source.path));
            out_text(": ok\n");
        }
    }
    source_close(&source);
    return code;
}

/* The worst of all is the answer. */
static int check(const struct arguments *args)
{
    int worst = CODE_OK;

    for (size_t i = 0; i < args->operand_count; i++) {
        int code = check_one(args->operands[i]);
        worst = code > worst ? code : worst;
    }
    return worst;
}

const struct command cmd_check = {
    .name = "check",
    .operands = "RUN ...",
    .summary = "whether runs are whole, and what is missing",
    .help =
        "Reads everything and prints \"ok\" or one line per problem; exit code 1 if\n"
        "there is any, 3 if a run cannot be read at all.\n",
    .min_operands = 1,
    .max_operands = (size_t)-1,
    .run = check,
};
