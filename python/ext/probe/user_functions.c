/* SPDX-License-Identifier: BSD-3-Clause */
/* user_functions.c - the object whose bound methods are the functions that users call.
 *
 * track_time and the others are methods of one object, because a builtin method pickles
 * as (getattr, (object, name)) and the object defines how it pickles: as an expression
 * that returns this object where the package is installed, and a stand-in that does
 * nothing where it is not. So a processor that uses them runs anywhere.
 *
 * A decorated function that no Runner has switched on is called as it is, unless a
 * callable was set with set_unswitched_call(): on a Dask worker the task decides whether
 * the call belongs to a run. */
#include "chunk.h"
#include "held.h"
#include "support.h"
#include "types.h"

struct user_functions {
    PyObject_HEAD
    PyObject *module;
    struct probe_state *state;
};

PyObject *user_functions_new(PyObject *module, struct probe_state *state)
{
    struct user_functions *self =
        PyObject_GC_New(struct user_functions, state->user_functions_type);

    if (!self)
        return NULL;
    self->module = Py_NewRef(module);
    self->state = state;
    PyObject_GC_Track(self);
    return (PyObject *)self;
}

static int user_functions_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((struct user_functions *)object)->module);
    return 0;
}

static int user_functions_clear(PyObject *object)
{
    Py_CLEAR(((struct user_functions *)object)->module);
    return 0;
}

static void user_functions_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    PyObject_GC_UnTrack(object);
    (void)user_functions_clear(object);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

static struct probe_state *state_of(PyObject *self)
{
    return ((struct user_functions *)self)->state;
}

/* The thread, if it measures a chunk now. */
static roast_thread *measuring(const struct probe_state *state)
{
    roast_thread *thread = state->enabled ? roast_thread_current() : NULL;
    return thread && roast_chunk_active(thread) ? thread : NULL;
}

/* The arguments of a fast call. */
struct arguments {
    PyObject *const *values;
    Py_ssize_t count; /* of positional ones; those of kwnames follow */
    PyObject *kwnames;
};

struct parameter {
    const char *name;
    const char *old_name; /* in roastcoffea 0.1.2 */
};

static const struct parameter processor_name[] = {{"processor", "processor_self"},
                                                  {"name", "section_name"}};
static const struct parameter processor_events_name[] = {
    {"processor", "processor_self"}, {"events", "events"}, {"name", "section_name"}};

/* Fills out[0..count) from positional and keyword arguments; borrowed. */
static bool parse(PyObject **out, const struct parameter *known, Py_ssize_t count,
                  struct arguments args)
{
    Py_ssize_t keywords = args.kwnames ? PyTuple_Size(args.kwnames) : 0;
    bool ok = args.count + keywords == count;

    for (Py_ssize_t i = 0; i < count; i++)
        out[i] = ok && i < args.count ? args.values[i] : NULL;
    for (Py_ssize_t i = 0; i < keywords && ok; i++) {
        PyObject *name = PyTuple_GetItem(args.kwnames, i);
        Py_ssize_t at = 0;
        while (at < count &&
               PyUnicode_CompareWithASCIIString(name, known[at].name) != 0 &&
               PyUnicode_CompareWithASCIIString(name, known[at].old_name) != 0)
            at++;
        ok = at < count && !out[at];
        if (ok)
            out[at] = args.values[args.count + i];
    }
    if (!ok)
        PyErr_Format(PyExc_TypeError, "expected (processor%s, name)",
                     count == 3 ? ", events" : "");
    return ok;
}

static PyObject *open_section(struct probe_state *state, PyObject *name,
                              enum roast_section_kind kind, PyObject *source)
{
    PyObject *text = text_redacted(name);
    PyObject *section = text ? section_new(state, text, kind, source) : NULL;

    Py_XDECREF(text);
    if (!section && guard_note(state, "name of a section"))
        return Py_NewRef(state->null_context);
    return section;
}

static PyObject *track(PyObject *self, struct arguments args,
                       enum roast_section_kind kind)
{
    struct probe_state *state = state_of(self);
    PyObject *values[2];

    if (!parse(values, processor_name, 2, args))
        return NULL;
    if (!measuring(state))
        return Py_NewRef(state->null_context);
    return open_section(state, values[1], kind, NULL);
}

static PyObject *track_time(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames)
{
    return track(self, (struct arguments){args, nargs, kwnames}, ROAST_SECTION_TIME);
}

static PyObject *track_memory(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                              PyObject *kwnames)
{
    return track(self, (struct arguments){args, nargs, kwnames}, ROAST_SECTION_MEMORY);
}

static PyObject *track_bytes(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *kwnames)
{
    struct probe_state *state = state_of(self);
    PyObject *values[3];

    if (!parse(values, processor_events_name, 3,
               (struct arguments){args, nargs, kwnames}))
        return NULL;
    PyObject *source = measuring(state) ? events_byte_source(state, values[1]) : NULL;
    if (!source)
        return PyErr_Occurred() ? NULL : Py_NewRef(state->null_context);
    PyObject *section = open_section(state, values[2], ROAST_SECTION_BYTES, source);
    Py_DECREF(source);
    return section;
}

static PyObject *track_metrics(PyObject *self, PyObject *func)
{
    struct probe_state *state = state_of(self);

    if (!state->enabled || !state->decorate)
        return Py_NewRef(func);
    return PyObject_CallFunctionObjArgs(state->decorate, func, NULL);
}

/* work_function(function, token): rebuilds a pickled work function of an executor. Where
 * the package is not installed, the stand-in returns the plain function; so does this if
 * the token comes from another release. */
static PyObject *work_function(PyObject *self, PyObject *args)
{
    struct probe_state *state = state_of(self);
    PyObject *function = NULL;
    PyObject *token = NULL;

    if (!PyArg_ParseTuple(args, "OO", &function, &token))
        return NULL;
    if (!state->enabled || !state->work)
        return Py_NewRef(function);
    unsigned depth = held_enter(); /* Dask unpickles in the main thread too */
    bool goes_on = held_begin(depth) == 0;
    PyObject *work =
        goes_on ? PyObject_CallFunctionObjArgs(state->work, function, token, NULL)
                : NULL;
    held_end(depth);
    held_leave(depth);
    if (goes_on && !work && guard_note(state, "work function"))
        return Py_NewRef(function);
    return work;
}

static bool check_run(PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 4 || !PyTuple_Check(args[1]) ||
        !(args[2] == Py_None || PyDict_Check(args[2]))) {
        PyErr_SetString(PyExc_TypeError, "run(func, args, kwargs, is_method)");
        return false;
    }
    if (args[3] == Py_True && PyTuple_Size(args[1]) == 0) {
        PyErr_SetString(PyExc_TypeError, "run() of a method needs its object");
        return false;
    }
    return true;
}

/* run(func, args, kwargs, is_method): a decorated function that is switched on. */
static PyObject *run(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    if (!check_run(args, nargs))
        return NULL;
    PyObject *kwargs = args[2] == Py_None ? NULL : args[2];
    return call_measured(state_of(self), args[0], args[1], kwargs, args[3] == Py_True);
}

/* Callable or NULL. It belongs to the library and not to a module: a worker may have
 * imported decorated functions with an earlier copy of the module. */
static PyObject *unswitched_call;

PyObject *set_unswitched_call(PyObject *module, PyObject *callable)
{
    PyObject *old = unswitched_call;

    (void)module;
    unswitched_call = callable == Py_None ? NULL : Py_NewRef(callable);
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

/* The same if the switch is not set and bool(user_functions) is true. Inside a chunk or an attempt
 * the call is a part of it. */
static PyObject *run_unswitched(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    const roast_thread *thread = roast_thread_current();

    if (!check_run(args, nargs))
        return NULL;
    if (!state_of(self)->enabled || !unswitched_call)
        return PyObject_Call(args[0], args[1], args[2] == Py_None ? NULL : args[2]);
    if (thread && (roast_chunk_active(thread) || roast_attempt_active(thread)))
        return run(self, args, nargs);
    PyObject *callable = Py_NewRef(unswitched_call);
    PyObject *result = PyObject_CallFunctionObjArgs(callable, args[0], args[1], args[2],
                                                    args[3], NULL);
    Py_DECREF(callable);
    return result;
}

/* Whether the switch of a processor can be read. If so, what was raised while it was read
 * came from a handler of a signal. */
static PyObject *has_switch(PyObject *self, PyObject *processor)
{
    PyObject *value = PyObject_GetAttrString(processor, "_roastcoffea_collect_metrics");
    bool can_read = value || PyErr_ExceptionMatches(PyExc_AttributeError);

    (void)self;
    Py_XDECREF(value);
    return guard_clear() ? PyBool_FromLong(can_read) : NULL;
}

static int user_functions_bool(PyObject *self)
{
    (void)self;
    return unswitched_call != NULL;
}

static PyObject *current_chunk(PyObject *self, PyObject *processor)
{
    PyObject *chunk = call_current_chunk();

    (void)self;
    if (chunk)
        return Py_NewRef(chunk);
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_AttributeError,
                     "'%S' has no attribute '_roastcoffea_current_chunk': no chunk is "
                     "measured on this thread",
                     (PyObject *)Py_TYPE(processor));
    return NULL;
}

static PyObject *record_metric(PyObject *self, PyObject *args)
{
    struct probe_state *state = state_of(self);
    roast_thread *thread = measuring(state);
    PyObject *name;
    PyObject *value;

    if (!PyArg_ParseTuple(args, "OO:record_metric", &name, &value))
        return NULL;
    if (!thread)
        Py_RETURN_NONE;
    unsigned depth =
        held_inside(); /* the value may be an object with code of its own */
    int status = held_begin(depth);
    if (status == 0)
        status =
            values_put(state, thread, roast_chunk_custom_metrics(thread), name, value);
    held_end(depth);
    return status < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *user_functions_reduce(PyObject *self, PyObject *unused)
{
    struct probe_state *state = state_of(self);

    (void)unused;
    if (!state->stub) {
        PyErr_SetString(PyExc_RuntimeError, "roastcoffea is not fully imported yet");
        return NULL;
    }
    return Py_NewRef(state->stub);
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef user_functions_methods[] = {
    {"track_metrics", track_metrics, METH_O,
     "track_metrics($self, func, /)\n--\n\n"
     "Measure every call of a process() method, or of a function of events."},
    {"track_time", FAST(track_time), METH_FASTCALL | METH_KEYWORDS,
     "track_time($self, processor, name)\n--\n\n"
     "Measure the time of a with block inside a measured chunk."},
    {"track_section", FAST(track_time), METH_FASTCALL | METH_KEYWORDS,
     "track_section($self, processor, name)\n--\n\n"
     "The same as track_time: measure the time of a with block."},
    {"track_memory", FAST(track_memory), METH_FASTCALL | METH_KEYWORDS,
     "track_memory($self, processor, name)\n--\n\n"
     "Measure how the process's resident memory changes over a with block."},
    {"track_bytes", FAST(track_bytes), METH_FASTCALL | METH_KEYWORDS,
     "track_bytes($self, processor, events, name)\n--\n\n"
     "Measure the bytes requested from the events' file in a with block."},
    {"work_function", work_function, METH_VARARGS, NULL},
    {"run", FAST(run), METH_FASTCALL, NULL},
    {"run_unswitched", FAST(run_unswitched), METH_FASTCALL, NULL},
    {"has_switch", has_switch, METH_O, NULL},
    {"current_chunk", current_chunk, METH_O, NULL},
    {"record_metric", record_metric, METH_VARARGS, NULL},
    {"__reduce__", user_functions_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot user_functions_slots[] = {
    {Py_tp_dealloc, user_functions_dealloc}, {Py_tp_traverse, user_functions_traverse},
    {Py_tp_clear, user_functions_clear},     {Py_tp_methods, user_functions_methods},
    {Py_nb_bool, user_functions_bool},       {0, NULL},
};

PyType_Spec user_functions_spec = {
    .name = "roastcoffea._probe.UserFunctions",
    .basicsize = sizeof(struct user_functions),
    .flags =
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = user_functions_slots,
};
