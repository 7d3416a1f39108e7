/* SPDX-License-Identifier: BSD-3-Clause */
/* mapping.h - reading mappings that somebody made by hand.
 *
 * Nothing here fails: what is not there, or of the wrong type, is absent. An exception
 * of the user's that is not an Exception stays set; callers look for it at the end. */
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

/* A copy of the dict at a key, which no number of the user's own kind can change while
 * it is read; NULL if there is none. */
PyObject *mapping_dict(PyObject *mapping, const char *key);

/* A blob being written, and where it goes. */
struct blob {
    struct probe_state *state;
    roast_record *rec;
    PyObject *kept; /* list that keeps alive what rec borrows */
    char *out;      /* NULL, or room */
};

/* Both false, or -1, with an exception. finish takes what was written to the room, and
 * a negative size as the failure that err tells. */
bool blob_room(struct blob *blob, size_t size_bytes);
int blob_finish(struct blob *blob, enum roast_field field, int64_t size,
                const roast_error *err);

/* Branches of a mapping; sizes is NULL or {name: bytes in the file}. */
int branches_from_mapping(struct blob *blob, PyObject *mapping, PyObject *sizes);

/* The ladder, branches, endpoints and file of a mapping, put into rec; `kept` keeps
 * their blobs alive. -1 with an exception. */
int ladder_from_mapping(struct probe_state *state, roast_record *rec, PyObject *mapping,
                        PyObject *kept);

#endif
