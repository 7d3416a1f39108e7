/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_import.c - roast import: a measurement directory becomes a run file. */
#include "roast/import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "out.h"
#include "roast/runfile.h"
#include "source.h"
#include "walk.h"

/* DIR/<name of DIR>.roast; owned. */
static char *default_path(const char *dir)
{
    size_t size = strlen(dir);
    size_t room = 2 * size + sizeof(ROAST_FILE_SUFFIX) + 8;
    char *path = need_memory(NULL, room);
    const char *name;

    while (size > 1 && dir[size - 1] == '/')
        size--;
    name = memrchr(dir, '/', size);
    name = name ? name + 1 : dir;
    size_t name_size = size - (size_t)(name - dir);
    bool is_name = name_size > 0 && name[0] != '.';
    (void)snprintf(path, room, "%.*s/%.*s" ROAST_FILE_SUFFIX, (int)size, dir,
                   is_name ? (int)name_size : 3, is_name ? name : "run");
    return path;
}

/* Whether it is no directory, told. */
static bool is_none(const char *dir)
{
    struct stat found;

    if (stat(dir, &found) != 0)
        (void)fail(CODE_UNREADABLE, dir, "%s; is the path right?", strerror(errno));
    else if (S_ISDIR(found.st_mode))
        return false;
    else if (roast_is_run_name(dir))
        (void)fail(CODE_UNREADABLE, dir, "a run file already: nothing to import");
    else
        (void)fail(CODE_UNREADABLE, dir, "a file; a measurement is a directory");
    return true;
}

/* Says so where a directory has a run file already. */
static bool has_run(const char *dir)
{
    char *path = join_path(dir, ROAST_RUN_NAME);
    struct stat found;
    bool there = stat(path, &found) == 0 && S_ISREG(found.st_mode);

    if (there)
        note("import", "%s is there already: nothing to import", path);
    free(path);
    return there;
}

/* Whatever keeps it from being written is no matter of reading. */
static int fail_save(const char *path, const roast_error *err)
{
    (void)fail_with(path, err, "-o writes it elsewhere");
    return CODE_FAILED;
}

static int import_into(const char *dir, const char *wanted)
{
    char *path = wanted ? NULL : default_path(dir);
    const char *out = wanted ? wanted : path;
    roast_run *run = NULL;
    roast_error err = {0};
    int code = CODE_OK;

    if (roast_import(&run, dir, &err) < 0)
        code = fail_with(dir, &err, "is it a measurement directory?");
    else if (roast_run_save(run, out, ROAST_SAVE_NEW, &err) < 0)
        code = fail_save(out, &err);
    else {
        (void)out_data(roast_str_of(out));
        out_text("\n");
    }
    roast_run_free(run);
    free(path);
    return code;
}

static int import(const struct arguments *args)
{
    const char *dir = args->operands[0];
    const char *wanted = args_value(args, "output");

    if (is_none(dir))
        return CODE_UNREADABLE;
    return !wanted && has_run(dir) ? CODE_OK : import_into(dir, wanted);
}

static const struct option options[] = {
    {"output", 'o', "FILE", "where to; DIR/<name of DIR>.roast if not given"},
    {0},
};

const struct command cmd_import = {
    .name = "import",
    .operands = "DIR",
    .summary = "make a run file of a measurement directory",
    .help =
        "Takes directories of roastcoffea 0.1.2 too; one that has a run.roast needs\n"
        "none. An existing file is never overwritten. Prints the name of what it\n"
        "wrote.\n",
    .options = options,
    .min_operands = 1,
    .max_operands = 1,
    .run = import,
};
