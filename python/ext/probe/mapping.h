/* SPDX-License-Identifier: BSD-3-Clause */
/* mapping.h - reading mappings that users made.
 *
 * Nothing here fails: what is missing, or of the wrong type, is absent. An exception of
 * the user that is not an Exception stays set; callers check for it at the end. */
#ifndef ROAST_EXT_MAPPING_H
#define ROAST_EXT_MAPPING_H

#include "support.h"

/* mapping[key] as a new reference; NULL if it is not there or None. */
PyObject *mapping_item(PyObject *mapping, const char *key);

/* A finite number; false otherwise. NULL is no number. */
bool number_of(PyObject *object, double *number);
bool mapping_number(PyObject *mapping, const char *key, double *number);

/* value * scale, rounded; 0 if it is negative or too large. */
uint64_t whole_of(double value, double scale);

/* UTF-8 of a str (or what str() makes of it), without credentials; lives as long as the
 * list `kept`. */
struct roast_str text_kept(PyObject *kept, PyObject *object);
struct roast_str file_kept(PyObject *kept, PyObject *object);

/* mapping[key] * scale, rounded; 0 if there is no such number. */
uint64_t mapping_whole(PyObject *mapping, const char *key, double scale);

/* A copy of the dict at a key, which code of the user cannot change while it is read;
 * NULL if there is none. */
PyObject *mapping_dict(PyObject *mapping, const char *key);

/* A record that is made from a mapping, part by part. */
struct record_parts {
    struct probe_state *state;
    roast_record *rec;
    PyObject *mapping; /* borrowed */
    PyObject *kept;    /* list that keeps alive what rec borrows */
    char *out;         /* NULL, or room for the part that is being written */
};

/* Room for a part: false with an exception. finish makes what was written there a field;
 * a negative size is the failure that err describes. -1 with an exception. */
bool part_room(struct record_parts *parts, size_t size_bytes);
int part_finish(struct record_parts *parts, enum roast_field field, int64_t size,
                const roast_error *err);

/* Ladder, endpoints, branches and file. (inside_from_dict.c) */
int inside_from_mapping(struct record_parts *parts);

#endif
