/* SPDX-License-Identifier: BSD-3-Clause */
/* front.c - the object whose bound methods are the names users write.
 *
 * track_time and the others are methods of one object, because a builtin method pickles
 * as (getattr, (object, name)) and the object may say how it pickles: as an expression
 * that gives this object where the package is installed and one that does nothing
 * where it is not. So a processor that mentions them runs anywhere. */
#include "chunk.h"
#include "support.h"
#include "types.h"

struct front {
    PyObject_HEAD
    PyObject *module;
    struct probe_state *state;
};

PyObject *front_new(PyObject *module, struct probe_state *state)
{
    struct front *self = PyObject_GC_New(struct front, state->front_type);

    if (!self)
        return NULL;
    self->module = Py_NewRef(module);
    self->state = state;
    PyObject_GC_Track(self);
    return (PyObject *)self;
}

static int front_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((struct front *)object)->module);
    return 0;
}

static int front_clear(PyObject *object)
{
    Py_CLEAR(((struct front *)object)->module);
    return 0;
}

static void front_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    PyObject_GC_UnTrack(object);
    (void)front_clear(object);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

static struct probe_state *state_of(PyObject *self)
{
    return ((struct front *)self)->state;
}

/* The chunk that this thread measures now, if any. */
static roast_thread *measuring(const struct probe_state *state)
{
    roast_thread *thread = state->enabled ? roast_thread_current() : NULL;
    return thread && roast_chunk_active(thread) ? thread : NULL;
}

/* The arguments of a fast call, as they come. */
struct arguments {
    PyObject *const *values;
    Py_ssize_t count; /* positional ones; those of kwnames follow */
    PyObject *kwnames;
};

/* The same as the tuple and dict of a slow call. */
static bool pack(PyObject **tuple, PyObject **dict, struct arguments args)
{
    *dict = PyDict_New();
    *tuple = PyTuple_New(args.count);
    if (!*tuple || !*dict)
        return false;
    for (Py_ssize_t i = 0; i < args.count; i++) {
        if (PyTuple_SetItem(*tuple, i, Py_NewRef(args.values[i])) < 0)
            return false;
    }
    for (Py_ssize_t i = 0; args.kwnames && i < PyTuple_Size(args.kwnames); i++) {
        if (PyDict_SetItem(*dict, PyTuple_GetItem(args.kwnames, i),
                           args.values[args.count + i]) < 0)
            return false;
    }
    return true;
}

/* The name of (processor, name); borrowed from the arguments. */
static bool parse_name(PyObject **name, struct arguments args)
{
    static char *keywords[] = {"processor", "name", NULL};
    PyObject *tuple = NULL;
    PyObject *dict = NULL;
    PyObject *processor;

    if (args.count == 2 && !args.kwnames) {
        *name = args.values[1];
        return true;
    }
    bool ok =
        pack(&tuple, &dict, args) &&
        PyArg_ParseTupleAndKeywords(tuple, dict, "OO", keywords, &processor, name);
    Py_XDECREF(tuple);
    Py_XDECREF(dict);
    return ok;
}

/* A section with this name. What is not a str is shown as one. */
static PyObject *open_section(struct probe_state *state, PyObject *name,
                              enum roast_section_kind kind, PyObject *source)
{
    PyObject *text = text_of(name);
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
    PyObject *name;

    if (!parse_name(&name, args))
        return NULL;
    if (!measuring(state))
        return Py_NewRef(state->null_context);
    return open_section(state, name, kind, NULL);
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

static PyObject *track_bytes(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"processor", "events", "name", NULL};
    struct probe_state *state = state_of(self);
    PyObject *processor;
    PyObject *events;
    PyObject *name;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:track_bytes", keywords,
                                     &processor, &events, &name))
        return NULL;
    PyObject *source = measuring(state) ? events_byte_source(state, events) : NULL;
    if (!source)
        return PyErr_Occurred() ? NULL : Py_NewRef(state->null_context);
    PyObject *section = open_section(state, name, ROAST_SECTION_BYTES, source);
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

/* run(func, args, kwargs, is_method): what the decorated function calls when on. */
static PyObject *run(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 4 || !PyTuple_Check(args[1]) ||
        !(args[2] == Py_None || PyDict_Check(args[2]))) {
        PyErr_SetString(PyExc_TypeError, "run(func, args, kwargs, is_method)");
        return NULL;
    }
    PyObject *kwargs = args[2] == Py_None ? NULL : args[2];
    return call_measured(state_of(self), args[0], args[1], kwargs, args[3] == Py_True);
}

/* A processor without the switch: its class gets one, off, so that looking is cheap. */
static PyObject *prepare(PyObject *self, PyObject *processor)
{
    if (call_prepare_class(state_of(self), processor) < 0)
        return NULL;
    return Py_NewRef(Py_False);
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
    if (thread &&
        values_put(state, thread, roast_chunk_custom_metrics(thread), name, value) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *front_reduce(PyObject *self, PyObject *unused)
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

static PyMethodDef front_methods[] = {
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
    {"track_bytes", FAST(track_bytes), METH_VARARGS | METH_KEYWORDS,
     "track_bytes($self, processor, events, name)\n--\n\n"
     "Measure the bytes requested from the events' file in a with block."},
    {"run", FAST(run), METH_FASTCALL, NULL},
    {"prepare", prepare, METH_O, NULL},
    {"current_chunk", current_chunk, METH_O, NULL},
    {"record_metric", record_metric, METH_VARARGS, NULL},
    {"__reduce__", front_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot front_slots[] = {
    {Py_tp_dealloc, front_dealloc},
    {Py_tp_traverse, front_traverse},
    {Py_tp_clear, front_clear},
    {Py_tp_methods, front_methods},
    {0, NULL},
};

PyType_Spec front_spec = {
    .name = "roastcoffea._probe.Front",
    .basicsize = sizeof(struct front),
    .flags =
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = front_slots,
};
