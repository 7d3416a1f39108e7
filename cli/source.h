/* SPDX-License-Identifier: BSD-3-Clause */
/* source.h - the run that a command was given: a file, or a folder that holds one. */
#ifndef ROAST_CLI_SOURCE_H
#define ROAST_CLI_SOURCE_H

#include "roast/report.h"
#include "roast/runfile.h"

/* Zeroed = nothing is open. */
struct source {
    char *path;          /* owned; what was opened */
    roast_runfile *file; /* owned */
    struct roast_runfile_info info;
    bool wants_file; /* a measurement directory without a run file is refused */
};

/* Each 0, or an exit code after the reason was printed. */
int source_open(struct source *source, const char *path);
int source_run(struct source *source, bool whole, roast_run **run);
int source_summary(struct source *source, const roast_summary **summary);
int source_table(struct source *source, enum roast_table_id id, roast_table **table);

/* What comparing and forecasting take of it; its chunks are to be freed. */
int source_side(struct source *source, const char *path, struct roast_side *side,
                roast_table **chunks);

/* Opens a run file; fails for a measurement directory. */
int source_open_file(struct source *source, const char *path);

enum roast_origin source_origin(const struct source *source);

/* Says on standard error what is missing of a run that was cut or damaged. */
void source_say_state(const struct source *source);

void source_close(struct source *source);

#endif
