/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_check.c - roast check: is a run undamaged? */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "out.h"
#include "source.h"
#include "walk.h"

static void put_problem(void *context, const char *problem)
{
    const struct source *source = context;

    (void)out_data(roast_str_of(source->path));
    out_text(": ");
    (void)out_data(roast_str_of(problem));
    out_text("\n");
}

/* That a run did not finish is no damage. */
static void put_ending(struct source *source)
{
    const char *ending = roast_report_ending(source_origin(source), source->info.ended);

    if (ending)
        put_problem(source, ending);
}

static int check_one(const char *path)
{
    struct source source = {0};
    int code = source_open_file(&source, path);
    roast_error err = {0};

    if (code == CODE_OK) {
        put_ending(&source);
        int64_t problems = roast_runfile_check(source.file, put_problem, &source, &err);
        if (problems < 0)
            code = fail_with(source.path, &err, NULL);
        else if (problems > 0)
            code = CODE_NO;
        else
            put_problem(&source, "ok");
    }
    source_close(&source);
    return code;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All runs below a folder, by path. */
static int check_folder(const char *folder)
{
    struct paths paths = {0};
    size_t left_out;
    int worst = find_runs(&paths, &left_out, folder);

    if (paths.count > 0)
        qsort(paths.items, paths.count, sizeof(*paths.items), compare);
    else if (worst == CODE_OK && left_out == 0)
        worst = check_one(folder); /* tells what it is instead */
    if (left_out > 0)
        worst = CODE_UNREADABLE;
    for (size_t i = 0; i < paths.count; i++) {
        int code = check_one(paths.items[i]);
        worst = code > worst ? code : worst;
    }
    paths_release(&paths);
    return worst;
}

static int check_place(const char *place)
{
    struct stat found;
    bool is_folder = stat(place, &found) == 0 && S_ISDIR(found.st_mode);

    return is_folder ? check_folder(place) : check_one(place);
}

/* The worst of all is the answer. */
static int check(const struct arguments *args)
{
    int worst = CODE_OK;

    for (size_t i = 0; i < args->operand_count; i++) {
        int code = check_place(args->operands[i]);
        worst = code > worst ? code : worst;
    }
    return worst;
}

const struct command cmd_check = {
    .name = "check",
    .operands = "RUN ...",
    .summary = "whether runs are undamaged, and what is missing",
    .help =
        "Reads everything and prints \"ok\" or one line per problem; exit code 1 if\n"
        "there is any, 3 if a run, or a folder, cannot be read at all. That a run did\n"
        "not finish is said, but no problem. RUN may be a folder: all runs below it.\n",
    .min_operands = 1,
    .max_operands = (size_t)-1,
    .run = check,
};
