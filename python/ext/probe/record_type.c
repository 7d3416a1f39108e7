/* SPDX-License-Identifier: BSD-3-Clause */
/* record_type.c - one chunk's record: a read-only mapping over its frame.
 *
 * The dict is made on first look, so a record that is only merged costs its bytes; one
 * that is in the columns of a run costs no more than its place there. It pickles as plain
 * bytes: code that merges outputs needs nothing of ours. */
#include "support.h"
#include "types.h"

struct record {
    PyObject_HEAD
    PyObject *frame;  /* bytes; NULL while it is only in `source` */
    PyObject *dict;   /* NULL until first look */
    PyObject *source; /* NULL, or what gives the frame: source.frame(row) */
    struct probe_state *state;
    uint32_t row;
};

PyObject *record_new(struct probe_state *state, struct roast_str frame)
{
    PyObject *bytes =
        PyBytes_FromStringAndSize(frame.data, (Py_ssize_t)frame.size_bytes);
    struct record *self =
        bytes ? PyObject_New(struct record, state->record_type) : NULL;

    if (!self) {
        Py_XDECREF(bytes);
        return NULL;
    }
    self->frame = bytes;
    self->dict = NULL;
    self->source = NULL;
    self->state = state;
    self->row = 0;
    return (PyObject *)self;
}

PyObject *record_at(struct probe_state *state, PyObject *source, uint32_t row)
{
    struct record *self = PyObject_New(struct record, state->record_type);

    if (!self)
        return NULL;
    self->frame = NULL;
    self->dict = NULL;
    self->source = Py_NewRef(source);
    self->state = state;
    self->row = row;
    return (PyObject *)self;
}

/* The bytes of a record, borrowed; kept once they were asked for. */
static PyObject *frame_bytes(struct record *self)
{
    if (!self->frame) {
        PyObject *frame =
            PyObject_CallMethod(self->source, "frame", "I", (unsigned)self->row);
        if (frame && !PyBytes_Check(frame)) {
            Py_CLEAR(frame);
            PyErr_SetString(PyExc_TypeError, "a source of frames gives bytes");
        }
        if (!self->frame) /* another thread may have been faster */
            self->frame = frame;
        else
            Py_XDECREF(frame);
    }
    return self->frame;
}

static void record_dealloc(PyObject *object)
{
    struct record *self = (struct record *)object;
    PyTypeObject *type = Py_TYPE(object);

    Py_XDECREF(self->frame);
    Py_XDECREF(self->dict);
    Py_XDECREF(self->source);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* Borrowed. */
static PyObject *record_dict(PyObject *object)
{
    struct record *self = (struct record *)object;
    char *data = NULL;
    Py_ssize_t size = 0;

    PyObject *frame = self->dict ? NULL : frame_bytes(self);
    if (frame && PyBytes_AsStringAndSize(frame, &data, &size) == 0)
        self->dict =
            record_to_dict(self->state, (struct roast_str){data, (size_t)size});
    return self->dict;
}

static Py_ssize_t record_length(PyObject *self)
{
    PyObject *dict = record_dict(self);
    return dict ? PyDict_Size(dict) : -1;
}

static PyObject *record_getitem(PyObject *self, PyObject *key)
{
    PyObject *dict = record_dict(self);
    return dict ? PyObject_GetItem(dict, key) : NULL;
}

static int record_contains(PyObject *self, PyObject *key)
{
    PyObject *dict = record_dict(self);
    return dict ? PyDict_Contains(dict, key) : -1;
}

static PyObject *record_iter(PyObject *self)
{
    PyObject *dict = record_dict(self);
    return dict ? PyObject_GetIter(dict) : NULL;
}

static PyObject *record_repr(PyObject *self)
{
    PyObject *dict = record_dict(self);
    return dict ? PyObject_Repr(dict) : NULL;
}

/* Equal to any mapping with equal content, as a dict would be. */
static PyObject *record_compare(PyObject *self, PyObject *other, int op)
{
    struct record *mine = (struct record *)self;
    PyObject *theirs = other;

    if (Py_IS_TYPE(other, mine->state->record_type))
        theirs = record_dict(other);
    if (!theirs || !record_dict(self))
        return NULL;
    return PyObject_RichCompare(mine->dict, theirs, op);
}

static PyObject *record_keys(PyObject *self, PyObject *unused)
{
    PyObject *dict = record_dict(self);

    (void)unused;
    return dict ? PyObject_CallMethod(dict, "keys", NULL) : NULL;
}

static PyObject *record_values(PyObject *self, PyObject *unused)
{
    PyObject *dict = record_dict(self);

    (void)unused;
    return dict ? PyObject_CallMethod(dict, "values", NULL) : NULL;
}

static PyObject *record_items(PyObject *self, PyObject *unused)
{
    PyObject *dict = record_dict(self);

    (void)unused;
    return dict ? PyObject_CallMethod(dict, "items", NULL) : NULL;
}

static PyObject *record_get(PyObject *self, PyObject *args)
{
    PyObject *key;
    PyObject *fallback = Py_None;
    PyObject *dict = record_dict(self);

    if (!dict || !PyArg_ParseTuple(args, "O|O:get", &key, &fallback))
        return NULL;
    PyObject *value = PyDict_GetItemWithError(dict, key);
    if (!value && PyErr_Occurred())
        return NULL;
    return Py_NewRef(value ? value : fallback);
}

static PyObject *record_reduce(PyObject *object, PyObject *unused)
{
    (void)unused;
    PyObject *frame = frame_bytes((struct record *)object);
    return frame ? Py_BuildValue("O(O)", (PyObject *)&PyBytes_Type, frame) : NULL;
}

static PyObject *record_self(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

/* The nested dicts of a copy are its own, as of a dict. */
static PyObject *record_deepcopy(PyObject *object, PyObject *unused)
{
    struct record *self = (struct record *)object;
    char *data = NULL;
    Py_ssize_t size = 0;

    (void)unused;
    PyObject *frame = frame_bytes(self);
    if (!frame || PyBytes_AsStringAndSize(frame, &data, &size) < 0)
        return NULL;
    return record_new(self->state, (struct roast_str){data, (size_t)size});
}

static PyObject *record_frame(PyObject *self, void *unused)
{
    (void)unused;
    return Py_XNewRef(frame_bytes((struct record *)self));
}

static PyObject *record_kind(PyObject *object, void *unused)
{
    static const char *const names[] = {[ROAST_FRAME_BEGIN] = "begin",
                                        [ROAST_FRAME_CHUNK] = "chunk",
                                        [ROAST_FRAME_END] = "end"};
    char *data = NULL;
    Py_ssize_t size = 0;
    roast_record rec = {0};

    (void)unused;
    PyObject *frame = frame_bytes((struct record *)object);
    if (!frame || PyBytes_AsStringAndSize(frame, &data, &size) < 0)
        return NULL;
    (void)roast_record_decode(&rec, NULL, (struct roast_str){data, (size_t)size}, NULL);
    bool known = rec.kind >= ROAST_FRAME_BEGIN && rec.kind <= ROAST_FRAME_END;
    return PyUnicode_FromString(known ? names[rec.kind] : "unknown");
}

static PyMethodDef record_methods[] = {
    {"keys", record_keys, METH_NOARGS, "The keys, as of a dict."},
    {"values", record_values, METH_NOARGS, "The values, as of a dict."},
    {"items", record_items, METH_NOARGS, "The (key, value) pairs, as of a dict."},
    {"get", record_get, METH_VARARGS, "The value of a key, or a default."},
    {"__reduce__", record_reduce, METH_NOARGS, "Pickles as plain bytes."},
    {"__copy__", record_self, METH_NOARGS, "The record itself."},
    {"__deepcopy__", record_deepcopy, METH_O, "A record of the same frame."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef record_getset[] = {
    {"frame", record_frame, NULL, "The record as bytes (docs/format.md).", NULL},
    {"kind", record_kind, NULL, "begin, chunk or end.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot record_slots[] = {
    {Py_tp_dealloc, record_dealloc},
    {Py_tp_doc, "What was measured of one chunk; reads like a dict."},
    {Py_tp_methods, record_methods},
    {Py_tp_getset, record_getset},
    {Py_tp_repr, record_repr},
    {Py_tp_iter, record_iter},
    {Py_tp_richcompare, record_compare},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_mp_length, record_length},
    {Py_mp_subscript, record_getitem},
    {Py_sq_contains, record_contains},
    {0, NULL},
};

PyType_Spec record_spec = {
    .name = "roastcoffea._probe.Record",
    .basicsize = sizeof(struct record),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = record_slots,
};
