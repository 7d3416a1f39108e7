/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_check.c - roast check: is a run undamaged? */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "out.h"
#include "run_files.h"
#include "source.h"

static void put_line(void *context, const char *text)
{
    const struct source *source = context;

    out_data(roast_str_of(source->path));
    out_text(": ");
    out_data(roast_str_of(text));
    out_text("\n");
}

static int check_file(const char *path)
{
    struct source source = {0};
    int code = source_open_file(&source, path);
    roast_error err = {0};

    if (code == CODE_OK) {
        const char *ending =
            roast_report_ending(source_origin(&source), source.info.ended);
        if (ending) /* an unfinished run is not damaged */
            put_line(&source, ending);
        int64_t problems = roast_runfile_check(source.file, put_line, &source, &err);
        if (problems < 0)
            code = fail_with(source.path, &err, NULL);
        else if (problems > 0)
            code = CODE_NO;
        else
            put_line(&source, "ok");
    }
    source_close(&source);
    return code;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Checks all runs below a folder. */
static int check_folder(const char *folder)
{
    struct paths paths = {0};
    size_t unreadable;
    int worst = find_run_files(&paths, &unreadable, folder);

    if (paths.count > 0)
        qsort(paths.items, paths.count, sizeof(*paths.items), by_path);
    else if (worst == CODE_OK && unreadable == 0)
        worst = check_file(folder); /* reports what the folder is instead */
    if (unreadable > 0)
        worst = CODE_UNREADABLE;
    for (size_t i = 0; i < paths.count; i++) {
        int code = check_file(paths.items[i]);
        worst = code > worst ? code : worst;
    }
    paths_release(&paths);
    return worst;
}

/* Returns the worst exit code of all operands. */
static int check(const struct arguments *args)
{
    int worst = CODE_OK;

    for (size_t i = 0; i < args->operand_count; i++) {
        const char *path = args->operands[i];
        struct stat found;
        bool is_folder = stat(path, &found) == 0 && S_ISDIR(found.st_mode);
        int code = is_folder ? check_folder(path) : check_file(path);
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
        "there is any, 3 if a run, or a folder, cannot be read at all. An unfinished\n"
        "run is reported, but is no problem. RUN may be a folder: all runs below it.\n",
    .min_operands = 1,
    .max_operands = (size_t)-1,
    .run = check,
};
