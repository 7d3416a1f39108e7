/* SPDX-License-Identifier: BSD-3-Clause */
/* arrow.h - tables in Arrow's C data and stream interfaces.
 *
 * The layout of the structs is a published ABI, so no library is needed. The consumer
 * calls `release` once, on any thread, with or without the GIL; a struct that was
 * released or moved has `release` NULL. */
#ifndef ROAST_CORE_ARROW_H
#define ROAST_CORE_ARROW_H

#include "state.h"

enum { ARROW_NULLABLE = 2 }; /* of ArrowSchema.flags */

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *schema);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *array);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *stream);
    void (*release)(struct ArrowArrayStream *stream);
    void *private_data;
};

/* Capsules of Arrow's PyCapsule interface. Both hold a reference to the columns; a capsule
 * that is not consumed frees its content. */
PyObject *arrow_stream_new(roast_table *columns);
PyObject *arrow_schema_new(roast_table *columns);

#endif
