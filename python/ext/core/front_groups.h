/* SPDX-License-Identifier: BSD-3-Clause */
/* front_groups.h - sums by dataset or section, in the order they are first seen. */
#ifndef ROAST_EXT_FRONT_GROUPS_H
#define ROAST_EXT_FRONT_GROUPS_H

#include "front.h"

/* The sums of one key. Pointers are owned. */
struct group {
    PyObject *key;
    size_t count;
    struct tally seconds;
    struct tally memory;
    PyObject *events; /* exact sum */
    PyObject *type;   /* of the first record; NULL: none yet */
};

/* Zeroed = empty. */
struct groups {
    PyObject *index; /* key -> number of the row */
    struct group *rows;
    size_t count;
    size_t capacity;
};

/* The group of record[key]; where that is absent record[other] (NULL: no other), else
 * "unknown"; a key that is there but None is its own group, as in 0.1.2. Borrowed until
 * the next call; NULL with an exception. */
struct group *groups_find(struct groups *groups, PyObject *record, const char *key,
                          const char *other);

/* {key: make(group)}; new reference. */
PyObject *groups_dict(const struct groups *groups,
                      PyObject *(*make)(const struct group *group));

void groups_release(struct groups *groups);

#endif
