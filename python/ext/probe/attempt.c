/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt.c - what the work function of an executor calls around each attempt.
 *
 * Frames go to the spool when this process is not the collector's. In the collector's own
 * process, and where the spool cannot be written, they are returned as bytes, and the
 * caller delivers them. Only exceptions of the user (Ctrl-C) leave these functions. */
#include <stdio.h>
#include <string.h>

#include "chunk.h"
#include "held.h"
#include "reading.h"
#include "support.h"
#include "types.h"

enum { ITEM_DATASET, ITEM_FILE, ITEM_TREE, ITEM_WORKER, ITEM_TEXTS };

/* Objects whose text an item borrows. */
struct item {
    struct roast_attempt_item facts;
    PyObject *texts[ITEM_TEXTS];
    PyObject *file; /* borrowed: the file name as coffea has it */
    char uuid[37];
};

static struct roast_str item_text(struct item *item, int which, PyObject *object)
{
    PyObject *text = NULL;

    if (object != Py_None && !PyErr_Occurred()) /* libroast redacts names itself */
        text = which == ITEM_WORKER ? text_redacted(object) : text_of(object);
    (void)guard_clear(); /* without str() the text is absent; a Ctrl-C stays set */
    item->texts[which] = text;
    return text ? text_borrow(text) : (struct roast_str){NULL, 0};
}

/* 16 bytes as coffea prints them: groups of hex digits. */
static struct roast_str item_uuid(struct item *item, PyObject *object)
{
    const char *bytes = PyBytes_Check(object) ? PyBytes_AsString(object) : NULL;
    char *at = item->uuid;

    if (!bytes || PyBytes_Size(object) != 16)
        return (struct roast_str){NULL, 0};
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *at++ = '-';
        at += snprintf(at, 3, "%02x", (unsigned char)bytes[i]);
    }
    return (struct roast_str){item->uuid, 36};
}

static bool item_number(PyObject *object, uint64_t *value)
{
    *value = PyLong_Check(object) ? PyLong_AsUnsignedLongLong(object) : 0;
    if (PyErr_Occurred())
        (void)guard_clear(); /* negative or too large: absent */
    else if (PyLong_Check(object))
        return true;
    return false;
}

/* (dataset, file, tree, uuid, first entry, one past the last), on a cluster also (name of
 * the worker, seconds since it started the task). */
static int item_fill(struct item *item, PyObject *tuple)
{
    PyObject *dataset, *file, *tree, *uuid, *start, *stop;
    PyObject *worker = Py_None;
    double begun_ago_s = 0;

    if (!PyArg_ParseTuple(tuple, "OOOOOO|Od", &dataset, &file, &tree, &uuid, &start,
                          &stop, &worker, &begun_ago_s))
        return -1;
    item->facts.worker = item_text(item, ITEM_WORKER, worker);
    if (begun_ago_s > 0 && begun_ago_s < 1e5) /* else the clock was set meanwhile */
        item->facts.begun_ago_ns = (uint64_t)(begun_ago_s * 1e9);
    item->file = file;
    item->facts.dataset = item_text(item, ITEM_DATASET, dataset);
    item->facts.file = item_text(item, ITEM_FILE, file);
    item->facts.treename = item_text(item, ITEM_TREE, tree);
    item->facts.uuid = item_uuid(item, uuid);
    item->facts.has_entries = item_number(start, &item->facts.entry_start) &&
                              item_number(stop, &item->facts.entry_stop);
    return PyErr_Occurred() ? -1 : 0;
}

/* Where the frames of an attempt go. */
struct address {
    unsigned long long client; /* process id of the collector's process */
    PyObject *spools;          /* tuple of folders, one per collector */
    bool splits_end;           /* the end frame is returned apart, to be sent later */
};

/* Appends to every spool; false when one could not be written. */
static bool write_spools(struct probe_state *state, struct roast_str frames,
                         PyObject *spools)
{
    bool whole = PyTuple_Size(spools) > 0;

    for (Py_ssize_t i = 0; i < PyTuple_Size(spools); i++) {
        const char *dir = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(spools, i), NULL);
        roast_error err = {0};
        if (!dir)
            return false;
        Py_BEGIN_ALLOW_THREADS;
        whole &= roast_spool_append(dir, frames, &err) == ROAST_OK;
        Py_END_ALLOW_THREADS;
        if (err.code != ROAST_OK)
            guard_note_trouble(state, "spool", &err); /* the output can carry them */
    }
    return whole;
}

/* None for absent frames. */
static PyObject *frames_new(struct roast_str frames)
{
    if (!frames.data || frames.size_bytes == 0)
        Py_RETURN_NONE;
    return PyBytes_FromStringAndSize(frames.data, (Py_ssize_t)frames.size_bytes);
}

/* Writes frames to the spools, or returns them as bytes; None when nothing is left. */
static PyObject *send(struct probe_state *state, struct roast_str frames,
                      const struct address *address)
{
    bool is_client = address->client == roast_process_id();

    if (frames.size_bytes > 0 && !is_client &&
        write_spools(state, frames, address->spools))
        Py_RETURN_NONE;
    if (PyErr_Occurred())
        return NULL;
    return frames_new(frames);
}

/* NULL: nothing is measured. A thread inside an attempt is always returned: the number of
 * ends must match the number of begins even if the monitor was switched off meanwhile. */
static roast_thread *thread_of(struct probe_state *state)
{
    roast_error err = {0};
    roast_thread *thread = roast_thread_current();

    if (thread && roast_attempt_active(thread))
        return thread;
    thread = state->enabled ? roast_thread_get(&err) : NULL;
    if (!thread && state->enabled)
        guard_note_error(state, "state of a thread", &err);
    return thread;
}

/* A new run starts: errors of the run before do not count for it, and it gets all facts
 * about files again. A run inside a chunk changes nothing. */
static void enter_run(struct probe_state *state, const char *run_id,
                      Py_ssize_t size_bytes)
{
    const roast_thread *thread = roast_thread_current();

    if ((thread && roast_attempt_active(thread)) ||
        size_bytes != sizeof(state->loose_run) ||
        memcmp(state->loose_run, run_id, sizeof(state->loose_run)) == 0)
        return;
    memcpy(state->loose_run, run_id, sizeof(state->loose_run));
    state->loose_errors = 0;
    files_forget(state);
}

PyObject *attempt_begin(PyObject *module, PyObject *args)
{
    struct probe_state *state = PyModule_GetState(module);
    const char *run_id = NULL;
    const char *name_key = NULL;
    Py_ssize_t run_id_bytes = 0;
    Py_ssize_t key_bytes = 0;
    struct address address = {0, NULL, false};
    PyObject *tuple = NULL;
    struct item item = {.file = Py_None};
    roast_thread *thread = thread_of(state);
    PyObject *result = NULL;
    int packs = 0;

    if (!PyArg_ParseTuple(args, "y#KO!O|py#", &run_id, &run_id_bytes, &address.client,
                          &PyTuple_Type, &address.spools, &tuple, &packs, &name_key,
                          &key_bytes))
        return NULL;
    item.facts.packs = packs;
    if (!thread)
        Py_RETURN_NONE;
    enter_run(state, run_id, run_id_bytes);
    bool goes_on =
        item_fill(&item, tuple) == 0 || guard_note(state, "item of an attempt");
    if (run_id_bytes != ROAST_RUN_ID_BYTES)
        run_id = NULL;
    if (key_bytes == ROAST_NAME_KEY_BYTES)
        item.facts.name_key = (const unsigned char *)name_key;
    reading_begin(thread, item.file);
    struct roast_str frame = /* also after a Ctrl-C: attempt_end() follows */
        roast_attempt_begin(thread, (const unsigned char *)run_id, &item.facts);
    if (goes_on)
        result = send(state, frame, &address);
    if (!result && guard_note(state, "begin of an attempt"))
        result = Py_NewRef(Py_None);
    for (int i = 0; i < ITEM_TEXTS; i++)
        Py_XDECREF(item.texts[i]);
    return result;
}

/* The innermost cause of an exception: coffea wraps the one of the chunk. New reference. */
static PyObject *root_cause(PyObject *error)
{
    PyObject *at = Py_NewRef(error);

    for (int depth = 0; depth < 100; depth++) {
        PyObject *cause = PyException_GetCause(at);
        if (!cause)
            break;
        Py_DECREF(at);
        at = cause;
    }
    return at;
}

static PyObject *end_with(struct probe_state *state, roast_thread *thread,
                          struct roast_chunk_end *end, const struct address *address)
{
    struct roast_attempt_frames frames;
    roast_error err = {0};

    reading_finish(state, thread);
    end->monitor_errors = state->loose_errors;
    end->monitor_first_error = roast_str_of(state->first_loose_error);
    if (roast_attempt_end(thread, end, &frames, &err) < 0 &&
        err.code != ROAST_UNAVAILABLE) /* a forked copy: the parent reports */
        guard_note_error(state, "end of an attempt", &err);
    if (frames.end.data) /* an attempt inside another one has no end frame */
        state->loose_errors -= end->monitor_errors;
    if (!address->splits_end) {
        frames.chunks.size_bytes += frames.end.size_bytes;
        return send(state, frames.chunks, address);
    }
    PyObject *chunks = send(state, frames.chunks, address);
    PyObject *last = chunks ? frames_new(frames.end) : NULL;
    if (last)
        return Py_BuildValue("NN", chunks, last);
    Py_XDECREF(chunks);
    return NULL;
}

static PyObject *end_failed(struct probe_state *state, roast_thread *thread,
                            PyObject *error, const struct address *address)
{
    PyObject *cause = root_cause(error);
    PyObject *name = exception_name(state, (PyObject *)Py_TYPE(cause));
    PyObject *message = PyErr_Occurred() ? NULL : exception_text(cause);
    struct roast_chunk_end end = {
        .status = ROAST_CHUNK_FAILED,
        .error_type = name ? text_borrow(name) : roast_str_of("unknown"),
        .error_message = message ? text_borrow(message) : (struct roast_str){NULL, 0},
    };
    PyObject *result = end_with(state, thread, &end, address);

    Py_XDECREF(name);
    Py_XDECREF(message);
    Py_DECREF(cause);
    return result;
}

static PyObject *no_frames(bool splits_end)
{
    return splits_end ? Py_BuildValue("OO", Py_None, Py_None) : Py_NewRef(Py_None);
}

PyObject *attempt_end(PyObject *module, PyObject *args)
{
    struct probe_state *state = PyModule_GetState(module);
    struct address address = {0, NULL, false};
    PyObject *error = NULL;
    int splits_end = 0;
    roast_thread *thread = roast_thread_current();
    PyObject *result = NULL;

    if (!PyArg_ParseTuple(args, "KO!O|p", &address.client, &PyTuple_Type,
                          &address.spools, &error, &splits_end))
        return NULL;
    address.splits_end = splits_end;
    if (!thread)
        return no_frames(splits_end);
    if (error != Py_None && PyExceptionInstance_Check(error)) {
        result = end_failed(state, thread, error, &address);
    } else {
        struct roast_chunk_end end = {.status = ROAST_CHUNK_OK};
        result = end_with(state, thread, &end, &address);
    }
    if (result && PyErr_Occurred() && !guard_clear()) /* a Ctrl-C is the user's */
        Py_CLEAR(result);
    if (!result)
        return guard_note(state, "end of an attempt") ? no_frames(splits_end) : NULL;
    return result;
}

PyObject *attempt_packed(PyObject *module, PyObject *args)
{
    roast_thread *thread = roast_thread_current();
    struct roast_str end = {NULL, 0};
    unsigned long long output_bytes = 0;

    (void)module;
    if (!PyArg_ParseTuple(args, "K", &output_bytes))
        return NULL;
    if (thread)
        end = roast_attempt_packed(thread, output_bytes);
    return frames_new(end);
}

PyObject *send_frames(PyObject *module, PyObject *args)
{
    struct probe_state *state = PyModule_GetState(module);
    struct address address = {0, NULL, false};
    char *data = NULL;
    Py_ssize_t size = 0;

    if (!PyArg_ParseTuple(args, "KO!y#", &address.client, &PyTuple_Type,
                          &address.spools, &data, &size))
        return NULL;
    PyObject *result = send(state, (struct roast_str){data, (size_t)size}, &address);
    if (!result && guard_note(state, "frames of an attempt"))
        result = Py_NewRef(Py_None);
    return result;
}

/* ---- the call between before_call() and after_call() ------------------------------ */

/* Made from C, because a Python frame of ours between the executor and the user's code
 * would be in every stack that a profiler samples (Dask: 100 times per second) and in the
 * user's tracebacks. */

/* Passes an exception of our own steps to note_error() and clears it. False for one that
 * is the user's (Ctrl-C). */
static bool is_noted(PyObject *self)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception))
        return false;
    struct raised raised = guard_keep_raised();
    Py_XDECREF(PyObject_CallMethod(self, "note_error", "O", raised.value));
    Py_XDECREF(raised.type);
    Py_XDECREF(raised.value);
    Py_XDECREF(raised.traceback);
    return guard_clear();
}

static PyObject *end_raised(PyObject *self, PyObject *attempt)
{
    struct raised raised = guard_keep_raised();

    if (raised.traceback)
        (void)PyException_SetTraceback(raised.value, raised.traceback);
    PyObject *done =
        PyObject_CallMethod(self, "after_call", "OOO", attempt, Py_None, raised.value);
    if (!done)
        (void)is_noted(self);
    Py_XDECREF(done);
    guard_raise_again(&raised);
    return NULL;
}

/* Calls what before_call() put into the list, with what is raised, which is raised again.
 * A step that an exception of the user ends is repeated once. */
static void undo_all(PyObject *self, PyObject *undo)
{
    struct raised raised = guard_keep_raised();
    PyObject *error = raised.value ? raised.value : Py_None;

    for (Py_ssize_t i = 0; i < PyList_Size(undo); i++) {
        PyObject *step = PyList_GetItem(undo, i);
        PyObject *done = PyObject_CallFunctionObjArgs(step, error, NULL);
        if (!done && !PyErr_ExceptionMatches(PyExc_Exception)) {
            PyErr_Clear();
            done = PyObject_CallFunctionObjArgs(step, error, NULL);
        }
        if (!done)
            (void)is_noted(self);
        Py_XDECREF(done);
        PyErr_Clear();
    }
    PyErr_Restore(raised.type, raised.value, raised.traceback);
}

/* after_call(), for the result (taken) or for what is raised. */
static PyObject *end_call(PyObject *self, PyObject *attempt, PyObject *raw,
                          PyObject *undo, unsigned depth)
{
    PyObject *result = NULL;

    held_cover(depth);
    raw = held_begin_after(depth, raw);
    if (raw)
        result = PyObject_CallMethod(self, "after_call", "OOO", attempt, raw, Py_None);
    else
        result = end_raised(self, attempt);
    if (raw && !result && is_noted(self))
        result = Py_NewRef(raw);
    if (!result)
        undo_all(self, undo);
    held_end(depth);
    Py_XDECREF(raw);
    return result;
}

static PyObject *call_wrapped(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *given = kwargs ? Py_NewRef(kwargs) : PyDict_New();
    PyObject *undo = given ? PyList_New(0) : NULL;
    PyObject *begun = NULL;
    PyObject *function, *new_args, *new_kwargs, *attempt; /* borrowed from begun */
    PyObject *result = NULL;
    unsigned depth = held_enter();
    bool goes_on = undo && held_begin(depth) == 0;
    bool is_measured = false;

    if (goes_on) {
        begun = PyObject_CallMethod(self, "before_call", "OOO", args, given, undo);
        is_measured =
            begun && PyArg_ParseTuple(begun, "OO!O!O", &function, &PyTuple_Type,
                                      &new_args, &PyDict_Type, &new_kwargs, &attempt);
        goes_on = is_measured || is_noted(self);
        if (!is_measured)
            undo_all(self, undo);
    }
    held_end(depth);
    if (is_measured) {
        result = end_call(self, attempt, PyObject_Call(function, new_args, new_kwargs),
                          undo, depth);
    } else if (goes_on) {
        function = PyObject_GetAttrString(self, "function");
        result = function ? PyObject_Call(function, args, kwargs) : NULL;
        Py_XDECREF(function);
    }
    held_leave(depth);
    Py_XDECREF(given);
    Py_XDECREF(undo);
    Py_XDECREF(begun);
    return result;
}

PyObject *frameless_call(PyObject *module, PyObject *type)
{
    static PyMethodDef method = {"__call__", (PyCFunction)(void (*)(void))call_wrapped,
                                 METH_VARARGS | METH_KEYWORDS,
                                 "__call__($self, /, *args, **kwargs)\n--\n\n"
                                 "The call between before_call() and after_call()."};

    (void)module;
    if (!PyObject_TypeCheck(type, &PyType_Type)) {
        PyErr_Format(PyExc_TypeError, "frameless_call() takes a class, not %R", type);
        return NULL;
    }
    PyObject *descriptor = PyDescr_NewMethod((PyTypeObject *)type, &method);
    int failure =
        descriptor ? PyObject_SetAttrString(type, "__call__", descriptor) : -1;
    Py_XDECREF(descriptor);
    return failure ? NULL : Py_NewRef(type);
}
