/* SPDX-License-Identifier: BSD-3-Clause */
/* call.c - runs a decorated process() as a measured chunk.
 *
 * The rule of this file: whatever happens in our part, the caller gets the value or the
 * exception of the function, unchanged. Inside an attempt the record is sent with its
 * frames. Outside of one, a shallow copy of the output carries the record if the output
 * is exactly a dict, defaultdict or OrderedDict, because those merge an unknown key; for
 * other outputs the record is put into the outbox. */
#include "chunk.h"
#include "held.h"
#include "support.h"
#include "types.h"

/* One chunk being measured; lives on the C stack of its thread. */
struct call {
    struct probe_state *state;
    roast_thread *thread;
    PyObject *user_keys; /* dict; NULL until the user reads it */
    PyObject *source;    /* byte counter of the file, or NULL */
    uint64_t bytes_before;
    struct chunk_errors errors;
    struct failure failure;
    struct held held;
    unsigned depth; /* of steps that no signal interrupts (held.h) */
};

static _Thread_local struct call *current_call;

PyObject *call_current_chunk(void)
{
    struct call *call = current_call;

    if (!call)
        return NULL;
    if (!call->user_keys) /* the three that scripts for 0.1.2 expect to find */
        call->user_keys =
            Py_BuildValue("{s:{},s:{},s:{}}", "timing", "memory", "bytes");
    return call->user_keys;
}

struct chunk_errors *call_errors(void)
{
    return current_call ? &current_call->errors : NULL;
}

void call_section_failed(struct probe_state *state, roast_thread *thread,
                         PyObject *value, PyObject *traceback)
{
    if (current_call)
        roast_section_failed(
            thread, failure_note(state, &current_call->failure, value, traceback));
}

static void call_release(struct call *call)
{
    for (size_t i = 0; i < call->held.count; i++)
        Py_DECREF(call->held.objects[i]);
    Py_XDECREF(call->user_keys);
    Py_XDECREF(call->source);
}

/* Gives the class of a processor the property with the chunk of the calling thread. Once
 * per class; -1 only if an exception of the user is set. */
static int prepare_class(struct probe_state *state, PyObject *processor)
{
    bool is_class = PyType_Check(processor); /* of a classmethod */
    PyObject *type = is_class ? processor : (PyObject *)Py_TYPE(processor);
    PyObject *old = state->known_class;
    PyObject *name = state->names.current_chunk;

    if (type == old)
        return 0;
    state->known_class = Py_NewRef(type); /* also if the class refuses it */
    Py_XDECREF(old);
    int has = guard_has_attr(type, name);
    if (has == 0 && PyObject_SetAttr(type, name, state->chunk_property) < 0)
        return guard_note(state, "chunk property of the processor class") ? 0 : -1;
    return has < 0 ? -1 : 0;
}

static PyObject *find_events(struct probe_state *state, PyObject *args,
                             PyObject *kwargs, Py_ssize_t position)
{
    if (PyTuple_Size(args) > position)
        return PyTuple_GetItem(args, position);
    PyObject *events = kwargs ? PyDict_GetItem(kwargs, state->names.events) : NULL;
    return events ? events : Py_None;
}

static int call_open(struct call *call, PyObject *args, PyObject *kwargs,
                     bool is_method)
{
    struct probe_state *state = call->state;
    PyObject *events = find_events(state, args, kwargs, is_method ? 1 : 0);

    if (events_describe(state, call->thread, events, &call->held) < 0)
        return -1;
    call->source = events_byte_source(state, events);
    if (call->source && !byte_source_read(state, call->source, &call->bytes_before))
        Py_CLEAR(call->source);
    return PyErr_Occurred() ? -1 : 0;
}

/* ---- after the work ---------------------------------------------------------- */

/* One of the three dicts that call_current_chunk() made, still empty. */
static bool is_untouched(PyObject *key, PyObject *value)
{
    return PyDict_Check(value) && PyDict_Size(value) == 0 && PyUnicode_Check(key) &&
           (PyUnicode_CompareWithASCIIString(key, "timing") == 0 ||
            PyUnicode_CompareWithASCIIString(key, "memory") == 0 ||
            PyUnicode_CompareWithASCIIString(key, "bytes") == 0);
}

static int encode_user_keys(struct call *call)
{
    roast_values *out = roast_chunk_user_keys(call->thread);
    PyObject *items = call->user_keys ? PyDict_Items(call->user_keys) : NULL;
    Py_ssize_t count = items ? PyList_Size(items) : 0;
    int status = 0;

    for (Py_ssize_t i = 0; i < count && status == 0; i++) {
        PyObject *pair = PyList_GetItem(items, i);
        PyObject *key = PyTuple_GetItem(pair, 0);
        PyObject *value = PyTuple_GetItem(pair, 1);
        if (!is_untouched(key, value))
            status = values_put(call->state, call->thread, out, key, value);
    }
    Py_XDECREF(items);
    if (status < 0 || PyErr_Occurred())
        return guard_note(call->state, "user keys") ? 0 : -1;
    return 0;
}

/* -1 only if an exception of the user is set. */
static int set_bytes(struct call *call)
{
    roast_record *rec = roast_chunk_record(call->thread);
    uint64_t now = 0;

    if (!call->source || !byte_source_read(call->state, call->source, &now) ||
        now < call->bytes_before) {
        roast_chunk_absent(call->thread, ROAST_FIELD_bytes_read, ROAST_WHY_NOT_GIVEN);
        return PyErr_Occurred() ? -1 : 0;
    }
    roast_record_set_u64(rec, ROAST_FIELD_bytes_read, now - call->bytes_before);
    roast_record_set_u64(rec, ROAST_FIELD_bytes_before, call->bytes_before);
    return 0;
}

/* Closes the chunk. False: there is no frame. */
static bool call_finish(struct call *call, const struct roast_chunk_end *end,
                        struct roast_str *frame)
{
    roast_record *rec = roast_chunk_record(call->thread);
    roast_error err = {0};

    if (call->errors.count > 0) {
        roast_record_set_u64(rec, ROAST_FIELD_monitor_errors, call->errors.count);
        roast_record_set_str(rec, ROAST_FIELD_monitor_first_error,
                             roast_str_of(call->errors.first));
    }
    if (roast_chunk_finish(call->thread, end, frame, &err) < 0) {
        if (err.code != ROAST_UNAVAILABLE) /* a forked copy: the parent reports it */
            guard_note_error(call->state, "record of a chunk", &err);
        return false;
    }
    return true;
}

static bool carries_key(const struct probe_state *state, PyObject *output)
{
    PyObject *type = (PyObject *)Py_TYPE(output);
    return PyDict_CheckExact(output) || type == state->default_dict ||
           type == state->ordered_dict;
}

/* output's own list with the record added, or a list of the record alone; NULL without
 * an exception when the key holds something else. */
static PyObject *records_list(struct probe_state *state, PyObject *output,
                              PyObject *record)
{
    PyObject *old = PyDict_GetItemWithError(output, state->names.output_key);
    PyObject *list = NULL;

    if (old && !PyList_Check(old))
        return NULL;
    if (!PyErr_Occurred())
        list = old ? PyList_GetSlice(old, 0, PyList_Size(old)) : PyList_New(0);
    if (list && PyList_Append(list, record) < 0)
        Py_CLEAR(list);
    return list;
}

/* A shallow copy of output that carries the record; NULL when it cannot. */
static PyObject *with_record(struct probe_state *state, PyObject *output,
                             struct roast_str frame)
{
    PyObject *record = record_new(state, frame);
    PyObject *list = record ? records_list(state, output, record) : NULL;
    PyObject *copy = NULL;

    if (list && PyDict_CheckExact(output))
        copy = PyDict_Copy(output);
    else if (list)
        copy = PyObject_CallMethodObjArgs(output, state->names.copy, NULL);
    if (copy && PyObject_SetItem(copy, state->names.output_key, list) < 0)
        Py_CLEAR(copy);
    Py_XDECREF(list);
    Py_XDECREF(record);
    return copy;
}

/* Inside an attempt the frame is sent with its end, and the output is unchanged. */
static bool keep_in_attempt(struct call *call, struct roast_str frame)
{
    roast_error err = {0};

    if (!roast_attempt_active(call->thread))
        return false;
    if (roast_attempt_add_frame(call->thread, frame, &err) == ROAST_OK)
        return true;
    guard_note_error(call->state, "frame of a chunk", &err);
    return false;
}

/* A full outbox counts the loss itself: that is not an error. */
static void put_in_outbox(struct call *call, struct roast_str frame)
{
    roast_error err = {0};

    if (roast_outbox_put(frame, &err) == ROAST_NO_MEMORY)
        guard_note_error(call->state, "outbox", &err);
}

/* Takes output; returns it, or the copy that carries the record. */
static PyObject *deliver(struct call *call, PyObject *output, struct roast_str frame)
{
    PyObject *copy = NULL;

    if (keep_in_attempt(call, frame))
        return output;
    if (carries_key(call->state, output)) {
        copy = with_record(call->state, output, frame);
        if (!copy && PyErr_Occurred() && !guard_note(call->state, "output key")) {
            Py_DECREF(output);
            return NULL;
        }
    }
    if (!copy) {
        put_in_outbox(call, frame);
        return output;
    }
    Py_DECREF(output);
    return copy;
}

/* Raises the user's exception again as the very object it was. A Ctrl-C that arrived in
 * our own work must not be lost: then that one is raised, with the user's as context. */
static void raise_again(struct raised user)
{
    if (PyErr_Occurred() && PyErr_GivenExceptionMatches(user.type, PyExc_Exception)) {
        guard_give_context(&user);
    } else {
        PyErr_Clear();
        PyErr_Restore(user.type, user.value, user.traceback);
    }
}

static PyObject *finish_failed(struct call *call)
{
    struct raised user = guard_keep_raised();
    struct roast_str frame;
    bool known = failure_is(call->state, &call->failure, user.value, user.traceback);
    PyObject *name = exception_name(call->state, user.type);
    PyObject *message = exception_text(user.value);

    if (!PyErr_Occurred()) /* after a Ctrl-C no code of the user is called */
        (void)encode_user_keys(call);
    if (!PyErr_Occurred())
        (void)set_bytes(call);
    const struct roast_chunk_end end = {
        .status = ROAST_CHUNK_FAILED,
        .error_type = name ? text_borrow(name) : roast_str_of("unknown"),
        .error_message = message ? text_borrow(message) : (struct roast_str){NULL, 0},
        .error_token = known ? (const void *)call->failure.serial : NULL,
    };
    if (call_finish(call, &end, &frame) && !keep_in_attempt(call, frame))
        put_in_outbox(call, frame);
    Py_XDECREF(name);
    Py_XDECREF(message);
    raise_again(user);
    return NULL;
}

/* ---- the work ---------------------------------------------------------------- */

/* super().process() inside a decorated process(): a section of the running chunk. */
static PyObject *call_nested(struct probe_state *state, roast_thread *thread,
                             PyObject *func, PyObject *args, PyObject *kwargs)
{
    PyObject *name = PyObject_GetAttr(func, state->names.qualname);

    bool named = name && PyUnicode_Check(name);
    if (!name && !guard_clear())
        return NULL;
    struct roast_section_token token =
        roast_section_begin(thread, named ? text_borrow(name) : roast_str_of("process"),
                            ROAST_SECTION_CALL);
    PyObject *output = PyObject_Call(func, args, kwargs);
    if (!output) { /* this call may be the innermost section that the exception left */
        struct raised user = guard_keep_raised();
        call_section_failed(state, thread, user.value, user.traceback);
        PyErr_Restore(user.type, user.value, user.traceback);
    }
    roast_section_end(thread, token, 0);
    Py_XDECREF(name);
    return output;
}

static PyObject *call_chunk(struct call *call, PyObject *func, PyObject *args,
                            PyObject *kwargs)
{
    const struct roast_chunk_end end = {.status = ROAST_CHUNK_OK};
    struct roast_str frame;

    held_end(call->depth);
    roast_chunk_start(call->thread);
    PyObject *output = PyObject_Call(func, args, kwargs);
    roast_chunk_stop(call->thread);
    held_cover(call->depth);
    output = held_begin_after(call->depth, output);
    if (output && encode_user_keys(call) == 0 && set_bytes(call) == 0)
        return call_finish(call, &end, &frame) ? deliver(call, output, frame) : output;
    Py_XDECREF(output); /* a Ctrl-C in our own work: the call counts as failed */
    return finish_failed(call);
}

PyObject *call_measured(struct probe_state *state, PyObject *func, PyObject *args,
                        PyObject *kwargs, bool is_method)
{
    struct roast_chunk_options options = ROAST_CHUNK_OPTIONS_INIT;
    struct call call = {.state = state};
    roast_error err = {0};
    PyObject *output = NULL;

    call.thread = state->enabled ? roast_thread_get(&err) : NULL;
    if (!call.thread) {
        if (state->enabled)
            guard_note_error(state, "state of a thread", &err);
        return PyObject_Call(func, args, kwargs);
    }
    if (is_method && prepare_class(state, PyTuple_GetItem(args, 0)) < 0)
        return NULL;
    if (roast_chunk_active(call.thread))
        return call_nested(state, call.thread, func, args, kwargs);
    options.exact_peak = state->exact_peak;
    roast_chunk_begin(call.thread, &options);
    current_call = &call;
    call.depth = held_inside();
    if (held_begin(call.depth) < 0 ||
        call_open(&call, args, kwargs, is_method) < 0) { /* Ctrl-C before the work */
        roast_chunk_start(call.thread);
        roast_chunk_stop(call.thread);
        output = finish_failed(&call);
    } else {
        output = call_chunk(&call, func, args, kwargs);
    }
    current_call = NULL;
    call_release(&call);
    roast_chunk_delivered(call.thread);
    held_end(call.depth);
    return output;
}
