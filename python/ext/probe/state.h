/* SPDX-License-Identifier: BSD-3-Clause */
/* state.h - the state of the module roastcoffea._probe. */
#ifndef ROAST_EXT_STATE_H
#define ROAST_EXT_STATE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "roast/probe.h"
#include "roast/value.h"
#include "roast/view.h"

enum { PROBE_MAX_ERRORS = 100, PROBE_ERROR_BYTES = 256 };

/* Names looked up in other objects, interned once. NAME(c identifier, "text"). */
#define PROBE_NAMES(NAME) \
    NAME(metadata, "metadata") \
    NAME(dataset, "dataset") \
    NAME(filename, "filename") \
    NAME(treename, "treename") \
    NAME(fileuuid, "fileuuid") \
    NAME(entrystart, "entrystart") \
    NAME(entrystop, "entrystop") \
    NAME(events, "events") \
    NAME(attrs, "attrs") \
    NAME(requested, "num_requested_bytes") \
    NAME(output_key, "__roastcoffea_metrics__") \
    NAME(current_chunk, "_roastcoffea_current_chunk") \
    NAME(collect, "_roastcoffea_collect_metrics") \
    NAME(copy, "copy") \
    NAME(item, "item") \
    NAME(dtype, "dtype") \
    NAME(module_name, "__module__") \
    NAME(qualname, "__qualname__") \
    NAME(name, "__name__") \
    NAME(tb_next, "tb_next") \
    NAME(tb_frame, "tb_frame") \
    NAME(tb_lasti, "tb_lasti")

struct probe_names {
#define NAME(id, text) PyObject *id;
    PROBE_NAMES(NAME)
#undef NAME
};

/* The module's state; every pointer is owned. */
struct probe_state {
    PyObject *front;        /* the object whose methods users call */
    PyObject *null_context; /* what track_*() give outside a chunk */
    PyTypeObject *front_type;
    PyTypeObject *section_type;
    PyTypeObject *null_type;
    PyTypeObject *record_type;
    PyObject *default_dict; /* collections.defaultdict, OrderedDict */
    PyObject *ordered_dict;
    PyObject *chunk_property; /* gives each thread its own chunk */
    PyObject *decorate;       /* callables of the Python layer */
    PyObject *byte_source;
    PyObject *work;
    PyObject *stub;         /* arguments that rebuild front anywhere */
    PyObject *known_class;  /* processor class that is prepared already */
    PyObject *known_events; /* class of events seen last ... */
    bool events_have_attrs; /* ... and whether they may lead to a file */
    PyObject *roast_error;  /* exception types */
    PyObject *format_error;
    struct probe_names names;
    PyObject *spare_section; /* memory of a dead section, or NULL */
    bool enabled, live, exact_peak, has_run_id;
    unsigned char run_id[ROAST_RUN_ID_BYTES];
    uint64_t errors;        /* of the monitor, in this process */
    uint64_t strikes;       /* those since it was switched on */
    char loose_run[16];     /* id of the run that loose_errors belong to */
    uint64_t source_errors; /* those of byte_source */
    uint64_t loose_errors;  /* outside of chunks, not yet told by an attempt */
    char first_loose_error[PROBE_ERROR_BYTES], first_error[PROBE_ERROR_BYTES];
};

#endif
