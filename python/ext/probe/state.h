/* SPDX-License-Identifier: BSD-3-Clause */
/* state.h - the state of the module roastcoffea._probe. */
#ifndef ROAST_EXT_STATE_H
#define ROAST_EXT_STATE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "names.h"
#include "roast/probe_ladder.h"
#include "roast/value.h"
#include "roast/view.h"

enum {
    PROBE_MAX_ERRORS = 100,
    PROBE_ERROR_BYTES = 256,
    PROBE_KNOWN_FILES = 64,
    PROBE_KEPT_TEXTS = 1024,
    PROBE_HEAVY_CHUNKS = 3, /* in a row, then the hooks are removed */
    PROBE_HEAVY_PERCENT = 5 /* of a chunk's time in hooks is too much */
};

/* A file whose facts are known. */
struct known_file {
    bool used;
    uint64_t key;
    struct roast_file_facts facts;
    PyObject *columns; /* owned: {column: (bytes, uncompressed)} of a parquet file */
    uint64_t footer_bytes; /* of a parquet file, read whenever it is opened */
};

/* References that the state owns: OWNED(type, name). */
#define PROBE_OWNED(OWNED) \
    OWNED(PyObject, user_functions) /* the object whose methods users call */ \
    OWNED(PyObject, null_context)   /* what track_*() return outside a chunk */ \
    OWNED(PyTypeObject, user_functions_type) \
    OWNED(PyTypeObject, section_type) \
    OWNED(PyTypeObject, record_type) \
    OWNED(PyTypeObject, hook_type) \
    OWNED(PyTypeObject, method_hook_type) \
    OWNED(PyTypeObject, reader_type) \
    OWNED(PyTypeObject, held_type) \
    OWNED(PyObject, method_type)      /* types.MethodType */ \
    OWNED(PyObject, own_executor)     /* uproot's class: runs tasks in the caller */ \
    OWNED(PyObject, describe_parquet) /* callable of the Python layer */ \
    OWNED(PyObject, default_dict)     /* collections.defaultdict, OrderedDict */ \
    OWNED(PyObject, ordered_dict) \
    OWNED(PyObject, chunk_property) /* the chunk of the calling thread */ \
    OWNED(PyObject, decorate)       /* callables of the Python layer */ \
    OWNED(PyObject, byte_source) \
    OWNED(PyObject, work) \
    OWNED(PyObject, stub)        /* what user_functions.__reduce__() returns */ \
    OWNED(PyObject, known_class) /* processor class that has chunk_property already */ \
    OWNED(PyObject, known_events) /* class of the last events */ \
    OWNED(PyObject, roast_error)  /* exception types */ \
    OWNED(PyObject, format_error)

struct probe_state {
#define OWNED(type, name) type *name;
    PROBE_OWNED(OWNED)
#undef OWNED
    bool events_have_attrs; /* known_events has `attrs`, which lead to a file */
    struct probe_names names;
    PyObject *kept_texts[PROBE_KEPT_TEXTS]; /* str that records share, or NULL */
    struct known_file known_files[PROBE_KNOWN_FILES];
    unsigned next_file;
    unsigned file_tables;        /* files whose branch sizes were sent */
    uint64_t hook_cost_ns;       /* of one call through a hook; 0: not measured */
    unsigned heavy_chunks;       /* in a row, in which the hooks cost too much */
    PyObject *spare_section;     /* memory of a freed section, or NULL */
    struct hot_lines *hot_lines; /* owned; NULL before the first use */
    bool enabled, exact_peak;
    uint64_t errors;        /* of the monitor, in this process */
    uint64_t strikes;       /* those since it was switched on */
    char loose_run[16];     /* id of the run that loose_errors belong to */
    uint64_t source_errors; /* of byte_source */
    uint64_t loose_errors;  /* outside of chunks, not yet in an end frame */
    char first_loose_error[PROBE_ERROR_BYTES], first_error[PROBE_ERROR_BYTES];
};

#endif
