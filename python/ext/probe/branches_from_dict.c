/* SPDX-License-Identifier: BSD-3-Clause */
/* branches_from_dict.c - the branches of a mapping that somebody made by hand.
 *
 * A record of 0.1.2 has `accessed_branches`, and of its file `branch_bytes`: that tells
 * formulas everything but the uncompressed size of a branch in the file, which none of
 * them reads. */
#include "mapping.h"

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

/* dict[name], borrowed, if there are both. */
static PyObject *entry(PyObject *dict, PyObject *name)
{
    PyObject *found = dict ? PyDict_GetItemWithError(dict, name) : NULL;

    (void)guard_clear();
    return found;
}

/* The rows of a blob, and what is known of them. */
struct rows {
    PyObject *flags; /* {name: flags} */
    PyObject *costs; /* NULL or {name: {bytes, ...}} */
    PyObject *sizes; /* NULL or {name: bytes in the file} */
};

static struct roast_branch branch_of(struct blob *blob, const struct rows *rows,
                                     PyObject *name, PyObject *flags)
{
    PyObject *cost = entry(rows->costs, name);
    struct roast_branch branch = {.name = text_kept(blob->kept, name),
                                  .flags = (unsigned)PyLong_AsLong(flags)};
    double file_bytes = 0;

    if (cost && PyDict_Check(cost)) {
        branch.reads = mapping_whole(cost, "reads", 1);
        branch.bytes = mapping_whole(cost, "bytes", 1);
        branch.uncompressed_bytes = mapping_whole(cost, "uncompressed_bytes", 1);
        branch.ns = mapping_whole(cost, "seconds", 1e9);
    }
    branch.sizes_known = number_of(entry(rows->sizes, name), &file_bytes);
    branch.file_bytes = branch.sizes_known ? whole_of(file_bytes, 1) : 0;
    return branch;
}

static int write_branches(struct blob *blob, enum roast_field field,
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
        all[count] = branch_of(blob, rows, name, flags);
        bound += ROAST_BRANCH_BOUND_BYTES + all[count].name.size_bytes;
        count += all[count].name.data != NULL;
    }
    if (all && blob_room(blob, bound)) {
        int64_t size = roast_branches_write(blob->out, bound, all, count, &err);
        status = blob_finish(blob, field, size, &err);
    }
    PyMem_Free(all);
    return status;
}

/* The branches that the chunk says something of. */
static int set_branches(struct blob *blob, PyObject *mapping, PyObject *sizes)
{
    PyObject *costs = mapping_dict(mapping, "branches");
    PyObject *accessed = mapping_item(mapping, "accessed_branches");
    PyObject *offsets = mapping_item(mapping, "offset_branches");
    struct rows rows = {PyDict_New(), costs, sizes};
    int status = rows.flags ? 0 : -1;

    if (status == 0 && (add_flag(rows.flags, costs, 0) < 0 ||
                        add_flag(rows.flags, accessed, ROAST_BRANCH_DATA) < 0 ||
                        add_flag(rows.flags, offsets, ROAST_BRANCH_OFFSETS) < 0))
        status = -1;
    if (status == 0 && (costs || accessed))
        status = write_branches(blob, ROAST_FIELD_branches, &rows);
    Py_XDECREF(rows.flags);
    Py_XDECREF(costs);
    Py_XDECREF(accessed);
    Py_XDECREF(offsets);
    return status;
}

static int set_file_branches(struct blob *blob, PyObject *sizes)
{
    struct rows rows = {PyDict_New(), NULL, sizes};
    int status = rows.flags ? add_flag(rows.flags, sizes, 0) : -1;

    if (status == 0)
        status = write_branches(blob, ROAST_FIELD_file_branches, &rows);
    Py_XDECREF(rows.flags);
    return status;
}

int branches_from_mapping(struct blob *blob, PyObject *mapping, PyObject *sizes)
{
    if (set_branches(blob, mapping, sizes) < 0)
        return -1;
    return sizes ? set_file_branches(blob, sizes) : 0;
}
