/* SPDX-License-Identifier: BSD-3-Clause */
/* source.h - the run that a command reads: a file, or a folder with one. */
#ifndef ROAST_CLI_SOURCE_H
#define ROAST_CLI_SOURCE_H

#include "roast/report.h"
#include "roast/runfile.h"

/* Zeroed = nothing is open. */
struct source {
    char *path;          /* owned; of the opened file or directory */
    roast_runfile *file; /* owned */
    struct roast_runfile_info info;
    bool wants_file; /* a measurement directory without a run file is an error */
};

/* Each returns 0, or an exit code after printing the reason. */
int source_open(struct source *source, const char *path);
int source_run(struct source *source, bool whole, roast_run **run);
/* A copy without names, which the caller frees. */
int source_anonymised(struct source *source, roast_run **copy);
int source_summary(struct source *source, const roast_summary **summary);
int source_table(struct source *source, enum roast_table_id id, roast_table **table);

/* Opens a run and reads what comparing and forecasting need; the caller frees *chunks. */
int source_open_side(struct source *source, const char *path, struct roast_side *side,
                     roast_table **chunks);

/* Like source_open(), but fails for a measurement directory without a run file. */
int source_open_file(struct source *source, const char *path);

enum roast_origin source_origin(const struct source *source);

/* Prints on standard error if a run is unfinished, cut or damaged. */
void source_note_state(const struct source *source);

void source_close(struct source *source);

#endif
