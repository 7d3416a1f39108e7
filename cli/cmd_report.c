/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_report.c - roast report: the first screen of a run, and its tables. */
#include "out.h"
#include "roast/report.h"
#include "source.h"

static int show(struct source *source, const struct arguments *args)
{
    const roast_summary *summary = NULL;
    roast_run *run = NULL;
    struct roast_page page = {0};
    struct roast_heading_text text;
    enum roast_format format = args_format(args);
    roast_error err = {0};
    int status;
    int code = source_summary(source, &summary);

    if (code == CODE_OK)
        code = source_run(source, false, &run);
    if (code != CODE_OK)
        return code;
    const struct roast_report_source from = {
        source_origin(source), source->info.cut_bytes, source->info.damaged};
    if (format == ROAST_FORMAT_JSON) {
        status = roast_report_json(&page, summary, run, &from, &err);
    } else {
        roast_report_heading(&text, run, from.origin);
        text.heading.bold = out_wants_bold();
        text.heading.full_by = args_value(args, "full") ? NULL : "--full";
        status = roast_report_text(&page, summary, &text.heading, &err);
    }
    if (status < 0)
        return fail_with(source->path, &err, NULL);
    if (format == ROAST_FORMAT_TEXT)
        source_note_state(source);
    out_bytes((struct roast_str){page.text, page.size_bytes});
    roast_page_release(&page);
    return CODE_OK;
}

static int report(const struct arguments *args)
{
    struct source source = {0};
    int code = source_open(&source, args->operands[0]);

    if (code == CODE_OK)
        code = show(&source, args);
    source_close(&source);
    return code;
}

static const struct option options[] = {
    {"full", 0, NULL, "everything, in as many lines as it takes"},
    FORMAT_OPTION("text|json"),
    {0},
};

const struct command cmd_report = {
    .name = "report",
    .operands = "RUN",
    .summary = "what a run did: the first screen and its tables",
    .help =
        "The text has at most 70 lines; --full shows all rows and all sections.\n"
        "docs/reading-a-summary.md has a line for each word. JSON has all metrics,\n"
        "tables and notes, and why something is not known. Of an unfinished run,\n"
        "everything known so far is shown.\n",
    .options = options,
    .min_operands = 1,
    .max_operands = 1,
    .run = report,
};
