/* SPDX-License-Identifier: BSD-3-Clause */
/* section_type.c - the context manager of `with track_time(self, "x"):`.
 *
 * Outside of a measured chunk one shared section without a name is used, which does
 * nothing. A section never raises an exception of its own, nor does it suppress one. */
#include "chunk.h"
#include "support.h"
#include "types.h"

struct section {
    PyObject_HEAD
    PyObject *name;   /* str; NULL: does nothing */
    PyObject *source; /* byte counter of track_bytes, else NULL */
    struct probe_state *state;
    enum roast_section_kind kind;
    struct roast_section_token token;
    uint64_t start_bytes;
};

/* The memory of one freed section is reused: usually one section is open at a time. */
PyObject *section_new(struct probe_state *state, PyObject *name,
                      enum roast_section_kind kind, PyObject *source)
{
    PyObject *spare = state->spare_section;
    struct section *self =
        spare ? (struct section *)PyObject_Init(spare, state->section_type)
              : PyObject_New(struct section, state->section_type);

    state->spare_section = NULL;
    if (!self)
        return NULL;
    self->name = Py_XNewRef(name);
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
    roast_thread *thread = self->name ? measuring_thread() : NULL;

    (void)unused;
    if (!thread)
        return Py_NewRef(object);
    if (self->source &&
        !byte_source_read(self->state, self->source, &self->start_bytes))
        return PyErr_Occurred() ? NULL : Py_NewRef(object);
    self->token = roast_section_begin(thread, text_borrow(self->name), self->kind);
    return Py_NewRef(object);
}

/* Bytes since enter; unknown if the counter cannot be read or went backwards. */
static uint64_t bytes_since(struct section *self)
{
    uint64_t now = 0;

    if (!byte_source_read(self->state, self->source, &now) || now < self->start_bytes)
        return ROAST_UNKNOWN_BYTES;
    return now - self->start_bytes;
}

static PyObject *section_exit(PyObject *object, PyObject *const *args, Py_ssize_t nargs)
{
    struct section *self = (struct section *)object;
    roast_thread *thread = self->token.serial != 0 ? measuring_thread() : NULL;

    if (thread) {
        uint64_t bytes = self->source ? bytes_since(self) : 0;
        PyObject *interrupt[3]; /* a Ctrl-C that arrived while uproot was called */
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
