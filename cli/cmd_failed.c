/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_failed.c - roast failed: what to run again, as JSON for Python. */
#include <inttypes.h>
#include <string.h>

#include "out.h"
#include "source.h"

static void note_result(const struct source *source, const struct roast_rerun *rerun,
                        bool files)
{
    if (rerun->items + rerun->unread_files == 0)
        note(source->path, "nothing is missing in the result%s",
             !source->info.ended ? " so far" : "");
    if (!files && rerun->unread_files > 0)
        note(source->path,
             "%" PRIu64 " file%s failed in preprocessing and ha%s no items: %s under "
             "\"fileset\", for the Runner as a fileset",
             rerun->unread_files, rerun->unread_files == 1 ? "" : "s",
             rerun->unread_files == 1 ? "s" : "ve",
             rerun->unread_files == 1 ? "it is" : "they are");
    if (rerun->cannot_add)
        note(source->path,
             "postprocess() changes the output, as far as can be seen: the output of "
             "these must not be added to the first one; run everything again");
}

static int show(struct source *source, uint32_t call, bool files)
{
    struct roast_page page = {0};
    struct roast_rerun rerun = {0};
    roast_error err = {0};
    roast_run *run = NULL;
    int code = source_run(source, true, &run);

    if (code != CODE_OK)
        return code;
    source_note_state(source);
    int status = files ? roast_failed_fileset(&page, run, call, false, &rerun, &err)
                       : roast_failed_items(&page, run, call, &rerun, &err);
    if (status == ROAST_REFUSED)
        return fail(CODE_FAILED, source->path, "%s", err.message);
    if (status < 0)
        return fail_with(source->path, &err, NULL);
    out_bytes((struct roast_str){page.text, page.size_bytes});
    out_text("\n");
    note_result(source, &rerun, files);
    roast_page_release(&page);
    return CODE_OK;
}

static int failed(const struct arguments *args)
{
    struct source source = {0};
    double call = 0;

    if (!args_number(args, "call", ABOVE_0, 0, &call))
        return CODE_USAGE;
    if (call > UINT32_MAX || call != (double)(uint32_t)call)
        return fail(CODE_USAGE, "failed", "--call is a whole number: 1, 2 ...");
    int code = source_open(&source, args->operands[0]);
    if (code == CODE_OK)
        code = show(&source, (uint32_t)call, args_value(args, "files") != NULL);
    source_close(&source);
    return code;
}

static const struct option options[] = {
    {"call", 'c', "N", "a call of the Runner: 1, 2 ..."},
    {"files", 'F', NULL, "whole files instead, as a fileset"},
    {0},
};

const struct command cmd_failed = {
    .name = "failed",
    .operands = "RUN",
    .summary = "the items to run again, as JSON for roastcoffea.load_items",
    .help =
        "The ranges of entries that are not in the result of a call of the Runner:\n"
        "failed, skipped, lost or never started. All of them if the call gave no\n"
        "result (it raised, or the process was killed). Under \"items\" the fields\n"
        "of coffea's WorkItems, for load_items(); under \"fileset\" the files that\n"
        "failed in preprocessing and have no items. Output and rerun together have\n"
        "every entry once.\n"
        "--files: a fileset of files without any chunk in the result, as JSON; an\n"
        "error where a file is in the result in part.\n",
    .options = options,
    .min_operands = 1,
    .max_operands = 1,
    .run = failed,
};
