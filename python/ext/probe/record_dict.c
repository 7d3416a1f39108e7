/* SPDX-License-Identifier: BSD-3-Clause */
/* record_dict.c - a frame as a plain dict: the sink that makes Python objects.
 *
 * Keys and short texts repeat in every record of a run, so the last ones are kept and
 * shared: that saves more time than everything else here takes. */
#include "support.h"
#include "types.h"

enum { MAX_DEPTH = ROAST_VALUE_MAX_DEPTH + 4, MAX_KEPT_BYTES = 128 };

/* A dict being filled. */
struct filling {
    struct probe_state *state;
    PyObject
        *containers[MAX_DEPTH]; /* borrowed from the one before; the first is ours */
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
    PyErr_Clear(); /* a kept text without memory for its UTF-8 is made again */
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

PyObject *record_to_dict(struct probe_state *state, struct roast_str frame)
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
