/* SPDX-License-Identifier: BSD-3-Clause */
/* record_type.c - one chunk's record: a read-only mapping over its frame.
 *
 * The dict is built on first access: a record that is only merged costs its bytes, and a
 * record in the columns of a run costs one object. It pickles as plain bytes, so code
 * that merges outputs does not need this package. */
#include "support.h"
#include "types.h"

/* ---- a frame as a dict ---------------------------------------------------------- */

enum { MAX_DEPTH = ROAST_VALUE_MAX_DEPTH + 4, MAX_KEPT_BYTES = 128 };

/* Keys and short texts repeat in every record of a run, so recent ones are shared: that
 * saves more time than everything else here takes. */

/* A dict while the visitor fills it. */
struct filling {
    struct probe_state *state;
    PyObject
        *containers[MAX_DEPTH]; /* the first is owned, the others borrowed from it */
    size_t depth;
    PyObject *key; /* owned; NULL in a list */
    bool failed;   /* an exception is set */
};

static PyObject *kept_text(struct probe_state *state, struct roast_str text)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    Py_ssize_t size = 0;

    if (text.size_bytes == 0 || text.size_bytes > MAX_KEPT_BYTES)
        return text_new(text);
    for (size_t i = 0; i < text.size_bytes; i++)
        hash = (hash ^ (unsigned char)text.data[i]) * 16777619u;
    PyObject **slot = &state->kept_texts[hash % PROBE_KEPT_TEXTS];
    const char *known = *slot ? PyUnicode_AsUTF8AndSize(*slot, &size) : NULL;
    if (known && (size_t)size == text.size_bytes &&
        memcmp(known, text.data, text.size_bytes) == 0)
        return Py_NewRef(*slot);
    PyErr_Clear(); /* no memory for the UTF-8 of the kept text: make it again */
    PyObject *made = text_new(text);
    PyObject *old = *slot;
    *slot = Py_XNewRef(made);
    Py_XDECREF(old);
    return made;
}

/* Takes item; NULL is a failure. */
static void add(struct filling *filling, PyObject *item)
{
    PyObject *container = filling->containers[filling->depth - 1];
    int status = -1;

    if (item && filling->key)
        status = PyDict_SetItem(container, filling->key, item);
    else if (item)
        status = PyList_Append(container, item);
    filling->failed |= status < 0;
    Py_CLEAR(filling->key);
    Py_XDECREF(item);
}

static void dict_open(void *context, bool is_map)
{
    struct filling *filling = context;

    if (filling->failed)
        return;
    PyObject *container = is_map ? PyDict_New() : PyList_New(0);
    add(filling, container);
    filling->containers[filling->depth++] = container;
}

static void dict_close(void *context, bool is_map)
{
    struct filling *filling = context;

    (void)is_map;
    filling->depth -= !filling->failed;
}

static void dict_key(void *context, struct roast_str key)
{
    struct filling *filling = context;

    if (filling->failed)
        return;
    filling->key = kept_text(filling->state, key);
    filling->failed = !filling->key;
}

static PyObject *value_new(struct probe_state *state, const struct roast_value *value)
{
    switch (value->type) {
    case ROAST_VALUE_FALSE:
    case ROAST_VALUE_TRUE:
        return PyBool_FromLong(value->type == ROAST_VALUE_TRUE);
    case ROAST_VALUE_INT:
        return PyLong_FromLongLong(value->integer);
    case ROAST_VALUE_COUNT:
        return PyLong_FromUnsignedLongLong(value->count);
    case ROAST_VALUE_DOUBLE:
        return PyFloat_FromDouble(value->number);
    case ROAST_VALUE_TEXT:
        return kept_text(state, value->str);
    case ROAST_VALUE_BYTES:
        return PyBytes_FromStringAndSize(value->str.data,
                                         (Py_ssize_t)value->str.size_bytes);
    default:
        return Py_NewRef(Py_None);
    }
}

static void dict_value(void *context, const struct roast_value *value)
{
    struct filling *filling = context;

    if (!filling->failed)
        add(filling, value_new(filling->state, value));
}

static PyObject *record_to_dict(struct probe_state *state, struct roast_str frame)
{
    struct filling filling = {.state = state, .depth = 1};
    const struct roast_value_sink sink = {.open = dict_open,
                                          .close = dict_close,
                                          .key = dict_key,
                                          .value = dict_value,
                                          .context = &filling};
    roast_record rec;
    roast_error err = {0};

    if (roast_record_decode(&rec, NULL, frame, &err) < 0)
        return raise_roast(state, &err);
    PyObject *dict = filling.containers[0] = PyDict_New();
    filling.failed = !dict;
    int status = roast_record_visit(&rec, &sink, &err);
    if (status < 0 && !filling.failed)
        raise_roast(state, &err);
    if (status < 0 || filling.failed)
        Py_CLEAR(dict);
    return dict;
}

/* ---- the type ------------------------------------------------------------------- */

struct record {
    PyObject_HEAD
    PyObject *frame;  /* bytes; NULL: not read from `source` yet */
    PyObject *dict;   /* NULL until first access */
    PyObject *source; /* NULL, or the object with frame(row) */
    struct probe_state *state;
    uint32_t row;
};

PyObject *record_at(struct probe_state *state, PyObject *source, uint32_t row)
{
    struct record *self = PyObject_New(struct record, state->record_type);

    if (!self)
        return NULL;
    self->frame = NULL;
    self->dict = NULL;
    self->source = Py_XNewRef(source);
    self->state = state;
    self->row = row;
    return (PyObject *)self;
}

PyObject *record_new(struct probe_state *state, struct roast_str frame)
{
    PyObject *self = record_at(state, NULL, 0);
    PyObject *bytes =
        self ? PyBytes_FromStringAndSize(frame.data, (Py_ssize_t)frame.size_bytes)
             : NULL;

    if (bytes)
        ((struct record *)self)->frame = bytes;
    else
        Py_CLEAR(self);
    return self;
}

/* The bytes of a record, borrowed; read once. */
static PyObject *frame_bytes(struct record *self)
{
    if (!self->frame) {
        PyObject *frame =
            PyObject_CallMethod(self->source, "frame", "I", (unsigned)self->row);
        if (frame && !PyBytes_Check(frame)) {
            Py_CLEAR(frame);
            PyErr_SetString(PyExc_TypeError, "frame() must return bytes");
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

/* The same as a view; data is NULL with an exception. */
static struct roast_str frame_view(PyObject *self)
{
    PyObject *frame = frame_bytes((struct record *)self);
    char *data = NULL;
    Py_ssize_t size = 0;

    if (frame)
        (void)PyBytes_AsStringAndSize(frame, &data, &size);
    return (struct roast_str){data, (size_t)size};
}

/* Borrowed. */
static PyObject *record_dict(PyObject *object)
{
    struct record *self = (struct record *)object;

    if (!self->dict) {
        struct roast_str frame = frame_view(object);
        self->dict = frame.data ? record_to_dict(self->state, frame) : NULL;
    }
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

static PyObject *dict_method(PyObject *self, const char *name)
{
    PyObject *dict = record_dict(self);
    return dict ? PyObject_CallMethod(dict, name, NULL) : NULL;
}

static PyObject *record_keys(PyObject *self, PyObject *unused)
{
    (void)unused;
    return dict_method(self, "keys");
}

static PyObject *record_values(PyObject *self, PyObject *unused)
{
    (void)unused;
    return dict_method(self, "values");
}

static PyObject *record_items(PyObject *self, PyObject *unused)
{
    (void)unused;
    return dict_method(self, "items");
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

/* A deep copy builds nested dicts of its own. */
static PyObject *record_deepcopy(PyObject *self, PyObject *unused)
{
    struct roast_str frame = frame_view(self);

    (void)unused;
    return frame.data ? record_new(((struct record *)self)->state, frame) : NULL;
}

static PyObject *record_frame(PyObject *self, void *unused)
{
    (void)unused;
    return Py_XNewRef(frame_bytes((struct record *)self));
}

static PyObject *record_kind(PyObject *self, void *unused)
{
    static const char *const names[] = {[ROAST_FRAME_BEGIN] = "begin",
                                        [ROAST_FRAME_CHUNK] = "chunk",
                                        [ROAST_FRAME_END] = "end"};
    struct roast_str frame = frame_view(self);
    roast_record rec = {0};

    (void)unused;
    if (!frame.data)
        return NULL;
    (void)roast_record_decode(&rec, NULL, frame, NULL);
    bool known = rec.kind >= ROAST_FRAME_BEGIN && rec.kind <= ROAST_FRAME_END;
    return PyUnicode_FromString(known ? names[rec.kind] : "unknown");
}

static PyMethodDef record_methods[] = {
    {"keys", record_keys, METH_NOARGS, "As dict.keys()."},
    {"values", record_values, METH_NOARGS, "As dict.values()."},
    {"items", record_items, METH_NOARGS, "As dict.items()."},
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
