/* SPDX-License-Identifier: BSD-3-Clause */
/* trace.h - the attempts of a run and what is inside them, for formats that show
 * intervals of time.
 *
 *     roast__trace_open(&trace, run, err)
 *     for each i below trace.count:
 *         lock the run; roast__trace_read(&trace, i); encode trace.now; unlock; write
 *
 * The run may go on while it is written: it is locked for one attempt at a time. */
#ifndef ROAST_EXPORT_TRACE_H
#define ROAST_EXPORT_TRACE_H

#include "analyze/attempt_list.h"
#include "analyze/calls.h"
#include "analyze/record_iter.h"

/* A measured pass through a section. */
struct roast__trace_section {
    struct roast_str name;
    int64_t start_ns;
    int64_t end_ns;
    unsigned depth;
    int parent; /* the pass that it was in; -1: process() itself */
};

/* Borrows the run. */
struct roast__trace_attempt {
    const struct roast_listed_attempt *listed;
    int64_t end_ns;           /* below the start: not known */
    const char *status;       /* NULL: its end was not observed */
    bool failed;              /* or lost, or cancelled */
    int64_t retry_of;         /* in the list: the failed attempt before it; -1: none */
    int32_t call;             /* of the Runner, or ROAST_NO_CALL */
    struct roast_str dataset; /* absent: not known; so are the next two */
    struct roast_str file;
    struct roast_str error_type;
    roast_record record; /* without chunk frame: what the end frame had */
    unsigned char identity[ROAST_IDENTITY_BYTES];
    struct roast_ladder ladder;
    int64_t process_start_ns; /* of process() */
    int64_t process_end_ns;   /* below its start: not known */
    struct roast__trace_section sections[ROAST_SECTION_MAX_INTERVALS]; /* by start */
    int section_count;
};

/* Zeroed = empty and valid; everything is owned. */
struct roast__trace {
    roast_run *run;
    struct roast_listed_attempt *list; /* attempts whose start is known, by start */
    size_t count;
    size_t without_start;
    struct roast_roles roles;
    struct roast_calls calls;
    struct roast_string_table retried; /* chunks with several attempts */
    int64_t *failed;                   /* owned; of each the failed attempt; -1: none */
    size_t failed_cap;
    struct roast_section_list sections; /* of `now` */
    struct roast__trace_attempt now;
    bool out_of_memory;
};

int roast__trace_open(struct roast__trace *trace, roast_run *run, roast_error *err);
void roast__trace_release(struct roast__trace *trace);

/* Reads an attempt to trace->now; in their order, the lock is held. */
void roast__trace_read(struct roast__trace *trace, size_t i);

/* Receives numbers and texts under their names, which have the unit at their end. */
struct roast__fact_sink {
    void (*number)(void *context, const char *name, int64_t value);
    void (*text)(void *context, const char *name, struct roast_str text);
    void *context;
};

/* Passes what is known of trace->now, except for its place in time and its ladder. */
void roast__trace_facts(const struct roast__trace *trace,
                        const struct roast__fact_sink *sink);

/* Times inside its slices, or the slices themselves, as "<name>_ns". */
void roast__trace_ladder(const struct roast__trace *trace, enum roast_ladder_kind kind,
                         const struct roast__fact_sink *sink);

#endif
