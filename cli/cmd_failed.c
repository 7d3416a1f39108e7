/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_failed.c - roast failed: the fileset to run again. */
#include <inttypes.h>
#include <string.h>

#include "out.h"
#include "source.h"

static void note_unnamed(const char *path, const struct roast_rerun *rerun)
{
    if (rerun->everything)
        note(path, "the run returned no output: everything has to run again%s",
             rerun->fileset_known ? ""
                                  : "; its fileset is not known, only what was tried");
    if (rerun->unnamed_failed > 0)
        note(path, "%" PRIu64 " more %s; the file is not known", rerun->unnamed_failed,
             rerun->everything ? "tried" : "failed");
    if (rerun->unnamed_running > 0)
        note(path,
             "%" PRIu64 " more %s running when the file ends; the file is not known",
             rerun->unnamed_running, rerun->unnamed_running == 1 ? "was" : "were");
}

static int show(struct source *source)
{
    struct roast_page fileset = {0};
    struct roast_rerun rerun = {0};
    roast_error err = {0};
    roast_run *run = NULL;
    int code = source_run(source, true, &run);

    if (code != CODE_OK)
        return code;
    source_note_state(source);
    if (roast_failed_fileset(&fileset, run, &rerun, &err) < 0)
        return fail_with(source->path, &err, NULL);
    out_bytes((struct roast_str){fileset.text, fileset.size_bytes});
    out_text("\n");
    note_unnamed(source->path, &rerun);
    if (!rerun.everything && rerun.unnamed_failed + rerun.unnamed_running == 0 &&
        strcmp(fileset.text, "{}") == 0)
        note(source->path, "nothing failed%s", !source->info.ended ? " so far" : "");
    roast_page_release(&fileset);
    return CODE_OK;
}

static int failed(const struct arguments *args)
{
    struct source source = {0};
    int code = source_open(&source, args->operands[0]);

    if (code == CODE_OK)
        code = show(&source);
    source_close(&source);
    return code;
}

const struct command cmd_failed = {
    .name = "failed",
    .operands = "RUN",
    .summary = "the fileset to run again, as JSON for coffea's Runner",
    .help =
        "Files with a chunk that failed or was lost and never succeeded. When a call\n"
        "of the Runner gave no output (it raised, or the process was killed), the\n"
        "output of its chunks is lost: then it is the whole fileset of that call,\n"
        "with a note on stderr. \"roast dump RUN failures\" has the single chunks.\n"
        "{} when nothing failed.\n",
    .min_operands = 1,
    .max_operands = 1,
    .run = failed,
};
