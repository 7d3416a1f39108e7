/* SPDX-License-Identifier: BSD-3-Clause */
/* front_branch.c - which branches were read, and how much of each file.
 *
 * The percentages of a file are those of its first chunk that has them; 0.1.2 took the
 * first chunk of the file even when it had none, and said 0. */
#include "front.h"

static const char suffix[] = "-data";

/* The name without "-data": 1; 0 for other columns; -1. */
static int branch_of(PyObject **out, PyObject *column)
{
    const Py_ssize_t cut = (Py_ssize_t)sizeof(suffix) - 1;
    PyObject *tail = NULL;
    Py_ssize_t length = PyUnicode_Check(column) ? PyUnicode_GetLength(column) : -1;

    *out = NULL;
    if (length < 0) {
        PyErr_Format(PyExc_TypeError, "a column is a str, not %R", column);
        return -1;
    }
    if (length < cut)
        return 0;
    tail = PyUnicode_Substring(column, length - cut, length);
    if (tail && PyUnicode_CompareWithASCIIString(tail, suffix) == 0)
        *out = PyUnicode_Substring(column, 0, length - cut);
    Py_XDECREF(tail);
    if (*out)
        return 1;
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *accessed_branches(PyObject *module, PyObject *columns)
{
    PyObject *list = PySequence_List(columns);
    PyObject *branches = list ? PySet_New(NULL) : NULL;
    Py_ssize_t count = branches ? PyList_Size(list) : 0;

    (void)module;
    for (Py_ssize_t i = 0; branches && i < count; i++) {
        PyObject *branch = NULL;
        int found = branch_of(&branch, PyList_GetItem(list, i));
        if (found < 0 || (found == 1 && PySet_Add(branches, branch) < 0))
            Py_CLEAR(branches);
        Py_XDECREF(branch);
    }
    Py_XDECREF(list);
    return branches;
}

/* ---- what the chunks say ----------------------------------------------------- */

/* Owned; a NULL is an earlier failure. */
struct seen {
    PyObject *metadata; /* file -> metadata, the first of each file */
    PyObject *reads;    /* file -> the percentages of its chunks */
    PyObject *branches; /* all that were read */
};

static int keep_metadata(PyObject *metadata, PyObject *chunk)
{
    PyObject *facts = NULL, *file = NULL;
    int found = front_get(&facts, chunk, "file_metadata");

    if (found == 1)
        found = PyObject_IsTrue(facts);
    if (found == 1)
        found = front_get(&file, facts, "filename");
    if (found == 1)
        found = PyObject_IsTrue(file);
    if (found == 1) {
        found = PyDict_Contains(metadata, file);
        if (found == 0)
            found = PyDict_SetItem(metadata, file, facts);
    }
    Py_XDECREF(file);
    Py_XDECREF(facts);
    return found < 0 ? -1 : 0;
}

/* Copies row[key] = chunk[key] unless an earlier chunk gave one. */
static int keep_first(PyObject *row, PyObject *chunk, const char *key)
{
    PyObject *value = NULL, *earlier = NULL;
    int found = front_get(&earlier, row, key);

    if (found == 0)
        found = front_get(&value, chunk, key);
    if (value && PyDict_SetItemString(row, key, value) < 0)
        found = -1;
    Py_XDECREF(earlier);
    Py_XDECREF(value);
    return found < 0 ? -1 : 0;
}

/* reads[file], made when it is new. Borrowed. */
static PyObject *row_of(PyObject *reads, PyObject *file)
{
    PyObject *row = PyDict_GetItemWithError(reads, file);

    if (row || PyErr_Occurred())
        return row;
    PyObject *made = PyDict_New();
    int status = made ? PyDict_SetItem(reads, file, made) : -1;
    Py_XDECREF(made);
    return status < 0 ? NULL : made;
}

static int keep_reads(PyObject *reads, PyObject *chunk)
{
    PyObject *file = NULL;
    int status = front_get(&file, chunk, "file");
    PyObject *row = status == 1 ? row_of(reads, file) : NULL;

    Py_XDECREF(file);
    if (status < 1)
        return status;
    if (!row || keep_first(row, chunk, "branches_read_percent") < 0 ||
        keep_first(row, chunk, "bytes_read_percent") < 0)
        return -1;
    return keep_first(row, chunk, "accessed_bytes");
}

static int keep_branches(PyObject *branches, PyObject *chunk)
{
    PyObject *names = NULL, *result = NULL;
    int found = front_get(&names, chunk, "accessed_branches");

    if (found == 1) {
        result = PyObject_CallMethod(branches, "update", "O", names);
        found = result ? 0 : -1;
    }
    Py_XDECREF(result);
    Py_XDECREF(names);
    return found;
}

static int look(struct seen *seen, PyObject *chunks)
{
    Py_ssize_t count = PyList_Size(chunks);

    if (!seen->metadata || !seen->reads || !seen->branches)
        return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *chunk = PyList_GetItem(chunks, i);
        if (keep_metadata(seen->metadata, chunk) < 0 ||
            keep_reads(seen->reads, chunk) < 0 ||
            keep_branches(seen->branches, chunk) < 0)
            return -1;
    }
    return 0;
}

/* ---- what it means ----------------------------------------------------------- */

/* Owned; a NULL is an earlier failure. */
struct coverage {
    PyObject *ratios; /* compression ratios above 0 */
    PyObject *files;  /* file -> row */
    PyObject *percents;
    struct tally branch_percent;
    struct tally byte_percent;
};

static int append_positive(PyObject *list, PyObject *number)
{
    double value = 0;

    if (front_double(&value, number) < 0)
        return -1;
    return value > 0 ? PyList_Append(list, number) : 0;
}

/* mapping[key], None too, or a new value where there is none. mapping may be NULL. */
static PyObject *get_or(PyObject *mapping, const char *key, PyObject *(*make)(void))
{
    PyObject *value = NULL;
    int found = mapping ? front_find(&value, mapping, key) : 0;

    return found == 0 ? make() : value;
}

static PyObject *zero_int(void)
{
    return PyLong_FromLong(0);
}

static PyObject *zero_float(void)
{
    return PyFloat_FromDouble(0.0);
}

static PyObject *file_row(PyObject *facts, PyObject *read)
{
    return Py_BuildValue(
        "{s:N,s:N,s:N,s:N,s:N}", "total_branches",
        get_or(facts, "total_branches", zero_int), "branches_read_percent",
        get_or(read, "branches_read_percent", zero_float), "total_tree_bytes",
        get_or(facts, "total_tree_bytes", zero_int), "bytes_read",
        get_or(read, "accessed_bytes", zero_int), "bytes_read_percent",
        get_or(read, "bytes_read_percent", zero_float));
}

static int add_row(struct coverage *c, PyObject *row)
{
    PyObject *percent = NULL;
    int found = front_get(&percent, row, "bytes_read_percent");

    if (found == 1)
        found = append_positive(c->percents, percent);
    Py_XDECREF(percent);
    if (found < 0 || tally_add_from(&c->byte_percent, row, "bytes_read_percent") < 0)
        return -1;
    return tally_add_from(&c->branch_percent, row, "branches_read_percent");
}

static int add_file(struct coverage *c, const struct seen *seen, PyObject *file,
                    PyObject *facts)
{
    PyObject *ratio = NULL;
    int status = front_get(&ratio, facts, "compression_ratio");

    if (status == 1)
        status = append_positive(c->ratios, ratio);
    Py_XDECREF(ratio);
    PyObject *read = status < 0 ? NULL : PyDict_GetItemWithError(seen->reads, file);
    PyObject *row = PyErr_Occurred() ? NULL : file_row(facts, read);
    if (!row || add_row(c, row) < 0)
        status = -1;
    if (status >= 0)
        status = PyDict_SetItem(c->files, file, row);
    Py_XDECREF(row);
    return status;
}

static int add_files(struct coverage *c, const struct seen *seen)
{
    PyObject *items = PyDict_Items(seen->metadata);
    Py_ssize_t count = items ? PyList_Size(items) : -1;
    int status = count < 0 || !c->ratios || !c->files || !c->percents ? -1 : 0;

    for (Py_ssize_t i = 0; i < count && status >= 0; i++) {
        PyObject *pair = PyList_GetItem(items, i);
        status = add_file(c, seen, PyTuple_GetItem(pair, 0), PyTuple_GetItem(pair, 1));
    }
    Py_XDECREF(items);
    return status;
}

static PyObject *describe(const struct seen *seen)
{
    struct coverage c = {
        .ratios = PyList_New(0), .files = PyDict_New(), .percents = PyList_New(0)};
    PyObject *described = NULL;

    if (add_files(&c, seen) >= 0)
        described = Py_BuildValue(
            "{s:O,s:O,s:O,s:d,s:d,s:O,s:n}", "file_metadata", seen->metadata,
            "compression_ratios", c.ratios, "file_read_metrics", c.files,
            "avg_branches_read_percent", tally_mean(&c.branch_percent),
            "avg_bytes_read_percent", tally_mean(&c.byte_percent),
            "bytes_read_percent_per_file", c.percents, "total_branches_read",
            PySet_Size(seen->branches));
    Py_XDECREF(c.ratios);
    Py_XDECREF(c.files);
    Py_XDECREF(c.percents);
    tally_release(&c.branch_percent);
    tally_release(&c.byte_percent);
    return described;
}

/* The report is taken for its place in 0.1.2's signature: the chunks say it all. */
static PyObject *branch_coverage(PyObject *module, PyObject *args)
{
    PyObject *chunks, *report = Py_None;
    PyObject *described = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "O|O:branch_coverage", &chunks, &report))
        return NULL;
    if (chunks == Py_None)
        return PyDict_New();
    PyObject *list = PySequence_List(chunks);
    if (!list || PyList_Size(list) == 0) {
        Py_XDECREF(list);
        return PyErr_Occurred() ? NULL : PyDict_New();
    }
    struct seen seen = {PyDict_New(), PyDict_New(), PySet_New(NULL)};
    if (look(&seen, list) == 0)
        described = describe(&seen);
    Py_XDECREF(seen.metadata);
    Py_XDECREF(seen.reads);
    Py_XDECREF(seen.branches);
    Py_DECREF(list);
    return described;
}

PyMethodDef front_branch_methods[] = {
    {"accessed_branches", accessed_branches, METH_O,
     "The branches of a report's columns: those that end in -data."},
    {"branch_coverage", branch_coverage, METH_VARARGS,
     "How much of each file the chunks read."},
    {NULL, NULL, 0, NULL},
};
