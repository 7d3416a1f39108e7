/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt.c - what the work function of an executor calls around each attempt.
 *
 * Frames go to the spool when this process is not the collector's; in the collector's own
 * process, and where the spool cannot be written, they are given back as bytes, which
 * the caller hands over or sends along with the result. Nothing here raises but what is
 * the user's (Ctrl-C). */
#include <stdio.h>
#include <string.h>

#include "chunk.h"
#include "reading.h"
#include "support.h"
#include "types.h"

enum { ITEM_DATASET, ITEM_FILE, ITEM_TREE, ITEM_WORKER, ITEM_TEXTS };

/* Objects whose text an item borrows. */
struct item {
    struct roast_attempt_item facts;
    PyObject *texts[ITEM_TEXTS];
    PyObject *file; /* borrowed: as it is, for those who open it */
    char uuid[37];
};

static struct roast_str item_text(struct item *item, int which, PyObject *object)
{
    PyObject *text = NULL;

    if (object != Py_None && !PyErr_Occurred()) /* libroast redacts the file itself */
        text = which == ITEM_FILE ? text_of(object) : text_redacted(object);
    (void)guard_clear(); /* a text that cannot be made is not known; a Ctrl-C stays */
    item->texts[which] = text;
    return text ? text_borrow(text) : (struct roast_str){NULL, 0};
}

/* 16 bytes as coffea shows them: groups of hex digits. */
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
        (void)guard_clear(); /* negative or too large: not known */
    else if (PyLong_Check(object))
        return true;
    return false;
}

/* How long ago it was begun, in seconds; a clock that was set says nothing. */
static uint64_t ago_ns(double seconds)
{
    return seconds > 0 && seconds < 1e5 ? (uint64_t)(seconds * 1e9) : 0;
}

/* (dataset, file, tree, uuid, first entry, one past the last), and where there are
 * workers (name of the worker, seconds since it began with it). */
static int item_fill(struct item *item, PyObject *tuple)
{
    PyObject *dataset, *file, *tree, *uuid, *start, *stop;
    PyObject *worker = Py_None;
    double begun_ago_s = 0;

    if (!PyArg_ParseTuple(tuple, "OOOOOO|Od", &dataset, &file, &tree, &uuid, &start,
                          &stop, &worker, &begun_ago_s))
        return -1;
    item->facts.worker = item_text(item, ITEM_WORKER, worker);
    item->facts.begun_ago_ns = ago_ns(begun_ago_s);
    item->file = file;
    item->facts.dataset = item_text(item, ITEM_DATASET, dataset);
    item->facts.file = item_text(item, ITEM_FILE, file);
    item->facts.treename = item_text(item, ITEM_TREE, tree);
    item->facts.uuid = item_uuid(item, uuid);
    item->facts.has_entries = item_number(start, &item->facts.entry_start) &&
                              item_number(stop, &item->facts.entry_stop);
    return PyErr_Occurred() ? -1 : 0;
}

static void item_release(struct item *item)
{
    for (int i = 0; i < ITEM_TEXTS; i++)
        Py_XDECREF(item->texts[i]);
}

/* Where the frames of an attempt go. */
struct address {
    unsigned long long client; /* process id of the collector's process */
    PyObject *spools;          /* tuple of folders, one per collector */
    bool apart;                /* the end frame is given back, for later */
};

/* Appends to every spool; false when one could not be written. */
static bool spool(struct probe_state *state, struct roast_str frames, PyObject *spools)
{
    bool whole = PyTuple_Size(spools) > 0;

    for (Py_ssize_t i = 0; i < PyTuple_Size(spools); i++) {
        const char *dir = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(spools, i), NULL);
        roast_error err = {0};
        int status = ROAST_IO;
        if (!dir)
            return false;
        Py_BEGIN_ALLOW_THREADS;
        status = roast_spool_append(dir, frames, &err);
        Py_END_ALLOW_THREADS;
        if (status == ROAST_OK)
            continue;
        guard_note_trouble(state, "spool", &err); /* frames can come with the output */
        whole = false;
    }
    return whole;
}

/* None for absent frames. */
static PyObject *frame_new(struct roast_str frames)
{
    if (!frames.data || frames.size_bytes == 0)
        Py_RETURN_NONE;
    return PyBytes_FromStringAndSize(frames.data, (Py_ssize_t)frames.size_bytes);
}

/* Sends frames, or gives them back as bytes. None when there is nothing to give. */
static PyObject *send(struct probe_state *state, struct roast_str frames,
                      const struct address *address)
{
    bool is_client = address->client == roast_process_id();

    if (frames.size_bytes > 0 && !is_client && spool(state, frames, address->spools))
        Py_RETURN_NONE;
    if (PyErr_Occurred())
        return NULL;
    return frame_new(frames);
}

/* What we return when something of ours went wrong. */
static PyObject *give_up(struct probe_state *state, const char *where)
{
    if (!guard_note(state, where))
        return NULL;
    Py_RETURN_NONE;
}

/* NULL: nothing is measured. Inside an attempt the thread counts how many begin and end,
 * whatever has been switched off meanwhile. */
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

/* Chunks may outlive their run: its errors do not count for the next one, which needs all
 * facts about files again. A run inside a chunk changes nothing. */
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
    Py_ssize_t run_id_bytes = 0;
    struct address address = {0, NULL, false};
    PyObject *tuple = NULL;
    struct item item = {.file = Py_None};
    roast_thread *thread = thread_of(state);
    PyObject *result = NULL;

    if (!PyArg_ParseTuple(args, "y#KO!O", &run_id, &run_id_bytes, &address.client,
                          &PyTuple_Type, &address.spools, &tuple))
        return NULL;
    if (!thread)
        Py_RETURN_NONE;
    enter_run(state, run_id, run_id_bytes);
    bool goes_on =
        item_fill(&item, tuple) == 0 || guard_note(state, "what an attempt is about");
    if (run_id_bytes != ROAST_RUN_ID_BYTES)
        run_id = NULL;
    reading_begin(thread, item.file);
    struct roast_str frame = /* even if a Ctrl-C came: it will be ended */
        roast_attempt_begin(thread, (const unsigned char *)run_id, &item.facts);
    if (goes_on)
        result = send(state, frame, &address);
    if (!result)
        result = give_up(state, "begin of an attempt");
    item_release(&item);
    return result;
}

/* How the attempt ended, from the exception that the work function raised. Coffea wraps
 * what happened, so the innermost cause is named. New reference. */
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
    if (frames.end.data) /* reported; an attempt inside another one reports nothing */
        state->loose_errors -= end->monitor_errors;
    if (!address->apart) {
        frames.chunks.size_bytes += frames.end.size_bytes;
        return send(state, frames.chunks, address);
    }
    PyObject *chunks = send(state, frames.chunks, address);
    PyObject *last = chunks ? frame_new(frames.end) : NULL;
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

static PyObject *nothing(bool apart)
{
    return apart ? Py_BuildValue("OO", Py_None, Py_None) : Py_NewRef(Py_None);
}

PyObject *attempt_end(PyObject *module, PyObject *args)
{
    struct probe_state *state = PyModule_GetState(module);
    struct address address = {0, NULL, false};
    PyObject *error = NULL;
    int apart = 0;
    roast_thread *thread = roast_thread_current();
    PyObject *result = NULL;

    if (!PyArg_ParseTuple(args, "KO!O|p", &address.client, &PyTuple_Type,
                          &address.spools, &error, &apart))
        return NULL;
    address.apart = apart;
    if (!thread)
        return nothing(apart);
    if (error != Py_None && PyExceptionInstance_Check(error)) {
        result = end_failed(state, thread, error, &address);
    } else {
        struct roast_chunk_end end = {.status = ROAST_CHUNK_OK};
        result = end_with(state, thread, &end, &address);
    }
    if (result && PyErr_Occurred() && !guard_clear()) /* a Ctrl-C is the user's */
        Py_CLEAR(result);
    if (!result)
        return guard_note(state, "end of an attempt") ? nothing(apart) : NULL;
    return result;
}

PyObject *attempt_packed(PyObject *module, PyObject *unused)
{
    roast_thread *thread = roast_thread_current();
    struct roast_str end =
        thread ? roast_attempt_packed(thread) : (struct roast_str){NULL, 0};

    (void)module;
    (void)unused;
    return frame_new(end);
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
    return result ? result : give_up(state, "frames of an attempt");
}
