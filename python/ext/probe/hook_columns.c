/* SPDX-License-Identifier: BSD-3-Clause */
/* hook_columns.c - buffers of arrays, and the columns that they are read from.
 *
 * coffea gives awkward a function for each buffer, which is called when the data is used.
 * A reader replaces that function and times the whole read. */
#include <string.h>

#include "handlers.h"
#include "reading.h"
#include "support.h"
#include "types.h"

/* ---- readers ------------------------------------------------------------------ */

struct reader {
    PyObject_HEAD
    PyObject *read; /* the function that returns the buffer */
    bool offsets;
};

static PyObject *reader_call(PyObject *object, PyObject *args, PyObject *kwargs)
{
    struct reader *self = (struct reader *)object;
    struct reading *reading = reading_here();
    roast_thread *thread = roast_thread_current();

    if (!roast_ladder_active(thread) || PyTuple_Size(args) > 0 || kwargs)
        return PyObject_Call(self->read, args, kwargs);
    bool offsets = reading->offsets, touched = reading->touched;
    unsigned token = roast_ladder_enter(thread, ROAST_ITEM_read_other);
    roast_ladder_add(thread, ROAST_ITEM_hook_calls, 1);
    reading->buffers++;
    reading->offsets = self->offsets;
    reading->touched = false;
    PyObject *result = PyObject_CallObject(self->read, NULL);
    if (result && !reading->touched && reading->sees_caches)
        roast_ladder_add(thread, ROAST_ITEM_cached_reads, 1);
    reading->buffers--;
    reading->offsets = offsets;
    reading->touched |= touched;
    roast_ladder_leave(thread, token);
    return result;
}

static int reader_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((struct reader *)object)->read);
    return 0;
}

static int reader_clear(PyObject *object)
{
    Py_CLEAR(((struct reader *)object)->read);
    return 0;
}

static void reader_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    PyObject_GC_UnTrack(object);
    (void)reader_clear(object);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

static PyObject *reader_get_attr(PyObject *object, PyObject *name)
{
    PyObject *value = PyObject_GenericGetAttr(object, name);

    if (value || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return value;
    PyErr_Clear();
    return PyObject_GetAttr(((struct reader *)object)->read, name);
}

/* Pickles as the function that it replaces. */
static PyObject *reader_reduce(PyObject *object, PyObject *version)
{
    return PyObject_CallMethod(((struct reader *)object)->read, "__reduce_ex__", "O",
                               version);
}

static PyMethodDef reader_methods[] = {
    {"__reduce_ex__", reader_reduce, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot reader_slots[] = {
    {Py_tp_call, reader_call},
    {Py_tp_getattro, reader_get_attr},
    {Py_tp_methods, reader_methods},
    {Py_tp_traverse, reader_traverse},
    {Py_tp_clear, reader_clear},
    {Py_tp_dealloc, reader_dealloc},
    {0, NULL},
};

PyType_Spec reader_spec = {
    .name = "roastcoffea._probe._Reader",
    .basicsize = sizeof(struct reader),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = reader_slots,
};

/* uuid/tree/entries/attribute/form: whether the attribute is "offsets". */
static bool is_offsets(PyObject *key)
{
    static const char word[] = "offsets/";
    struct roast_str text =
        PyUnicode_Check(key) ? text_borrow(key) : (struct roast_str){NULL, 0};
    const char *at = text.data, *end = text.data ? at + text.size_bytes : NULL;

    for (int slashes = 0; at && slashes < 3; slashes++) {
        at = memchr(at, '/', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    return at && (size_t)(end - at) >= sizeof(word) - 1 &&
           memcmp(at, word, sizeof(word) - 1) == 0;
}

/* mapping[key]: a function in virtual mode, otherwise the buffer itself. */
PyObject *hook_buffer(struct hook *hook, roast_thread *thread, PyObject *args,
                      PyObject *kwargs)
{
    struct reading *reading = reading_here();

    (void)thread;
    if (PyTuple_Size(args) != 2)
        return hook_pass(hook, args, kwargs);
    bool outer = reading->offsets, offsets = is_offsets(PyTuple_GetItem(args, 1));
    reading->offsets = offsets;
    PyObject *result = hook_pass(hook, args, kwargs);
    reading->offsets = outer;
    if (!result || !PyCallable_Check(result))
        return result;
    struct reader *reader = PyObject_GC_New(struct reader, hook->state->reader_type);
    if (!reader)
        return hook_done(hook->state, result, "a buffer");
    reader->read = result; /* takes the reference */
    reader->offsets = offsets;
    PyObject_GC_Track((PyObject *)reader);
    return (PyObject *)reader;
}

/* ---- columns ------------------------------------------------------------------ */

/* The name of the column that coffea reads: the last entry of its access log, else the
 * name of the handle. New reference; NULL without an exception: unknown. */
static PyObject *column_name(struct probe_state *state, PyObject *mapping,
                             PyObject *handle)
{
    const struct probe_names *names = &state->names;
    PyObject *log = PyObject_GetAttr(mapping, names->access_log);
    PyObject *last = log && PyList_Check(log) && PyList_Size(log) > 0
                         ? PySequence_GetItem(log, PyList_Size(log) - 1)
                         : NULL;
    PyObject *name = last ? PyObject_GetAttr(last, names->branch) : NULL;

    Py_XDECREF(last);
    Py_XDECREF(log);
    if (!name && guard_clear())
        name = PyObject_GetAttr(handle, names->column_name);
    if (!name && guard_clear())
        name = PyObject_GetAttr(handle, names->column);
    if (!name)
        (void)guard_clear();
    return name;
}

static int32_t column_number(struct probe_state *state, roast_thread *thread,
                             PyObject *mapping, PyObject *handle)
{
    bool is_ours = handle != Py_None && reading_owns(state, handle);
    PyObject *name = is_ours ? column_name(state, mapping, handle) : NULL;
    PyObject *text = name ? text_of(name) : NULL;
    int32_t branch = text ? roast_ladder_branch(thread, text_borrow(text)) : -1;
    struct roast_branch more = {.sizes_known = true};

    if (branch >= 0 && reading_here()->facts.kind == ROAST_FILE_TTREE &&
        !roast_ladder_branch_sized(thread, branch) &&
        file_branch_sizes(state, handle, &more))
        roast_ladder_branch_add(thread, branch, &more);
    Py_XDECREF(text);
    Py_XDECREF(name);
    return branch;
}

/* Time in the slices of reading so far, without imports. */
static uint64_t read_ns(roast_thread *thread)
{
    struct roast_ladder ladder;

    roast_ladder_snapshot(thread, &ladder);
    return ladder.values[ROAST_ITEM_fetch] + ladder.values[ROAST_ITEM_decompress] +
           ladder.values[ROAST_ITEM_interpret] + ladder.values[ROAST_ITEM_read_other] +
           ladder.values[ROAST_ITEM_unnamed];
}

/* extract_column(self, handle, start, stop, allow_missing, ...) */
PyObject *hook_extract(struct hook *hook, roast_thread *thread, PyObject *args,
                       PyObject *kwargs)
{
    struct reading *reading = reading_here();

    if (PyTuple_Size(args) < 2)
        return hook_pass(hook, args, kwargs);
    int32_t branch = column_number(hook->state, thread, PyTuple_GetItem(args, 0),
                                   PyTuple_GetItem(args, 1));
    if (PyErr_Occurred() && !guard_note(hook->state, "name of a column"))
        return NULL;
    int32_t outer = reading->branch;
    bool touched = reading->touched;
    reading->branch = branch + 1;
    reading->touched = false;
    unsigned token = /* outside of a reader: coffea is not in virtual mode */
        reading->buffers == 0 ? roast_ladder_enter(thread, ROAST_ITEM_read_other) : 0;
    uint64_t start_ns = read_ns(thread);
    PyObject *result = hook_pass(hook, args, kwargs);
    struct roast_branch more = {
        .flags = reading->offsets ? ROAST_BRANCH_OFFSETS : ROAST_BRANCH_DATA,
        .reads = reading->touched,
        .ns = read_ns(thread) - start_ns,
    };
    roast_ladder_branch_add(thread, branch, &more);
    if (token != 0)
        roast_ladder_leave(thread, token);
    reading->branch = outer;
    reading->touched |= touched;
    return result;
}

/* ---- parquet ------------------------------------------------------------------ */

/* pyarrow reads whole columns; their sizes in the file are in its metadata. */
static void add_column(struct reading *reading, roast_thread *thread, PyObject *name)
{
    PyObject *sizes =
        reading->columns ? PyDict_GetItemWithError(reading->columns, name) : NULL;
    unsigned long long bytes = 0, uncompressed = 0;

    if (!sizes || !PyArg_ParseTuple(sizes, "KK", &bytes, &uncompressed))
        return;
    roast_ladder_add(thread, ROAST_ITEM_column_bytes, bytes);
    if (reading->branch == 0)
        return;
    struct roast_branch more = {
        .bytes = bytes,
        .uncompressed_bytes = uncompressed,
        .sizes_known = true,
        .file_bytes = bytes,
        .file_uncompressed_bytes = uncompressed,
    };
    roast_ladder_branch_add(thread, reading->branch - 1, &more);
}

/* shim.read(column): from its cache, or through pyarrow. */
PyObject *hook_parquet_read(struct hook *hook, roast_thread *thread, PyObject *args,
                            PyObject *kwargs)
{
    struct reading *reading = reading_here();

    if (PyTuple_Size(args) != 2)
        return hook_pass(hook, args, kwargs);
    PyObject *name = PyTuple_GetItem(args, 1);
    PyObject *cache =
        PyObject_GetAttr(PyTuple_GetItem(args, 0), hook->state->names.column_cache);
    int cached = cache ? PySequence_Contains(cache, name) : 0;
    Py_XDECREF(cache);
    if (PyErr_Occurred() && !guard_clear())
        return NULL;
    if (cached == 1)
        return hook_pass(hook, args, kwargs);
    reading->touched = true;
    PyObject *result = hook_in_slice(hook, thread, args, kwargs, ROAST_ITEM_interpret);
    if (result && reading->source == PyTuple_GetItem(args, 0))
        add_column(reading, thread, name);
    return hook_done(hook->state, result, "size of a column");
}
