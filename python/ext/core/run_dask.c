/* SPDX-License-Identifier: BSD-3-Clause */
/* run_dask.c - data of Dask for a Run: batches of schedulers, fine metrics, the profile.
 *
 * Names in Dask's metrics may be any objects of user code. An entry of another form is
 * skipped and counted as a loss. Entries are converted first and added to the run in one
 * call without the GIL. */
#include "file.h"
#include "roast/scheduler.h"
#include "run_methods.h"

PyObject *run_add_batch(PyObject *self, PyObject *args)
{
    const char *bytes = NULL;
    Py_ssize_t size = 0;
    long long offset_ns = 0;
    const char *scheduler = "";
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "y#L|s", &bytes, &size, &offset_ns, &scheduler))
        return NULL;
    if (!run_of(self)->batches) {
        PyErr_SetString(run_of(self)->state->roast_error,
                        "this run was not collected here");
        return NULL;
    }
    struct roast_dask_batch batch = {scheduler, {bytes, (size_t)size}, offset_ns};
    WITHOUT_GIL(status = roast_dask_batches_add(run_of(self)->batches, &batch, &err));
    return run_result(run_of(self), status, &err);
}

/* ---- entries of a list ------------------------------------------------------------- */

/* An entry of the wrong form is skipped, but not after MemoryError or Ctrl-C. */
static bool is_fatal(void)
{
    return PyErr_Occurred() && (PyErr_ExceptionMatches(PyExc_MemoryError) ||
                                !PyErr_ExceptionMatches(PyExc_Exception));
}

/* How entries of a list are converted and added to the run. */
struct entry_kind {
    size_t entry_bytes;
    bool (*read)(void *entry, PyObject *item); /* texts are borrowed from the item */
    int (*add)(roast_run *run, const void *entry, roast_error *err);
};

/* Takes the reference to a list that no other code has; NULL is an earlier failure. */
static PyObject *add_list(PyObject *self, PyObject *list, const struct entry_kind *kind)
{
    Py_ssize_t size = list ? PyList_Size(list) : 0;
    char *entries = PyMem_Calloc((size_t)size + 1, kind->entry_bytes);
    size_t count = 0, skipped = 0;
    roast_error err = {0};
    int status = ROAST_OK;

    if (list && !entries)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; entries && !is_fatal() && i < size; i++) {
        bool is_read =
            kind->read(entries + count * kind->entry_bytes, PyList_GetItem(list, i));
        if (is_fatal())
            break;
        count += is_read && !PyErr_Occurred();
        skipped += !is_read || PyErr_Occurred();
        PyErr_Clear();
    }
    bool failed = PyErr_Occurred();
    if (!failed) {
        Py_BEGIN_ALLOW_THREADS;
        for (size_t i = 0; status >= 0 && i < count; i++)
            status =
                kind->add(run_of(self)->run, entries + i * kind->entry_bytes, &err);
        if (skipped > 0)
            roast_run_lose(run_of(self)->run, ROAST_RUN_LOSS_scheduler_unread, skipped);
        Py_END_ALLOW_THREADS;
    }
    PyMem_Free(entries);
    Py_XDECREF(list);
    return failed ? NULL : run_result(run_of(self), status, &err);
}

/* ---- activities -------------------------------------------------------------------- */

/* ((context, [prefix,] activity, unit), value). */
static bool read_activity(void *entry, PyObject *item)
{
    struct roast_activity *activity = entry;
    struct roast_str *const with_prefix[] = {&activity->context, &activity->prefix,
                                             &activity->activity, &activity->unit};
    struct roast_str *const without[] = {&activity->context, &activity->activity,
                                         &activity->unit};
    PyObject *key, *value;

    *activity = (struct roast_activity){.value = 0};
    if (!PyTuple_Check(item) ||
        !PyArg_ParseTuple(item, "O!O", &PyTuple_Type, &key, &value))
        return false;
    Py_ssize_t size = PyTuple_Size(key);
    if (size != 3 && size != 4)
        return false;
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *name = PyTuple_GetItem(key, i);
        if (!PyUnicode_Check(name) ||
            text_borrow(name, size == 4 ? with_prefix[i] : without[i]) < 0)
            return false;
    }
    activity->value = PyFloat_AsDouble(value);
    return true;
}

static int set_activity(roast_run *run, const void *entry, roast_error *err)
{
    return roast_run_set_activity(run, entry, err);
}

PyObject *run_set_activities(PyObject *self, PyObject *mapping)
{
    static const struct entry_kind kind = {sizeof(struct roast_activity), read_activity,
                                           set_activity};

    return add_list(self, PyMapping_Items(mapping), &kind);
}

/* ---- hot lines --------------------------------------------------------------------- */

/* (file, line, function, text, seconds, self_seconds). */
static bool read_hot_line(void *entry, PyObject *row)
{
    struct roast_hot_line *line = entry;
    PyObject *texts[3];
    long long number = 0;

    *line = (struct roast_hot_line){.line = 0};
    if (!PyTuple_Check(row) ||
        !PyArg_ParseTuple(row, "OLOOdd", &texts[0], &number, &texts[1], &texts[2],
                          &line->seconds, &line->self_seconds) ||
        number < 0)
        return false;
    line->line = (uint64_t)number;
    return text_borrow(texts[0], &line->file) == 0 &&
           text_borrow(texts[1], &line->function) == 0 &&
           text_borrow(texts[2], &line->text) == 0;
}

static int add_hot_line(roast_run *run, const void *entry, roast_error *err)
{
    return roast_run_add_hot_line(run, entry, err);
}

PyObject *run_add_hot_lines(PyObject *self, PyObject *rows)
{
    static const struct entry_kind kind = {sizeof(struct roast_hot_line), read_hot_line,
                                           add_hot_line};

    return add_list(self, PySequence_List(rows), &kind);
}

/* ---- tasks ------------------------------------------------------------------------- */

/* {end: count}, without zeros. */
static PyObject *by_end(const uint64_t counts[ROAST_TASK_END_LAST])
{
    PyObject *dict = PyDict_New();

    for (unsigned end = 0; dict && end < ROAST_TASK_END_LAST; end++) {
        if (counts[end] > 0 && dict_set(dict, roast_task_end_name(end),
                                        PyLong_FromUnsignedLongLong(counts[end])) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

PyObject *run_tasks_seen(PyObject *self, PyObject *unused)
{
    struct roast_task_counts counts;

    (void)unused;
    if (run_load(run_of(self)) < 0)
        return NULL;
    WITHOUT_GIL(roast_run_task_counts(run_of(self)->run, &counts));
    PyObject *dict = PyDict_New();
    if (dict &&
        (dict_set(dict, "ours", by_end(counts.ours)) < 0 ||
         dict_set(dict, "foreign", by_end(counts.foreign)) < 0 ||
         dict_set(dict, "joined", PyLong_FromUnsignedLongLong(counts.joined)) < 0 ||
         dict_set(dict, "present", PyLong_FromUnsignedLongLong(counts.present)) < 0))
        Py_CLEAR(dict);
    return dict;
}
