/* SPDX-License-Identifier: BSD-3-Clause */
/* task.c - names of task ends, task kinds and leave reasons. */
#include "roast/task.h"

static const char *const end_names[ROAST_TASK_END_LAST] = {
#define E(number, name, text) [number] = #name,
#include "roast/task_ends.def"
#undef E
};

static const char *const kind_names[ROAST_KIND_COUNT] = {
#define K(name, text) #name,
#include "roast/task_kinds.def"
#undef K
};

static const struct roast_leave_reason_info leave_reasons[ROAST_LEAVE_COUNT] = {
#define L(name, text, ended) {#name, text, ended},
#include "roast/leave_reasons.def"
#undef L
};

const char *roast_task_end_name(unsigned end)
{
    return end < ROAST_TASK_END_LAST ? end_names[end] : NULL;
}

const char *roast_task_kind_name(enum roast_task_kind kind)
{
    return kind_names[kind];
}

const struct roast_leave_reason_info *roast_leave_reason_info(
    enum roast_leave_reason reason)
{
    return &leave_reasons[reason];
}
