/* SPDX-License-Identifier: BSD-3-Clause */
/* export.h - what an exporter gets, and where it writes.
 *
 * An exporter is one file with one function, and one row in export_formats.def. */
#ifndef ROAST_EXPORT_EXPORT_H
#define ROAST_EXPORT_EXPORT_H

#include <stdio.h>

#include "file/new_file.h"
#include "roast/export.h"

struct roast__export {
    roast_run *run; /* whole, unless roast_export_from_summary() */
    const roast_summary *summary;
    const struct roast_export_options *options;

    struct roast_new_file target; /* path NULL: the options have none */
    FILE *file;                   /* that is written; owned */
    roast_error failure;          /* the first one of writing */
};

/* Appends to the output; after a failure a no-op. */
void roast__export_put(struct roast__export *in, const void *bytes, size_t size_bytes);
void roast__export_text(struct roast__export *in, const char *text);
void roast__export_sink(void *in, const void *bytes, size_t size_bytes); /* the same */

/* What follows goes to a new file of this name in the target, a folder. */
int roast__export_file(struct roast__export *in, const char *name, roast_error *err);

/* openmetrics.c: the metrics alone. */
void roast__export_values(struct roast__export *in,
                          const struct roast_metric_values *values);

#define F(NAME, name, alias, suffix, text) \
    int roast__export_##name(struct roast__export *in, roast_error *err);
#define P(NAME, name, alias, suffix, text)
#include "roast/export_formats.def"
#undef F
#undef P

#endif
