/* SPDX-License-Identifier: BSD-3-Clause */
/* task.h - what the scheduler of a cluster reports: tasks, and workers that join and
 * leave.
 *
 * A task that was tried twice is two of these. All times are on the timeline of the
 * run: ns since 1970 by the realtime clock of the client, 0 where unknown. */
#ifndef ROAST_TASK_H
#define ROAST_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "roast/text.h"

#ifdef __cplusplus
extern "C" {
#endif

enum roast_task_end {
#define E(number, name, text) ROAST_TASK_##name = (number),
#include "roast/task_ends.def"
#undef E
    ROAST_TASK_END_LAST /* one past the highest */
};
/* Flag of a task of the run, added to the stored or sent number of its end. */
enum { ROAST_TASK_OURS = 128 };

enum roast_task_kind {
#define K(name, text) ROAST_KIND_##name,
#include "roast/task_kinds.def"
#undef K
    ROAST_KIND_COUNT
};

enum roast_leave_reason {
#define L(name, text, ended) ROAST_LEAVE_##name,
#include "roast/leave_reasons.def"
#undef L
    ROAST_LEAVE_COUNT
};

struct roast_leave_reason_info {
    const char *name;
    const char *text;
    const char *ended;
};

const char *roast_task_end_name(unsigned end); /* NULL if unknown */
const char *roast_task_kind_name(enum roast_task_kind kind);
const struct roast_leave_reason_info *roast_leave_reason_info(
    enum roast_leave_reason reason);

/* Texts are borrowed for the call. */
struct roast_task {
    struct roast_str prefix; /* the name that the scheduler groups it under */
    struct roast_str worker; /* its address; absent: never assigned */
    uint32_t key_hash;       /* CRC-32 of its key; joins it to attempts */
    bool ours;               /* sent from inside the block */
    enum roast_task_end end;
    int64_t assigned_ns;
    int64_t start_ns; /* by the worker; unknown without a result */
    int64_t stop_ns;  /* by the worker, else when the scheduler noticed the end */
};

/* A worker as it joins; one that comes back at the same address joins again. */
struct roast_member {
    struct roast_str worker; /* address: the name it has in samples and records */
    struct roast_str name;   /* its name in the cluster */
    struct roast_str host;
    int64_t joined_ns; /* the start of the run if it joined before */
    uint64_t pid;      /* 0: not known */
    uint64_t threads;
    uint64_t memory_limit_bytes; /* 0: none */
};

struct roast_departure {
    struct roast_str worker;
    struct roast_str reason; /* as the scheduler gives it; absent: none */
    int64_t left_ns;
    bool expected; /* its end was requested */
};

/* Seconds, bytes or a count that the cluster sums under a name. */
struct roast_activity {
    struct roast_str context;  /* "execute", "get-data", ... */
    struct roast_str prefix;   /* of the tasks; absent: of no task */
    struct roast_str activity; /* "thread-cpu", "deserialize", ... */
    struct roast_str unit;
    double value;
};

/* A line of user code in a statistical profile. */
struct roast_hot_line {
    struct roast_str file;
    struct roast_str function;
    struct roast_str text; /* of the line, where it could be read */
    uint64_t line;
    double seconds;      /* in it and in what it calls */
    double self_seconds; /* in it alone */
};

#ifdef __cplusplus
}
#endif

#endif
