/* SPDX-License-Identifier: BSD-3-Clause */
/* run.h - a run in memory: attempts in columns, samples, facts and marks.
 *
 * One roast_run per `with` block. Several threads may write to it and one may read it
 * at the same time: one mutex guards everything, and no function here calls back.
 * Metrics are computed by analyze.h; a run only holds what was measured.
 *
 *     attempt   one try at one chunk; its begin, chunk and end frames are one row
 *     chunk     dataset, file and entry range; it may take several attempts */
#ifndef ROAST_RUN_H
#define ROAST_RUN_H

#include "roast/record.h"
#include "roast/run_state.h"
#include "roast/sample.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct roast_run roast_run;

/* Returns owned. The clock pair joins the monotonic clock of this host to the realtime
 * clock in which the timeline of the run is kept. */
int roast_run_new(roast_run **out, int64_t start_mono_ns, int64_t start_epoch_ns,
                  roast_error *err);
void roast_run_free(roast_run *run);

/* The end of the run; may be set again. Until then the run is open. */
void roast_run_finish(roast_run *run, int64_t end_mono_ns);

/* The name of the client's host: its processes share the client's monotonic clock. To
 * be set before the first frame. */
int roast_run_set_host(roast_run *run, struct roast_str host, roast_error *err);

/* ---- frames ------------------------------------------------------------------ */

/* Frames with this id belong to the run. */
int roast_run_accept(roast_run *run, const unsigned char run_id[ROAST_RUN_ID_BYTES],
                     roast_error *err);

enum roast_frames_from {
    ROAST_FROM_WORKERS, /* those with an id that was not accepted are foreign */
    ROAST_FROM_USER,    /* from the user: accepted with any id */
};

struct roast_tally {
    uint64_t kept;     /* frames that were new */
    uint64_t repeated; /* repeated, or an end frame that knows less than another one */
    uint64_t foreign;
    uint64_t damaged; /* damaged parts that were skipped */
};

/* Adds the frames of a buffer; *tally (NULL allowed) gets the counts. Fails with
 * NO_MEMORY only; then the buffer may be added again. Damaged and foreign frames are
 * also counted as losses of the run. */
int roast_run_add_frames(roast_run *run, struct roast_str frames,
                         enum roast_frames_from from, struct roast_tally *tally,
                         roast_error *err);

/* Adds a dataset or file name, which resolves the 32-bit ids of begin frames. Names in
 * records are added automatically; one with a secret comes from roast_str_redact_name(). */
int roast_run_add_name(roast_run *run, struct roast_str name, roast_error *err);

/* The chunk records in order of their start, as consecutive frames; those with unknown
 * start come last. Each has the fields of its frame, and those that only the end frame
 * of its attempt had, like task_ns and ladder. start_epoch_ns is on the timeline of
 * the run, as in all tables, and not by the clock of the worker. */
struct roast_chunk_item {
    size_t offset;
    size_t size_bytes;
    uint64_t chunk_id; /* position in the order of start; one per record */
    uint64_t attempt;  /* 1, 2 ... among all attempts of a run id at a chunk */
};

struct roast_chunk_list {
    unsigned char *frames; /* owned */
    struct roast_chunk_item *items;
    size_t count;
};

int roast_run_chunks(roast_run *run, struct roast_chunk_list *out, roast_error *err);
void roast_chunk_list_release(struct roast_chunk_list *list);

/* The rows of one run id that ended well, by their start, to read single records later.
 * A row number never changes. Records of an undecorated process() are not included. */
struct roast_rows {
    uint32_t *rows; /* owned */
    size_t count;
};

int roast_run_rows(roast_run *run, const unsigned char run_id[ROAST_RUN_ID_BYTES],
                   struct roast_rows *out, roast_error *err);
void roast_rows_release(struct roast_rows *rows);

/* Writes such a frame of a row to out; returns its size. ROAST_LIMIT when it needs
 * more than out_bytes, BAD_DATA when the row has none. */
int64_t roast_run_frame(roast_run *run, uint32_t row, void *out, size_t out_bytes,
                        roast_error *err);

/* Numbers of attempts that began, ended well, and failed, what those that ended well have
 * read, and how many chunks there are; for a progress line. */
struct roast_progress {
    uint64_t begun, done, failed;
    uint64_t events, bytes;
    uint64_t planned;   /* all that the calls so far were to process; 0: not known */
    double first_s;     /* from the start of the run to the first attempt; NaN: none */
    uint64_t workers;   /* offered now; 0: not known */
    uint64_t rss_bytes; /* of the workers, at their last samples */
};

void roast_run_progress(roast_run *run, struct roast_progress *out);

/* ---- samples ----------------------------------------------------------------- */

int roast_run_add_sample(roast_run *run, const roast_sample *sample, roast_error *err);

/* A process of the client's tree; becomes a sample of the worker "pid-<pid>", or
 * "pid-<pid>-<started_ticks>" when another process had that pid before. */
int roast_run_add_use(roast_run *run, const struct roast_process_use *use,
                      roast_error *err);

/* From this moment on the executor offers this many workers and threads. */
int roast_run_offer(roast_run *run, int64_t time_ns, uint64_t workers, uint64_t threads,
                    roast_error *err);

/* A worker count that a backend of the user sampled. */
int roast_run_add_count(roast_run *run, int64_t time_ns, uint64_t workers,
                        roast_error *err);

/* The series as they were sampled: one series of one worker after the other. Where no
 * sampler gave them, cores, active_tasks and executing of local worker processes are
 * derived from offers and attempts. */
struct roast_point {
    int64_t time_ns;
    double value;
};

struct roast_timeline {
    char *worker; /* owned, NUL-terminated; NULL: the number of workers */
    enum roast_series series;
    struct roast_point *points; /* owned */
    size_t count;
};

struct roast_tracking {
    struct roast_timeline *lines; /* owned */
    size_t count;
};

int roast_run_tracking(roast_run *run, struct roast_tracking *out, roast_error *err);
void roast_tracking_release(struct roast_tracking *tracking);

/* ---- facts and marks --------------------------------------------------------- */

enum roast_fact {
#define N(name, unit, text) ROAST_FACT_##name,
#include "roast/run_facts.def"
#undef N
    ROAST_FACT_COUNT
};

enum roast_run_loss {
#define K(name, text) ROAST_RUN_LOSS_##name,
#include "roast/run_losses.def"
#undef K
    ROAST_RUN_LOSS_COUNT
};

/* NaN and infinity are ignored. */
void roast_run_set_fact(roast_run *run, enum roast_fact fact, double value);
void roast_run_add_fact(roast_run *run, enum roast_fact fact, double value);
bool roast_run_fact(roast_run *run, enum roast_fact fact, double *value);
void roast_run_lose(roast_run *run, enum roast_run_loss loss, uint64_t count);
uint64_t roast_run_lost(roast_run *run, enum roast_run_loss loss);
/* The first error of the monitor in a worker, cut to fit; "" for none. */
void roast_run_first_error(roast_run *run, char *out, size_t out_bytes);

const char *roast_fact_name(enum roast_fact fact);
const char *roast_run_loss_name(enum roast_run_loss loss);
const char *roast_run_loss_text(enum roast_run_loss loss);

/* ---- notes ------------------------------------------------------------------- */

enum roast_note_group {
#define G(name, text) ROAST_NOTES_##name,
#include "roast/run_note_groups.def"
#undef G
    ROAST_NOTE_GROUP_COUNT
};

const char *roast_note_group_name(enum roast_note_group group);

enum { ROAST_NOTE_NAME_BYTES = 256 }; /* a longer name is LIMIT */

/* Keeps a text under a name, in place of an earlier one; an absent text removes it.
 * Credentials are removed. The names of the group `run` are in run_notes.def. */
int roast_run_set_note(roast_run *run, enum roast_note_group group,
                       struct roast_str name, struct roast_str text, roast_error *err);

/* Copies the text of a note to out, cut to fit and NUL-terminated; returns its whole
 * size without the NUL, -1 where there is none. */
int64_t roast_run_note(roast_run *run, enum roast_note_group group, const char *name,
                       char *out, size_t out_bytes);

/* Calls `note` for every note of a group in the order of their first setting; the run is
 * locked meanwhile: `note` must not call the run. */
typedef void roast_note_visitor(void *context, struct roast_str name,
                                struct roast_str text);
void roast_run_notes(roast_run *run, enum roast_note_group group,
                     roast_note_visitor *note, void *context);

/* All labels in one line, "site=T2, user=me"; those that do not fit are left out.
 * Returns their number, or -1 if splitting the line at every ", " does not give all
 * labels: one was left out, or contains a comma. */
int64_t roast_run_labels(roast_run *run, char *out, size_t out_bytes);

/* ---- clock ------------------------------------------------------------------- */

/* When the run began and ended, in ns since 1970; end 0: it is still running, or its
 * end was not recorded. */
struct roast_span {
    int64_t start_ns;
    int64_t end_ns;
};

struct roast_span roast_run_span(roast_run *run);

/* Moments of the client, in the order they happen; may repeat. */
enum roast_mark {
#define K(number, NAME, name, text) ROAST_MARK_##NAME = (number),
#include "roast/run_marks.def"
#undef K
    ROAST_MARK_LAST /* one past the highest */
};

int roast_run_mark(roast_run *run, enum roast_mark mark, int64_t mono_ns,
                   roast_error *err);

#ifdef __cplusplus
}
#endif

#endif
