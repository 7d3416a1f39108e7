/* SPDX-License-Identifier: BSD-3-Clause */
/* hook_steps.c - the steps of an attempt around reading: imports, opening, building
 * events, writing files. */
#include "handlers.h"
#include "reading.h"
#include "support.h"

PyObject *hook_import(struct hook *hook, roast_thread *thread, PyObject *args,
                      PyObject *kwargs)
{
    return hook_in_slice(hook, thread, args, kwargs, ROAST_ITEM_import);
}

PyObject *hook_write(struct hook *hook, roast_thread *thread, PyObject *args,
                     PyObject *kwargs)
{
    return hook_in_slice(hook, thread, args, kwargs, ROAST_ITEM_write);
}

/* directory.file.source, or NULL without an exception; new reference. */
static PyObject *source_of(struct probe_state *state, PyObject *directory)
{
    PyObject *file = PyObject_GetAttr(directory, state->names.file);
    PyObject *source = file ? PyObject_GetAttr(file, state->names.source) : NULL;

    Py_XDECREF(file);
    if (!source)
        (void)guard_clear(); /* a tree, or something else that was asked for */
    return source;
}

/* uproot.open(files, ...) of the chunk's file: {file: None}. A processor may open others
 * while it is unpickled; where the name is not known, the first one counts. */
static bool opens_chunk(const struct reading *reading, const roast_thread *thread,
                        PyObject *args)
{
    PyObject *files = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL;

    if (roast_ladder_phase_now(thread) != ROAST_ITEM_import || reading->opening > 0)
        return false;
    if (!reading->file)
        return true;
    bool is_it = files && (PyDict_Check(files)
                               ? PyDict_Contains(files, reading->file) == 1
                               : PyUnicode_Check(files) &&
                                     PyUnicode_Compare(files, reading->file) == 0);
    (void)guard_clear();
    return is_it;
}

PyObject *hook_open(struct hook *hook, roast_thread *thread, PyObject *args,
                    PyObject *kwargs)
{
    struct reading *reading = reading_here();
    bool is_ours = opens_chunk(reading, thread, args);

    if (PyErr_Occurred()) /* Ctrl-C */
        return NULL;
    unsigned token = roast_ladder_enter(thread, ROAST_ITEM_open);
    reading->opening++;
    reading->opening_ours |= is_ours;
    PyObject *result = hook_pass(hook, args, kwargs);
    reading->opening--;
    reading->opening_ours &= !is_ours;
    roast_ladder_leave(thread, token);
    if (!result || !is_ours)
        return result;
    roast_ladder_phase(thread, ROAST_ITEM_form);
    hook_set(&reading->source, source_of(hook->state, result));
    return hook_done(hook->state, result, "an opened file");
}

PyObject *hook_parquet_open(struct hook *hook, roast_thread *thread, PyObject *args,
                            PyObject *kwargs)
{
    return hook_in_slice(hook, thread, args, kwargs, ROAST_ITEM_open);
}

/* Where the chunk's file is closed, process() has returned or raised. */
PyObject *hook_close(struct hook *hook, roast_thread *thread, PyObject *args,
                     PyObject *kwargs)
{
    const struct reading *reading = reading_here();
    PyObject *closed = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL;
    PyObject *source = closed ? source_of(hook->state, closed) : NULL;
    bool is_ours = reading->facts.kind == ROAST_FILE_PARQUET
                       ? !source /* a ParquetFileContext has none */
                       : source && source == reading->source;

    Py_XDECREF(source);
    if (PyErr_Occurred()) /* Ctrl-C */
        return NULL;
    if (is_ours && reading->attempts == 1 && /* not that of a run inside process() */
        roast_ladder_phase_now(thread) == ROAST_ITEM_compute)
        roast_ladder_phase(thread, ROAST_ITEM_result);
    return hook_pass(hook, args, kwargs);
}

/* Those that process() builds for itself are part of it, but not what it is about. */
static PyObject *build(struct hook *hook, roast_thread *thread, PyObject *args,
                       PyObject *kwargs,
                       void (*learn)(struct probe_state *, roast_thread *, PyObject *,
                                     PyObject *))
{
    unsigned token = roast_ladder_enter(thread, ROAST_ITEM_form);
    PyObject *result;

    roast_ladder_phase(thread, ROAST_ITEM_form);
    result = hook_pass(hook, args, kwargs);
    if (result && roast_ladder_phase_now(thread) == ROAST_ITEM_form)
        learn(hook->state, thread, result, kwargs);
    roast_ladder_leave(thread, token);
    return hook_done(hook->state, result, "facts of a file");
}

PyObject *hook_from_root(struct hook *hook, roast_thread *thread, PyObject *args,
                         PyObject *kwargs)
{
    return build(hook, thread, args, kwargs, file_learn_root);
}

PyObject *hook_from_parquet(struct hook *hook, roast_thread *thread, PyObject *args,
                            PyObject *kwargs)
{
    return build(hook, thread, args, kwargs, file_learn_parquet);
}

/* Where events() of the chunk returns, process() begins. */
PyObject *hook_events(struct hook *hook, roast_thread *thread, PyObject *args,
                      PyObject *kwargs)
{
    PyObject *result = hook_in_slice(hook, thread, args, kwargs, ROAST_ITEM_form);

    if (!result || roast_ladder_phase_now(thread) == ROAST_ITEM_compute)
        return result;
    Py_ssize_t length = PyObject_Size(result);
    if (length >= 0)
        roast_ladder_events(thread, (uint64_t)length);
    roast_ladder_phase(thread, ROAST_ITEM_compute);
    return hook_done(hook->state, result, "length of the events");
}
