/* SPDX-License-Identifier: BSD-3-Clause */
/* probe.h - measuring one chunk on the thread that runs it.
 *
 *     roast_thread *thread = roast_thread_get(&err);
 *     roast_chunk_begin(thread, &options);
 *     roast_chunk_start(thread);                      clocks start
 *         roast_section_begin(thread, ...); ... roast_section_end(thread, ...);
 *     roast_chunk_stop(thread);                       clocks stop
 *     roast_chunk_finish(thread, &end, &frame, &err); the record as a frame
 *
 * All state belongs to the thread: several threads measure at once without locks. After
 * the first chunk of a thread no call allocates, unless a chunk is larger than all before
 * it. A forked child gets another process id, and a chunk that was running when the
 * process forked is not reported twice. */
#ifndef ROAST_PROBE_H
#define ROAST_PROBE_H

#include "roast/record.h"
#include "roast/value.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct roast_thread roast_thread;

/* ---- one reading ------------------------------------------------------------- */

/* Resident memory of this process now; false where it cannot be read. */
bool roast_rss_now(roast_thread *thread, uint64_t *rss_bytes);

/* Monotonic nanoseconds, the clock of all durations. */
int64_t roast_mono_ns(void);

/* ---- threads ----------------------------------------------------------------- */

/* The calling thread's state; NULL before its first roast_thread_get(). */
roast_thread *roast_thread_current(void);

/* The same, made on first use. Borrowed until the thread ends, which frees it. NULL and
 * err when out of memory. */
roast_thread *roast_thread_get(roast_error *err);

/* Time of the monitor outside of chunks: counted with the thread's next chunk. */
void roast_thread_add_cost(roast_thread *thread, int64_t cost_ns);

/* ---- names -------------------------------------------------------------------- */

/* Copies the name of a dataset, a file or a tree without secrets, marked with the key of
 * the thread's attempt or of the process (roast_str_redact_name()). The names of the
 * latest chunks are remembered. */
size_t roast_thread_redact_name(roast_thread *thread, char *out, size_t out_bytes,
                                struct roast_str name);

/* The random key of this process and of its forked children, which is never stored. */
const unsigned char *roast_name_key(void);

/* ---- the process --------------------------------------------------------------- */

/* Adds a text to the facts that go with the first chunk of a run in this process: a
 * version, or the name of a site. Keys are cut at 15 bytes, texts at 63. One thread at a
 * time, each key once; those above ROAST_MAX_PROCESS_TEXTS are left out. */
enum { ROAST_MAX_PROCESS_TEXTS = 8 };
void roast_process_describe(struct roast_str key, struct roast_str text);

/* ---- chunks ------------------------------------------------------------------ */

struct roast_chunk_options {
    const unsigned char *run_id; /* 16 bytes, borrowed for the call; NULL: no run */
    bool exact_peak; /* reset the high-water mark first (the whole process sees it) */
};
#define ROAST_CHUNK_OPTIONS_INIT \
    { \
        NULL, false \
    }

/* Opens a chunk: clears the state of the last one and reads memory and I/O. No other chunk
 * may be open on this thread. */
void roast_chunk_begin(roast_thread *thread, const struct roast_chunk_options *options);

/* True from begin to finish. */
bool roast_chunk_active(const roast_thread *thread);

/* The record of the open chunk, for facts the caller knows. Texts in it are borrowed until
 * finish. */
roast_record *roast_chunk_record(roast_thread *thread);

/* Sets the record's file to a copy without secrets. */
void roast_chunk_set_file(roast_thread *thread, struct roast_str file);

/* Sets the reason why a field of the record is absent; the first reason counts. */
void roast_chunk_absent(roast_thread *thread, enum roast_field field,
                        enum roast_reason why);

/* Counts a loss: measured, and not kept. */
void roast_chunk_lose(roast_thread *thread, enum roast_loss loss, uint64_t count);

/* Free-form values: keys the user set, and metrics the user recorded. */
roast_values *roast_chunk_user_keys(roast_thread *thread);
roast_values *roast_chunk_custom_metrics(roast_thread *thread);

/* The begin frame of the chunk, at most 64 bytes. Borrows the thread's memory until the
 * next call for it; absent when memory ran out. */
struct roast_str roast_chunk_begin_frame(roast_thread *thread);

/* Directly before and directly after the work. stop is also called when it failed. */
void roast_chunk_start(roast_thread *thread);
void roast_chunk_stop(roast_thread *thread);

struct roast_chunk_end {
    enum roast_chunk_status status;
    struct roast_str error_type;    /* with FAILED */
    struct roast_str error_message; /* credentials are taken out here */
    const void *error_token; /* as passed to roast_section_failed(), only compared */
    uint64_t monitor_errors; /* of the attempt, outside of its chunks */
    struct roast_str monitor_first_error;
};

/* Closes the chunk and returns its frame, borrowed until the next begin on this thread.
 * Fails with NO_MEMORY, or with UNAVAILABLE in a forked child whose parent reports the
 * chunk; the chunk is closed in any case. */
int roast_chunk_finish(roast_thread *thread, const struct roast_chunk_end *end,
                       struct roast_str *frame, roast_error *err);

/* The caller has passed the frame on. The time since finish is monitor time, counted
 * with the thread's next chunk because the record of this one is already encoded. */
void roast_chunk_delivered(roast_thread *thread);

/* The <= 256 bytes end frame of the chunk finished last, borrowed like its frame. */
struct roast_str roast_chunk_end_frame(roast_thread *thread);

/* ---- attempts ---------------------------------------------------------------- */

/* The item that an executor processes next. Texts may be absent; all are borrowed for
 * the call. */
struct roast_attempt_item {
    struct roast_str dataset; /* secrets are taken out of names here */
    struct roast_str file;
    struct roast_str treename;
    struct roast_str uuid;
    struct roast_str worker; /* its name in the executor */
    bool has_entries;
    uint64_t entry_start;
    uint64_t entry_stop;
    uint64_t begun_ago_ns; /* time since the executor began it */
    bool packs;            /* the executor packs its result: roast_attempt_packed() */
    const unsigned char *name_key; /* of the collector; NULL: roast_name_key() */
};

/* Opens an attempt on this thread: everything an executor does for one chunk, including
 * opening the file and building the events. The first chunk begun inside it gets its
 * identity, and the fields of the item that the events do not have. Returns the begin
 * frame, borrowed until the next call for the thread; absent for an attempt inside
 * another one, which counts as part of that. */
struct roast_str roast_attempt_begin(roast_thread *thread, const unsigned char *run_id,
                                     const struct roast_attempt_item *item);

/* True from begin to end. */
bool roast_attempt_active(const roast_thread *thread);

/* Adds the frame of a chunk to those that the attempt sends at its end. */
int roast_attempt_add_frame(roast_thread *thread, struct roast_str frame,
                            roast_error *err);

/* What an attempt sends: its chunks, and its end frame, which follows them in memory.
 * Absent for an attempt inside another one. */
struct roast_attempt_frames {
    struct roast_str chunks; /* may be empty */
    struct roast_str end;
};

/* Closes the attempt. *frames borrows until the next attempt of the thread. Chunks are
 * those that were added, or a record of the attempt itself where it failed before
 * process() or process() is not decorated. One end frame is sent per attempt: this one,
 * or that of roast_attempt_packed(). */
int roast_attempt_end(roast_thread *thread, const struct roast_chunk_end *end,
                      struct roast_attempt_frames *frames, roast_error *err);

/* The executor has packed the result of the attempt that this thread ended last, to so
 * many bytes (0: not known): the end frame that includes the packing, borrowed until the
 * next call for the thread. Absent without an attempt, and for one that failed, was
 * packed before or has no ladder. */
struct roast_str roast_attempt_packed(roast_thread *thread, uint64_t output_bytes);

/* Appends frames to <dir>/<process id>.frames with one write(2); all of them or, with
 * ROAST_IO, none. */
int roast_spool_append(const char *dir, struct roast_str frames, roast_error *err);

/* ---- sections ---------------------------------------------------------------- */

enum {
    ROAST_SECTION_MAX_DEPTH = 64,
    ROAST_SECTION_MAX_NAME_BYTES = 200,
};

/* Identifies one open section, so that an end is matched in any order of calls. */
struct roast_section_token {
    const void *thread; /* only compared */
    uint64_t serial;    /* 0: no section was opened */
};

/* Opens a section under the innermost open one. Never fails: above the limits the time
 * is added to "(other)" or to the parent, and counted as a loss. */
struct roast_section_token roast_section_begin(roast_thread *thread,
                                               struct roast_str name,
                                               enum roast_section_kind kind);

/* The section that is ended next was left by an exception. error_token identifies the
 * exception and is unique within the chunk; the innermost section that it left is
 * recorded. */
void roast_section_failed(roast_thread *thread, const void *error_token);

#define ROAST_UNKNOWN_BYTES UINT64_MAX

/* Ends a section; open sections inside it end with it, with unknown bytes. bytes counts
 * for ROAST_SECTION_BYTES. A token of another thread or chunk changes nothing and is
 * counted. */
void roast_section_end(roast_thread *thread, struct roast_section_token token,
                       uint64_t bytes);

/* ---- the process ------------------------------------------------------------- */

/* Queues a frame that could not be sent with an output; the queue holds at most 16
 * MiB. */
int roast_outbox_put(struct roast_str frame, roast_error *err);

/* Empties the queue: *frames is returned owned, for roast_outbox_release(). *dropped
 * gets the number of frames dropped since it was emptied last. */
void roast_outbox_take(struct roast_str *frames, uint64_t *dropped);
void roast_outbox_release(struct roast_str *frames);

/* Puts taken frames back at the front of the queue, and their count. Takes *frames. */
void roast_outbox_put_back(struct roast_str *frames, uint64_t dropped);

/* A random id of this process; a forked child has another one. */
uint64_t roast_process_id(void);

/* Where the state of the interpreter is in memory: threads that wait for a futex in there
 * wait for its lock (GIL). Without it the time of such waits is not known. */
void roast_interpreter_set(const void *state, size_t size_bytes);

#ifdef __cplusplus
}
#endif

#endif
