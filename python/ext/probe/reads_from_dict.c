/* SPDX-License-Identifier: BSD-3-Clause */
/* reads_from_dict.c - what a chunk read, from a mapping with the keys of a record:
 * ladder, endpoints, branches and file.
 *
 * Records of roastcoffea 0.1.2 have `total_branches`, `total_tree_bytes`,
 * `compression_ratio` and `branch_bytes` of a file, and `accessed_branches` of a chunk:
 * enough for all formulas. */
#include "from_dict.h"

/* ---- ladder ------------------------------------------------------------------- */

static void set_item(struct roast_ladder *ladder, enum roast_ladder_item item,
                     PyObject *mapping, const char *key)
{
    enum roast_ladder_kind kind = roast_ladder_info(item)->kind;
    bool is_time = kind == ROAST_LADDER_SLICE || kind == ROAST_LADDER_TIME;
    double number = 0;

    if (mapping_number(mapping, key, &number) && number >= 0)
        roast_ladder_set(ladder, item, whole_of(number, is_time ? 1e9 : 1));
}

static int set_ladder(struct record_parts *parts)
{
    PyObject *slices = mapping_dict(parts->mapping, "ladder");
    struct roast_ladder ladder = {0};
    size_t count = 0;
    const struct roast_view *views = roast_views(&count);
    roast_error err = {0};

    for (int i = 0; slices && i < ROAST_SLICE_COUNT; i++) {
        enum roast_ladder_item slice = (enum roast_ladder_item)i;
        set_item(&ladder, slice, slices, roast_ladder_info(slice)->name);
    }
    Py_XDECREF(slices);
    for (size_t i = 0; i < count; i++) {
        if (views[i].kind == ROAST_VIEW_ITEM)
            set_item(&ladder, views[i].item, parts->mapping, views[i].key);
    }
    if (ladder.present == 0)
        return 0;
    if (!part_room(parts, ROAST_LADDER_BOUND_BYTES))
        return -1;
    int64_t size =
        roast_ladder_write(parts->out, ROAST_LADDER_BOUND_BYTES, &ladder, &err);
    return part_finish(parts, ROAST_FIELD_ladder, size, &err);
}

/* ---- endpoints ---------------------------------------------------------------- */

static int write_endpoints(struct record_parts *parts, PyObject *dict)
{
    size_t max = (size_t)PyDict_Size(dict);
    struct roast_endpoint *all = PyMem_Calloc(max + 1, sizeof(*all));
    size_t bound = ROAST_ENDPOINT_BOUND_BYTES;
    roast_error err = {0};
    PyObject *name;
    PyObject *row;
    Py_ssize_t at = 0;
    size_t count = 0;
    int status = -1;

    if (!all)
        PyErr_NoMemory();
    while (all && PyDict_Next(dict, &at, &name, &row)) {
        if (!PyUnicode_Check(name) || !PyDict_Check(row))
            continue;
        all[count] = (struct roast_endpoint){
            .name = text_kept(parts->kept, name),
            .requests = mapping_whole(row, "requests", 1),
            .ranges = mapping_whole(row, "ranges", 1),
            .bytes = mapping_whole(row, "bytes", 1),
            .wait_ns = mapping_whole(row, "wait", 1e9),
            .errors = mapping_whole(row, "errors", 1),
            .seeks = mapping_whole(row, "seeks", 1),
        };
        bound += ROAST_ENDPOINT_BOUND_BYTES + all[count].name.size_bytes;
        count += all[count].name.data != NULL;
    }
    if (all && part_room(parts, bound)) {
        int64_t size = roast_endpoints_write(parts->out, bound, all, count, &err);
        status = part_finish(parts, ROAST_FIELD_endpoints, size, &err);
    }
    PyMem_Free(all);
    return status;
}

static int set_endpoints(struct record_parts *parts)
{
    PyObject *dict = mapping_dict(parts->mapping, "endpoints");
    int status = dict ? write_endpoints(parts, dict) : 0;

    Py_XDECREF(dict);
    return status;
}

/* ---- branches ----------------------------------------------------------------- */

/* flags[name] |= flag for every name of an iterable of str. */
static int add_flag(PyObject *flags, PyObject *names, long flag)
{
    PyObject *iter = names && !PyUnicode_Check(names) ? PyObject_GetIter(names) : NULL;
    PyObject *name = NULL;
    int status = 0;

    while (status == 0 && iter && (name = PyIter_Next(iter))) {
        PyObject *old =
            PyUnicode_Check(name) ? PyDict_GetItemWithError(flags, name) : NULL;
        PyObject *sum = PyLong_FromLong((old ? PyLong_AsLong(old) : 0) | flag);
        if (!sum || (PyUnicode_Check(name) && PyDict_SetItem(flags, name, sum) < 0))
            status = -1;
        Py_XDECREF(sum);
        Py_DECREF(name);
    }
    Py_XDECREF(iter);
    if (status == 0 && !guard_clear())
        status = -1;
    return status;
}

/* Rows of branches. */
struct rows {
    PyObject *flags; /* {name: flags} */
    PyObject *costs; /* NULL or {name: {bytes, ...}} */
    PyObject *sizes; /* NULL or {name: bytes in the file} */
};

static struct roast_branch branch_of(struct record_parts *parts,
                                     const struct rows *rows, PyObject *name,
                                     PyObject *flags)
{
    PyObject *cost = rows->costs ? PyDict_GetItemWithError(rows->costs, name) : NULL;
    PyObject *size = rows->sizes ? PyDict_GetItemWithError(rows->sizes, name) : NULL;
    struct roast_branch branch = {.name = text_kept(parts->kept, name),
                                  .flags = (unsigned)PyLong_AsLong(flags)};
    double file_bytes = 0;

    if (cost && PyDict_Check(cost)) {
        branch.reads = mapping_whole(cost, "reads", 1);
        branch.bytes = mapping_whole(cost, "bytes", 1);
        branch.uncompressed_bytes = mapping_whole(cost, "uncompressed_bytes", 1);
        branch.ns = mapping_whole(cost, "seconds", 1e9);
    }
    branch.sizes_known = number_of(size, &file_bytes);
    branch.file_bytes = branch.sizes_known ? whole_of(file_bytes, 1) : 0;
    (void)guard_clear();
    return branch;
}

static int write_branches(struct record_parts *parts, enum roast_field field,
                          const struct rows *rows)
{
    size_t max = (size_t)PyDict_Size(rows->flags);
    struct roast_branch *all = PyMem_Calloc(max + 1, sizeof(*all));
    size_t bound = ROAST_BRANCH_BOUND_BYTES;
    roast_error err = {0};
    PyObject *name;
    PyObject *flags;
    Py_ssize_t at = 0;
    size_t count = 0;
    int status = -1;

    if (!all)
        PyErr_NoMemory();
    while (all && PyDict_Next(rows->flags, &at, &name, &flags)) {
        all[count] = branch_of(parts, rows, name, flags);
        bound += ROAST_BRANCH_BOUND_BYTES + all[count].name.size_bytes;
        count += all[count].name.data != NULL;
    }
    if (all && part_room(parts, bound)) {
        int64_t size = roast_branches_write(parts->out, bound, all, count, &err);
        status = part_finish(parts, field, size, &err);
    }
    PyMem_Free(all);
    return status;
}

/* sizes is NULL or {name: bytes in the file}. */
static int set_branches(struct record_parts *parts, PyObject *sizes)
{
    PyObject *costs = mapping_dict(parts->mapping, "branches");
    PyObject *accessed = mapping_item(parts->mapping, "accessed_branches");
    PyObject *offsets = mapping_item(parts->mapping, "offset_branches");
    struct rows rows = {PyDict_New(), costs, sizes};
    int status = rows.flags ? 0 : -1;

    if (status == 0 && (add_flag(rows.flags, costs, 0) < 0 ||
                        add_flag(rows.flags, accessed, ROAST_BRANCH_DATA) < 0 ||
                        add_flag(rows.flags, offsets, ROAST_BRANCH_OFFSETS) < 0))
        status = -1;
    if (status == 0 && (costs || accessed))
        status = write_branches(parts, ROAST_FIELD_branches, &rows);
    Py_XDECREF(rows.flags);
    Py_XDECREF(costs);
    Py_XDECREF(accessed);
    Py_XDECREF(offsets);
    return status;
}

static int set_file_branches(struct record_parts *parts, PyObject *sizes)
{
    struct rows rows = {PyDict_New(), NULL, sizes};
    int status = rows.flags ? add_flag(rows.flags, sizes, 0) : -1;

    if (status == 0)
        status = write_branches(parts, ROAST_FIELD_file_branches, &rows);
    Py_XDECREF(rows.flags);
    return status;
}

/* ---- files -------------------------------------------------------------------- */

/* The number of the name at a key; 0 (unknown) for other values. */
static unsigned word_at(PyObject *dict, const char *key, unsigned count,
                        const char *(*name)(unsigned number))
{
    PyObject *word = mapping_item(dict, key);
    unsigned found = 0;

    for (unsigned i = 1; i < count && word && PyUnicode_Check(word); i++) {
        if (PyUnicode_CompareWithASCIIString(word, name(i)) == 0)
            found = i;
    }
    Py_XDECREF(word);
    return found;
}

/* The uncompressed size may be given as a ratio. */
static void set_sizes(struct roast_file_facts *facts, PyObject *dict)
{
    double compressed = 0;
    double uncompressed = 0;
    double ratio = 0;

    if (!mapping_number(dict, "compressed_bytes", &compressed) &&
        !mapping_number(dict, "total_tree_bytes", &compressed))
        return;
    if (!mapping_number(dict, "uncompressed_bytes", &uncompressed) &&
        !(mapping_number(dict, "compression_ratio", &ratio) && ratio > 0))
        return;
    facts->sizes_known = true;
    facts->compressed_bytes = whole_of(compressed, 1);
    facts->uncompressed_bytes =
        ratio > 0 ? whole_of(compressed, 1 / ratio) : whole_of(uncompressed, 1);
}

static int set_file(struct record_parts *parts, PyObject *dict)
{
    struct roast_file_facts facts = {
        .kind = (enum roast_file_kind)word_at(dict, "kind", ROAST_FILE_KIND_COUNT,
                                              roast_file_kind_name),
        .codec = (enum roast_codec)word_at(dict, "codec", ROAST_CODEC_COUNT,
                                           roast_codec_name),
        .branches = mapping_whole(dict, "total_branches", 1),
        .entries = mapping_whole(dict, "num_entries", 1),
    };
    roast_error err = {0};

    set_sizes(&facts, dict);
    if (!part_room(parts, ROAST_FILE_FACTS_BOUND_BYTES))
        return -1;
    int64_t size =
        roast_file_facts_write(parts->out, ROAST_FILE_FACTS_BOUND_BYTES, &facts, &err);
    return part_finish(parts, ROAST_FIELD_file_facts, size, &err);
}

int reads_from_mapping(struct record_parts *parts)
{
    PyObject *file = mapping_dict(parts->mapping, "file_metadata");
    PyObject *sizes = file ? mapping_dict(file, "branch_bytes") : NULL;
    int status = 0;

    if (set_ladder(parts) < 0 || set_endpoints(parts) < 0 ||
        (file && set_file(parts, file) < 0) || set_branches(parts, sizes) < 0 ||
        (sizes && set_file_branches(parts, sizes) < 0) || PyErr_Occurred())
        status = -1;
    Py_XDECREF(sizes);
    Py_XDECREF(file);
    return status;
}
