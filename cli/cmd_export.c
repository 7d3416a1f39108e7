/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_export.c - roast export: a run in the format of another program. */
#include <stdio.h>
#include <string.h>

#include "out.h"
#include "python.h"
#include "roast/export.h"
#include "source.h"

static int list_formats(void)
{
    for (int i = 0; i < ROAST_EXPORT_COUNT; i++) {
        const struct roast_export_info *info =
            roast_export_info((enum roast_export_format)i);
        char names[64];
        (void)snprintf(names, sizeof(names), "%s%s%s", info->name,
                       *info->alias ? ", " : "", info->alias);
        out_format("%-26s%s\n", names, info->text);
    }
    return CODE_OK;
}

/* -1 after printing the reason. */
static int find_format(const char *name)
{
    const char *names[2 * ROAST_EXPORT_COUNT];
    size_t count = 0;
    int format = name ? roast_export_find(name) : -1;

    if (format >= 0)
        return format;
    for (int i = 0; i < ROAST_EXPORT_COUNT; i++) {
        const struct roast_export_info *info =
            roast_export_info((enum roast_export_format)i);
        names[count++] = info->name;
        names[count] = info->alias;
        count += *info->alias != '\0';
    }
    if (name)
        (void)fail_unknown("format", name, names, count, "see roast export --list");
    else
        (void)fail(CODE_USAGE, "export", "-f is missing; see roast export --list");
    return -1;
}

static void put_bytes(void *context, const void *bytes, size_t size_bytes)
{
    (void)context;
    out_bytes((struct roast_str){bytes, size_bytes});
}

static bool has_label(const struct arguments *args, const char *label)
{
    for (size_t i = 0; i < args->given_count; i++)
        if (strcmp(args->given[i].option->name, "label") == 0 &&
            strcmp(args->given[i].value, label) == 0)
            return true;
    return false;
}

/* The summary has names: that of a copy without them is made anew. */
static int export_run(struct source *source, enum roast_export_format format,
                      struct roast_export_options *options, bool anonymise)
{
    const roast_summary *summary = NULL;
    roast_run *run = NULL, *copy = NULL;
    roast_error err = {0};
    int code = anonymise ? source_anonymised(source, &copy)
                         : source_run(source, !roast_export_from_summary(format), &run);

    if (code == CODE_OK && !anonymise)
        code = source_summary(source, &summary);
    if (code != CODE_OK)
        return code;
    options->source = (struct roast_report_source){
        source_origin(source), source->info.cut_bytes, source->info.damaged};
    source_note_state(source);
    int status = roast_export(copy ? copy : run, summary, format, options, &err);
    roast_run_free(copy);
    if (status == ROAST_OK)
        return CODE_OK;
    if (err.code == ROAST_REFUSED)
        return fail(CODE_USAGE, "export", "%s; -o names it", err.message);
    return fail(CODE_FAILED, options->path ? options->path : source->path,
                "%s; nothing was written", err.message);
}

static int export(const struct arguments *args)
{
    const char *path = args_value(args, "output");
    struct source source = {0};

    if (args_value(args, "list"))
        return list_formats();
    if (args->operand_count == 0)
        return fail(CODE_USAGE, "export",
                    "an operand is missing; usage: roast export RUN");
    int format = find_format(args_value(args, "format"));
    if (format < 0)
        return CODE_USAGE;
    struct roast_export_options options = {
        .path = path && strcmp(path, "-") != 0 ? path : NULL,
        .put = put_bytes,
        .by_worker = has_label(args, "worker"),
        .by_file = has_label(args, "file"),
    };
    bool anonymise = args_value(args, "anonymise") != NULL;
    const struct roast_export_info *info =
        roast_export_info((enum roast_export_format)format);
    if (info->by_python && !options.path)
        return fail(CODE_USAGE, "export",
                    "%s is a folder of files: it needs a path; -o names it",
                    info->name);
    int code = source_open(&source, args->operands[0]);
    if (code == CODE_OK && info->by_python)
        code = python_export(source.path, info->name, options.path, anonymise);
    else if (code == CODE_OK)
        code =
            export_run(&source, (enum roast_export_format)format, &options, anonymise);
    source_close(&source);
    return code;
}

static const struct option options[] = {
    {"format", 'f', "FORMAT", "one of those that --list shows"},
    {"output", 'o', "PATH", "file or folder; standard output if not given"},
    {"label", 'l', "worker|file", "numbers of each of them too; may be repeated"},
    {"anonymise", 0, NULL, "numbered names in place of real ones"},
    {"list", 0, NULL, "the formats"},
    {0},
};

const struct command cmd_export = {
    .name = "export",
    .operands = "RUN",
    .summary = "a run in the format of another program",
    .help =
        "openmetrics is for Prometheus: numbers of the run, its datasets and its time\n"
        "budget; --label adds those of workers or files. A file is replaced when the\n"
        "new one is complete; a run file never is, and a folder must not exist.\n"
        "--anonymise replaces users, hosts, paths, datasets, processors and labels, "
        "and\n"
        "leaves out texts of errors, commands and documents. Parquet and Arrow need\n"
        "pyarrow in the Python that this program was installed for.\n",
    .options = options,
    .max_operands = 1,
    .run = export,
};
