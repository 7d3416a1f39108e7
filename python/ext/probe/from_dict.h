/* SPDX-License-Identifier: BSD-3-Clause */
/* from_dict.h - reading mappings that users made, into the fields of a record.
 *
 * A value that is missing or of the wrong type is absent, never an error. An exception
 * that is not an Exception (Ctrl-C) stays set; callers check for it at the end. */
#ifndef ROAST_EXT_FROM_DICT_H
#define ROAST_EXT_FROM_DICT_H

#include "support.h"

/* mapping[key] as a new reference; NULL if it is missing or None. */
PyObject *mapping_item(PyObject *mapping, const char *key);

/* A finite number; false otherwise. NULL is no number. */
bool number_of(PyObject *object, double *number);
bool mapping_number(PyObject *mapping, const char *key, double *number);

/* value * scale, rounded; 0 if it is negative or too large. */
uint64_t whole_of(double value, double scale);

/* UTF-8 of str(object) without credentials; lives as long as the list `kept`. */
struct roast_str text_kept(PyObject *kept, PyObject *object);
struct roast_str name_kept(PyObject *kept, PyObject *object);

/* mapping[key] * scale, rounded; 0 if there is no such number. */
uint64_t mapping_whole(PyObject *mapping, const char *key, double scale);

/* A copy of the dict at a key: user code cannot change it while it is read. NULL: none. */
PyObject *mapping_dict(PyObject *mapping, const char *key);

/* A record while it is built from a mapping. */
struct record_parts {
    struct probe_state *state;
    roast_record *rec;
    PyObject *mapping; /* borrowed */
    PyObject *kept;    /* list that keeps alive what rec borrows */
    char *out;         /* NULL, or buffer of the part that is being written */
};

/* part_room() allocates the buffer; part_finish() turns it into a field, or raises err if
 * size is negative. */
bool part_room(struct record_parts *parts, size_t size_bytes);
int part_finish(struct record_parts *parts, enum roast_field field, int64_t size,
                const roast_error *err);

/* Ladder, endpoints, branches and file. (reads_from_dict.c) */
int reads_from_mapping(struct record_parts *parts);

#endif
