/* SPDX-License-Identifier: BSD-3-Clause */
/* state.h - the state of the module roastcoffea._probe. */
#ifndef ROAST_EXT_STATE_H
#define ROAST_EXT_STATE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "roast/probe_ladder.h"
#include "roast/value.h"
#include "roast/view.h"

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
    NAME(copy, "copy") \
    NAME(item, "item") \
    NAME(dtype, "dtype") \
    NAME(module_name, "__module__") \
    NAME(qualname, "__qualname__") \
    NAME(name, "__name__") \
    NAME(tb_next, "tb_next") \
    NAME(tb_frame, "tb_frame") \
    NAME(tb_lasti, "tb_lasti") \
    NAME(file, "file") \
    NAME(source, "source") \
    NAME(own_file, "_file") \
    NAME(own_source, "_source") \
    NAME(own_start, "_start") \
    NAME(own_stop, "_stop") \
    NAME(raw_data, "_raw_data") \
    NAME(file_path, "file_path") \
    NAME(file_path_asked, "_file_path_orig") \
    NAME(access_log, "_access_log") \
    NAME(branch, "branch") \
    NAME(branches, "branches") \
    NAME(column, "column") \
    NAME(column_name, "name") \
    NAME(column_cache, "_column_cache") \
    NAME(column_records, "column_records") \
    NAME(field_id, "field_id") \
    NAME(field_records, "field_records") \
    NAME(field_name, "field_name") \
    NAME(source_field_id, "source_field_id") \
    NAME(parent_field_id, "parent_field_id") \
    NAME(type_name, "type_name") \
    NAME(compressed_bytes, "compressed_bytes") \
    NAME(uncompressed_bytes, "uncompressed_bytes") \
    NAME(num_entries, "num_entries") \
    NAME(members, "_members") \
    NAME(bases, "_bases") \
    NAME(own_data, "_data") \
    NAME(branch_name, "fName") \
    NAME(sub_branches, "fBranches") \
    NAME(zip_bytes, "fZipBytes") \
    NAME(tot_bytes, "fTotBytes") \
    NAME(key_bytes, "fKeylen") \
    NAME(object_bytes, "fObjlen") \
    NAME(classname, "classname") \
    NAME(parent, "parent") \
    NAME(mapping, "_mapping") \
    NAME(cache, "_cache") \
    NAME(partition_key, "_partition_key") \
    NAME(chunk_to_basket, "chunk_to_basket") \
    NAME(basket_to_array, "basket_to_array")

struct probe_names {
#define NAME(id, text) PyObject *id;
    PROBE_NAMES(NAME)
#undef NAME
};

enum {
    PROBE_MAX_ERRORS = 100,
    PROBE_ERROR_BYTES = 256,
    PROBE_KNOWN_FILES = 64,
    PROBE_KEPT_TEXTS = 1024,
    PROBE_HEAVY_CHUNKS = 3, /* in a row, and the hooks are given up */
    PROBE_HEAVY_PERCENT = 5 /* of a chunk's time in hooks is too much */
};

/* A file whose tree was looked at. */
struct known_file {
    bool used;
    uint64_t key;
    struct roast_file_facts facts;
    PyObject *columns; /* owned: {column: (bytes, uncompressed)} of a parquet file */
    uint64_t footer_bytes; /* of a parquet file, read whenever it is opened */
};

/* The module's state; every pointer is owned. */
struct probe_state {
    PyObject *front;        /* the object whose methods users call */
    PyObject *null_context; /* what track_*() give outside a chunk */
    PyTypeObject *front_type;
    PyTypeObject *section_type;
    PyTypeObject *null_type;
    PyTypeObject *record_type;
    PyTypeObject *hook_type;
    PyTypeObject *method_hook_type;
    PyTypeObject *reader_type;
    PyObject *method_type;      /* types.MethodType */
    PyObject *own_executor;     /* uproot's, which works in the thread that asks */
    PyObject *describe_parquet; /* callable of the Python layer */
    PyObject *default_dict;     /* collections.defaultdict, OrderedDict */
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
    PyObject *kept_texts[PROBE_KEPT_TEXTS]; /* str that records share, or NULL */
    struct known_file known_files[PROBE_KNOWN_FILES];
    unsigned next_file;
    unsigned file_tables;    /* sizes of all branches that were told */
    uint64_t hook_cost_ns;   /* of one call through a hook; 0: not measured */
    unsigned heavy_chunks;   /* in a row, in which they cost too much; then it stays */
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
