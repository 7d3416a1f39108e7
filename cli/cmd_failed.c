/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_failed.c - roast failed: the fileset to run again. */
#include <inttypes.h>
#include <string.h>

#include "out.h"
#include "source.h"

static int show(struct source *source)
{
    struct roast_page fileset = {0};
    struct roast_unnamed unnamed = {0, 0};
    roast_error err = {0};
    roast_run *run = NULL;
    int code = source_run(source, true, &run);

    if (code != CODE_OK)
        return code;
    source_say_state(source);
    if (roast_failed_fileset(&fileset, run, &unnamed, &err) < 0)
        return fail_with(source->path, &err, NULL);
    out_bytes((struct roast_str){fileset.text, fileset.size_bytes});
    out_text("\n");
    if (unnamed.failed > 0)
        say(source->path, "%" PRIu64 " more failed whose file nobody knows",
            unnamed.failed);
    if (unnamed.running > 0)
        say(source->path,
            "%" PRIu64
            " more %s running when the file ends; nobody knows of which file",
            unnamed.running, unnamed.running == 1 ? "was" : "were");
    if (unnamed.failed + unnamed.running == 0 && strcmp(fileset.text, "{}") == 0)
        say(source->path, "nothing failed%s",
            source->file && !source->info.ended ? " as far as known" : "");
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
    .help = "Files with a chunk that failed or was lost and never succeeded; of a run\n"
            "that did not finish also those that were never tried. \"roast dump RUN\n"
            "failures\" has the single chunks. {} when nothing failed.\n",
    .min_operands = 1,
    .max_operands = 1,
    .run = failed,
};
