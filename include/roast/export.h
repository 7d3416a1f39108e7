/* SPDX-License-Identifier: BSD-3-Clause */
/* export.h - runs in the formats of other programs.
 *
 * Text from data is escaped for the format. A file or folder appears when it is
 * complete. */
#ifndef ROAST_EXPORT_H
#define ROAST_EXPORT_H

#include "roast/report.h"
#include "roast/runfile.h"

#ifdef __cplusplus
extern "C" {
#endif

enum roast_export_format {
#define F(NAME, name, alias, suffix, text) ROAST_EXPORT_##NAME,
#define P(NAME, name, alias, suffix, text) ROAST_EXPORT_##NAME,
#include "roast/export_formats.def"
#undef F
#undef P
    ROAST_EXPORT_COUNT
};

struct roast_export_info {
    const char *name;
    const char *alias;  /* "": none */
    const char *suffix; /* "/": a folder */
    const char *text;
    bool by_python; /* roast_export() does not write it */
};

/* The row of a format. Borrows static memory. */
const struct roast_export_info *roast_export_info(enum roast_export_format format);

/* A format by its name or its other name, -1 for none. */
int roast_export_find(const char *name);

struct roast_export_options {
    /* A file, which replaces any but a run file, or a folder, which must not exist.
     * NULL: `put` gets the bytes, and keeps its own failures. */
    const char *path;
    void (*put)(void *context, const void *bytes, size_t size_bytes);
    void *context;
    bool by_worker;   /* openmetrics: numbers of workers too */
    bool by_file;     /* openmetrics: numbers of files too */
    size_t most_rows; /* openmetrics: of each table; 0: all */
    struct roast_report_source source;
};

/* Whether a format needs only the summary and what a run has without its attempts. */
bool roast_export_from_summary(enum roast_export_format format);

/* Other formats need a run that was loaded as a whole. The summary is that of the run; NULL: it is
 * computed. REFUSED for what is written by Python, or to a path only. */
int roast_export(roast_run *run, const roast_summary *summary,
                 enum roast_export_format format,
                 const struct roast_export_options *options, roast_error *err);

/* The numbers of a run alone as openmetrics; for metrics without a run. */
int roast_export_metrics(struct roast_page *out,
                         const struct roast_metric_values *values, roast_error *err);

/* A copy in which users, hosts, paths, datasets, files, processors, workers and labels
 * are numbered names ("dataset-1"), the same in every copy, and texts that may contain
 * any of them are left out. Returns owned. */
int roast_run_anonymise(roast_run **out, roast_run *run, roast_error *err);

/* The same of the run in a file, which need not be loaded for it. */
int roast_runfile_anonymise(roast_run **out, roast_runfile *file, roast_error *err);

#ifdef __cplusplus
}
#endif

#endif
