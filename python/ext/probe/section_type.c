/* SPDX-License-Identifier: BSD-3-Clause */
/* section_type.c - what `with track_time(self, "x"):` enters and leaves.
 *
 * Two types: a section, and one shared object that does nothing, for code that runs
 * outside a measured chunk. Neither ever raises or swallows an exception. */
#include "chunk.h"
#include "support.h"
#include "types.h"

struct section {
    PyObject_HEAD
    PyObject *name;   /* str */
    PyObject *source; /* byte counter of track_bytes, else NULL */
    struct probe_state *state;
    enum roast_section_kind kind;
    struct roast_section_token token;
    uint64_t start_bytes;
};

/* One dead section is kept for the next: they come and go one at a time. */
static struct section *section_alloc(struct probe_state *state)
{
    PyObject *spare = state->spare_section;

    if (!spare)
        return PyObject_New(struct section, state->section_type);
    state->spare_section = NULL;
    return (struct section *)PyObject_Init(spare, state->section_type);
}

PyObject *section_new(struct probe_state *state, PyObject *name,
                      enum roast_section_kind kind, PyObject *source)
{
    struct section *self = section_alloc(state);

    if (!self)
        return NULL;
    self->name = Py_NewRef(name);
    self->source = Py_XNewRef(source);
    self->state = state;
    self->kind = kind;
    self->token = (struct roast_section_token){NULL, 0};
    self->start_bytes = 0;
    return (PyObject *)self;
}

static void section_dealloc(PyObject *object)
{
    struct section *self = (struct section *)object;
    PyTypeObject *type = Py_TYPE(object);

    Py_XDECREF(self->name);
    Py_XDECREF(self->source);
    if (self->state->spare_section)
        PyObject_Free(object);
    else
        self->state->spare_section = object; /* memory only: no reference */
    Py_DECREF(type);
}

static roast_thread *measuring_thread(void)
{
    roast_thread *thread = roast_thread_current();
    return thread && roast_chunk_active(thread) ? thread : NULL;
}

static PyObject *section_enter(PyObject *object, PyObject *unused)
{
    struct section *self = (struct section *)object;
    roast_thread *thread = measuring_thread();

    (void)unused;
    if (!thread)
        return Py_NewRef(object);
    if (self->source &&
        !byte_source_read(self->state, self->source, &self->start_bytes))
        return PyErr_Occurred() ? NULL : Py_NewRef(object);
    self->token = roast_section_begin(thread, text_borrow(self->name), self->kind);
    return Py_NewRef(object);
}

/* Bytes since enter. A counter that went away or backwards counts as nothing read. */
static uint64_t bytes_since(struct section *self)
{
    uint64_t now = 0;

    if (!self->source || !byte_source_read(self->state, self->source, &now) ||
        now < self->start_bytes)
        return 0;
    return now - self->start_bytes;
}

static PyObject *section_exit(PyObject *object, PyObject *const *args, Py_ssize_t nargs)
{
    struct section *self = (struct section *)object;
    roast_thread *thread = measuring_thread();

    if (thread && self->token.serial != 0) {
        uint64_t bytes = self->source ? bytes_since(self) : 0;
        PyObject *interrupt[3]; /* a Ctrl-C that arrived in the foreign property */
        PyErr_Fetch(&interrupt[0], &interrupt[1], &interrupt[2]);
        if (nargs > 2 && args[1] != Py_None)
            call_section_failed(self->state, thread, args[1], args[2]);
        roast_section_end(thread, self->token, bytes);
        PyErr_Restore(interrupt[0], interrupt[1], interrupt[2]);
        if (interrupt[0])
            return NULL;
    }
    return Py_NewRef(Py_False);
}

static PyMethodDef section_methods[] = {
    {"__enter__", section_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))section_exit, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot section_slots[] = {
    {Py_tp_dealloc, section_dealloc},
    {Py_tp_methods, section_methods},
    {0, NULL},
};

PyType_Spec section_spec = {
    .name = "roastcoffea._probe.Section",
    .basicsize = sizeof(struct section),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = section_slots,
};

/* ---- nothing ----------------------------------------------------------------- */

PyObject *null_context_new(struct probe_state *state)
{
    return PyObject_New(PyObject, state->null_type);
}

static void null_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    PyObject_Free(object);
    Py_DECREF(type);
}

static PyObject *null_enter(PyObject *object, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(object);
}

static PyObject *null_exit(PyObject *object, PyObject *const *args, Py_ssize_t nargs)
{
    (void)object;
    (void)args;
    (void)nargs;
    return Py_NewRef(Py_False);
}

static PyMethodDef null_methods[] = {
    {"__enter__", null_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))null_exit, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot null_slots[] = {
    {Py_tp_dealloc, null_dealloc},
    {Py_tp_methods, null_methods},
    {0, NULL},
};

PyType_Spec null_spec = {
    .name = "roastcoffea._probe.Nothing",
    .basicsize = sizeof(PyObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = null_slots,
};
