/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - pages of text, JSON and HTML: pure functions of metrics and tables.
 *
 * The terminal, rich tables and the notebook card show the same rows. Text from data is
 * escaped for its destination. */
#ifndef ROAST_REPORT_H
#define ROAST_REPORT_H

#include "roast/analyze.h"
#include "roast/compare.h"
#include "roast/number.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A time in ns since 1970 as "2025-11-15T14:02:03.123456789Z", UTC; "-" before 1970 and
 * after 9999. Returns the length without the NUL. */
enum { ROAST_TIME_BYTES = 32 };
size_t roast_format_time(char out[ROAST_TIME_BYTES], int64_t time_ns);

/* ---- the tables of metrics ---------------------------------------------------- */

enum roast_report_table {
#define T(id, title) ROAST_REPORT_##id,
#include "roast/report_tables.def"
#undef T
    ROAST_REPORT_TABLE_COUNT
};

struct roast_row {
    char label[48];
    char value[96];
    bool absent; /* the value is "-", with a reason where there is one */
    bool more;   /* not on the short page */
};

enum { ROAST_REPORT_MAX_ROWS = 48 };

const char *roast_report_title(enum roast_report_table table);

/* The title for these values: those of the fine table may be from our own clocks. */
const char *roast_report_title_of(enum roast_report_table table,
                                  const struct roast_metric_values *values);

/* The rows of a table; the number of rows, 0 when there is nothing to show. */
size_t roast_report_rows(struct roast_row out[ROAST_REPORT_MAX_ROWS],
                         enum roast_report_table table,
                         const struct roast_metric_values *values);

/* ---- pages -------------------------------------------------------------------- */

/* What is not in the metrics. Borrowed; absent parts are left out. */
struct roast_heading {
    struct roast_str name;     /* of the processor */
    struct roast_str executor; /* "Futures, 4 workers" */
    struct roast_str state;    /* "finished", "failed: OSError ...", "still running" */
    struct roast_str started;  /* "2025-11-15 14:02 UTC" */
    struct roast_str labels;   /* "site=T2, user=me" */
    struct roast_str first_error; /* of the monitor itself */
    struct roast_str remarks;     /* what is missing and why, one per line */
    bool incomplete;              /* it failed or has no end: chunks may be missing */
    bool bold;                    /* bold headings, for a terminal */
    const char *full_by; /* the page is short; the full one is shown by this option */
};

/* Where a run was read from. */
enum roast_origin { ROAST_IN_MEMORY, ROAST_IN_RUN_FILE, ROAST_IN_LIVE_FILE };

/* A heading with its texts, from the notes of a run. */
struct roast_heading_text {
    struct roast_heading heading; /* borrows the texts */
    char name[128];
    char executor[128];
    char state[480];
    char started[32];
    char labels[512];
    char first_error[320];
    char remarks[1024];
};

void roast_report_heading(struct roast_heading_text *out, roast_run *run,
                          enum roast_origin origin);

/* The state of a run that has no end or only a live file, as one line; else NULL. */
const char *roast_report_ending(enum roast_origin origin, bool ended);

/* The report in 80 columns, no colour: in at most 70 lines, or everything. */
int roast_report_text(struct roast_page *out, const roast_summary *summary,
                      const struct roast_heading *heading, roast_error *err);

/* The first lines only. */
int roast_report_headline(struct roast_page *out, const roast_summary *summary,
                          const struct roast_heading *heading, roast_error *err);

/* Zeroed: a run in memory. */
struct roast_report_source {
    enum roast_origin origin;
    uint64_t cut_bytes; /* of an incomplete block at the end of its file */
    uint64_t damaged;   /* parts that were left out */
};

/* Everything as one line of strict JSON: the heading, all metrics with reasons, all
 * tables and notes. */
int roast_report_json(struct roast_page *out, const roast_summary *summary,
                      roast_run *run, const struct roast_report_source *source,
                      roast_error *err);

/* A card for notebooks: one <div>, no script, nothing remote. */
int roast_report_card(struct roast_page *out, const roast_summary *summary,
                      const struct roast_heading *heading, roast_error *err);

/* Two runs side by side, the most important difference first; as text, or as JSON with
 * everything. Names are those on the command line. */
int roast_report_compare(struct roast_page *out,
                         const struct roast_comparison *comparison,
                         const struct roast_str names[2], roast_error *err);
int roast_report_compare_json(struct roast_page *out,
                              const struct roast_comparison *comparison,
                              const struct roast_str names[2], roast_error *err);

/* Runs with different numbers of workers; one name for each point. */
int roast_report_scale(struct roast_page *out, const struct roast_scaling *scaling,
                       const struct roast_str *names, roast_error *err);
int roast_report_scale_json(struct roast_page *out, const struct roast_scaling *scaling,
                            const struct roast_str *names, roast_error *err);

int roast_report_forecast(struct roast_page *out, const struct roast_forecast *forecast,
                          const struct roast_plan *plan, roast_error *err);
int roast_report_forecast_json(struct roast_page *out,
                               const struct roast_forecast *forecast,
                               const struct roast_plan *plan, roast_error *err);

/* Rows as aligned text under a title. */
int roast_report_aligned(struct roast_page *out, const char *title,
                         const struct roast_row *rows, size_t count, roast_error *err);

/* One line for a running run: chunks, events/s, Gbit/s, workers, memory. */
struct roast_live_line {
    struct roast_progress progress;
    double seconds;                /* since the block began */
    double machine_memory_percent; /* in use by all processes; < 0: not known */
};

size_t roast_report_live(char *out, size_t out_bytes,
                         const struct roast_live_line *live);

#ifdef __cplusplus
}
#endif

#endif
