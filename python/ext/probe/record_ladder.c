/* SPDX-License-Identifier: BSD-3-Clause */
/* record_ladder.c - the inside of an attempt, in the shapes that readers know:
 *
 *     ladder, split      {slice: seconds}; each adds up to the attempt
 *     branches           {name: {bytes, uncompressed_bytes, seconds, reads}}
 *     accessed_branches  names, sorted; offset_branches the same
 *     endpoints          {name: {requests, ranges, bytes, wait, errors}}
 *     file_metadata      the tree that was read
 *
 * What is not known is left out. */
#include <math.h>

#include "support.h"
#include "types.h"

static PyObject *whole(uint64_t number)
{
    return PyLong_FromUnsignedLongLong(number);
}

static PyObject *seconds(uint64_t ns)
{
    return PyFloat_FromDouble(roast_seconds(ns));
}

/* dict[name] = value; takes value, NULL is an earlier failure. */
static int set_named(PyObject *dict, struct roast_str name, PyObject *value)
{
    PyObject *key = value ? text_new(name) : NULL;
    int status = key ? PyDict_SetItem(dict, key, value) : -1;

    Py_XDECREF(key);
    Py_XDECREF(value);
    return status;
}

/* ---- ladder ------------------------------------------------------------------- */

static PyObject *slices_new(const struct roast_ladder *ladder)
{
    PyObject *out = PyDict_New();

    for (int i = 0; out && i < ROAST_SLICE_COUNT; i++) {
        enum roast_ladder_item slice = (enum roast_ladder_item)i;
        if (roast_ladder_has(ladder, slice) &&
            dict_set(out, roast_ladder_info(slice)->name,
                     seconds(ladder->values[slice])) < 0)
            Py_CLEAR(out);
    }
    return out;
}

static PyObject *split_new(const struct roast_split *split)
{
    PyObject *out = PyDict_New();

    if (out && (dict_set(out, "on_cpu", seconds(split->on_cpu_ns)) < 0 ||
                dict_set(out, "runqueue", seconds(split->runqueue_ns)) < 0 ||
                (split->fetch_known &&
                 dict_set(out, "fetch_wait", seconds(split->fetch_wait_ns)) < 0) ||
                dict_set(out, "blocked", seconds(split->blocked_ns)) < 0))
        Py_CLEAR(out);
    return out;
}

static int add_ladder(struct probe_state *state, PyObject *dict,
                      const roast_record *rec)
{
    const union roast_field_value *v = rec->values;
    struct roast_ladder ladder;
    struct roast_split split;
    roast_error err = {0};

    if (roast_ladder_read(&ladder, v[ROAST_FIELD_ladder].str, &err) < 0) {
        raise_roast(state, &err);
        return -1;
    }
    if (dict_set(dict, "ladder", slices_new(&ladder)) < 0)
        return -1;
    if (!roast_record_has(rec, ROAST_FIELD_task_ns) ||
        !roast_record_has(rec, ROAST_FIELD_task_cpu_ns) ||
        !roast_ladder_split(&split, v[ROAST_FIELD_task_ns].u64,
                            v[ROAST_FIELD_task_cpu_ns].u64, &ladder))
        return 0;
    return dict_set(dict, "split", split_new(&split));
}

/* ---- branches ----------------------------------------------------------------- */

/* All branches of a blob. */
struct branches {
    struct roast_branch *all; /* owned */
    size_t count;
};

/* Counts first: how many there are only the blob knows. */
static int branches_read(struct probe_state *state, struct branches *out,
                         struct roast_str blob)
{
    roast_error err = {0};
    int64_t count = roast_branches_read(NULL, 0, blob, &err);

    if (count < 0) {
        raise_roast(state, &err);
        return -1;
    }
    out->count = (size_t)count;
    out->all = PyMem_Calloc(out->count > 0 ? out->count : 1, sizeof(*out->all));
    if (!out->all) {
        PyErr_NoMemory();
        return -1;
    }
    (void)roast_branches_read(out->all, out->count, blob, NULL);
    return 0;
}

static PyObject *branch_new(const struct roast_branch *branch)
{
    return Py_BuildValue(
        "{s:K,s:K,s:d,s:K}", "bytes", (unsigned long long)branch->bytes,
        "uncompressed_bytes", (unsigned long long)branch->uncompressed_bytes, "seconds",
        roast_seconds(branch->ns), "reads", (unsigned long long)branch->reads);
}

static PyObject *table_new(const struct branches *b)
{
    PyObject *out = PyDict_New();

    for (size_t i = 0; out && i < b->count; i++) {
        if (set_named(out, b->all[i].name, branch_new(&b->all[i])) < 0)
            Py_CLEAR(out);
    }
    return out;
}

/* The names of those that are asked for, sorted. */
static PyObject *names_new(const struct branches *b,
                           bool (*is_wanted)(const struct roast_branch *branch))
{
    PyObject *names = PyList_New(0);

    for (size_t i = 0; names && i < b->count; i++) {
        PyObject *name = is_wanted(&b->all[i]) ? text_new(b->all[i].name) : NULL;
        if ((name && PyList_Append(names, name) < 0) || PyErr_Occurred())
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    if (names && PyList_Sort(names) < 0)
        Py_CLEAR(names);
    return names;
}

static int add_branches(struct probe_state *state, PyObject *dict,
                        const roast_record *rec)
{
    struct branches b = {NULL, 0};
    int status = branches_read(state, &b, rec->values[ROAST_FIELD_branches].str);

    if (status == 0 && (dict_set(dict, "branches", table_new(&b)) < 0 ||
                        dict_set(dict, "accessed_branches",
                                 names_new(&b, roast_branch_is_accessed)) < 0 ||
                        dict_set(dict, "offset_branches",
                                 names_new(&b, roast_branch_is_offsets_only)) < 0))
        status = -1;
    PyMem_Free(b.all);
    return status;
}

/* ---- endpoints ---------------------------------------------------------------- */

static PyObject *endpoint_new(const struct roast_endpoint *endpoint)
{
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:d,s:K}", "requests", (unsigned long long)endpoint->requests,
        "ranges", (unsigned long long)endpoint->ranges, "bytes",
        (unsigned long long)endpoint->bytes, "wait", roast_seconds(endpoint->wait_ns),
        "errors", (unsigned long long)endpoint->errors);
}

static PyObject *endpoints_new(const struct roast_endpoint *all, size_t count)
{
    PyObject *out = PyDict_New();

    for (size_t i = 0; out && i < count; i++) {
        if (set_named(out, all[i].name, endpoint_new(&all[i])) < 0)
            Py_CLEAR(out);
    }
    return out;
}

static int add_endpoints(struct probe_state *state, PyObject *dict,
                         const roast_record *rec)
{
    struct roast_str blob = rec->values[ROAST_FIELD_endpoints].str;
    roast_error err = {0};
    int64_t got = roast_endpoints_read(NULL, 0, blob, &err);
    size_t count = got > 0 ? (size_t)got : 0;
    struct roast_endpoint *all = PyMem_Calloc(count + 1, sizeof(*all));
    int status = -1;

    if (got < 0)
        raise_roast(state, &err);
    else if (!all)
        PyErr_NoMemory();
    else if (roast_endpoints_read(all, count, blob, NULL) >= 0)
        status = dict_set(dict, "endpoints", endpoints_new(all, count));
    PyMem_Free(all);
    return status;
}

/* ---- files -------------------------------------------------------------------- */

static PyObject *branch_bytes_new(struct probe_state *state, struct roast_str blob)
{
    struct branches b = {NULL, 0};
    PyObject *out = branches_read(state, &b, blob) < 0 ? NULL : PyDict_New();

    for (size_t i = 0; out && i < b.count; i++) {
        if (b.all[i].sizes_known &&
            set_named(out, b.all[i].name, whole(b.all[i].file_bytes)) < 0)
            Py_CLEAR(out);
    }
    PyMem_Free(b.all);
    return out;
}

static int set_words(PyObject *out, const struct roast_file_facts *facts)
{
    const char *kind = roast_file_kind_name(facts->kind);
    const char *codec = roast_codec_name(facts->codec);

    if (kind && dict_set(out, "kind", PyUnicode_FromString(kind)) < 0)
        return -1;
    return codec ? dict_set(out, "codec", PyUnicode_FromString(codec)) : 0;
}

static int set_known(PyObject *out, const char *key, double number)
{
    return isnan(number) ? 0 : dict_set(out, key, PyFloat_FromDouble(number));
}

static int set_sizes(PyObject *out, const struct roast_file_facts *facts)
{
    if (facts->sizes_known &&
        (dict_set(out, "compressed_bytes", whole(facts->compressed_bytes)) < 0 ||
         dict_set(out, "uncompressed_bytes", whole(facts->uncompressed_bytes)) < 0 ||
         dict_set(out, "total_tree_bytes", whole(facts->compressed_bytes)) < 0))
        return -1;
    if (set_known(out, "compression_ratio", roast_file_ratio(facts)) < 0)
        return -1;
    return set_known(out, "compression_factor", roast_file_factor(facts));
}

static int set_file(PyObject *out, const struct roast_file_facts *facts,
                    struct roast_str file)
{
    if (file.data && dict_set(out, "filename", text_new(file)) < 0)
        return -1;
    if (set_words(out, facts) < 0 || set_sizes(out, facts) < 0 ||
        dict_set(out, "total_branches", whole(facts->branches)) < 0)
        return -1;
    return dict_set(out, "num_entries", whole(facts->entries));
}

static struct roast_str str_at(const roast_record *rec, enum roast_field field)
{
    static const struct roast_str none = {NULL, 0};

    return roast_record_has(rec, field) ? rec->values[field].str : none;
}

static int add_file(struct probe_state *state, PyObject *dict, const roast_record *rec)
{
    struct roast_str branches = str_at(rec, ROAST_FIELD_file_branches);
    struct roast_file_facts facts;
    roast_error err = {0};

    if (roast_file_facts_read(&facts, str_at(rec, ROAST_FIELD_file_facts), &err) < 0) {
        raise_roast(state, &err);
        return -1;
    }
    PyObject *out = PyDict_New();
    if (out && (set_file(out, &facts, str_at(rec, ROAST_FIELD_file)) < 0 ||
                (branches.data &&
                 dict_set(out, "branch_bytes", branch_bytes_new(state, branches)) < 0)))
        Py_CLEAR(out);
    return dict_set(dict, "file_metadata", out);
}

int record_add_ladder(struct probe_state *state, PyObject *dict,
                      const roast_record *rec)
{
    static const struct {
        enum roast_field field;
        int (*add)(struct probe_state *state, PyObject *dict, const roast_record *rec);
    } parts[] = {
        {ROAST_FIELD_ladder, add_ladder},
        {ROAST_FIELD_branches, add_branches},
        {ROAST_FIELD_endpoints, add_endpoints},
        {ROAST_FIELD_file_facts, add_file},
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (roast_record_has(rec, parts[i].field) && parts[i].add(state, dict, rec) < 0)
            return -1;
    }
    return 0;
}
