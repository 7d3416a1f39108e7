/* SPDX-License-Identifier: BSD-3-Clause */
/* json_text.c - plain Python values as JSON.
 *
 * metrics.json of a run of 10^5 chunks has some 10^7 values. For values of plain types
 * this does in one pass what export/encoding.py and json.dumps() do, including the
 * redaction of secrets. For any other type it returns None, and Python encodes the whole
 * value. So no user code runs here, and containers cannot change meanwhile. */
#include "state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "roast/json_write.h"

enum { MAX_DEPTH = 50, MAX_KEYS = 10000 }; /* as in encoding.py */
enum { SMALLEST_BYTES = 4096 };

enum outcome { PUT, ODD, NO_MEMORY };

/* A list or dict that is being written. */
struct level {
    PyObject *container; /* borrowed */
    Py_ssize_t at;
    bool is_dict;
    bool is_begun;
};

struct writer {
    char *data; /* owned */
    size_t size;
    size_t cap;
    bool failed;
    struct level levels[MAX_DEPTH];
    int depth; /* of open levels */
    int most_depth;
    PyObject *keys; /* {key: bytes of make_key()}; borrowed */
    char *scratch;  /* owned; for redacted text */
    size_t scratch_bytes;
};

/* ---- bytes ----------------------------------------------------------------------- */

static bool make_room(struct writer *out, size_t more)
{
    size_t cap = out->cap > 0 ? out->cap : SMALLEST_BYTES;

    if (out->size + more <= out->cap)
        return true;
    while (cap < out->size + more)
        cap *= 2;
    char *data = PyMem_Realloc(out->data, cap);
    if (!data) {
        out->failed = true;
        return false;
    }
    out->data = data;
    out->cap = cap;
    return true;
}

static void put(void *context, const void *bytes, size_t size)
{
    struct writer *out = context;

    if (!make_room(out, size))
        return;
    memcpy(out->data + out->size, bytes, size);
    out->size += size;
}

static void put_word(struct writer *out, const char *word)
{
    put(out, word, strlen(word));
}

/* ---- texts ----------------------------------------------------------------------- */

/* Whether it needs no escapes. */
static bool is_simple(struct roast_str text)
{
    for (size_t i = 0; i < text.size_bytes; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < 0x20 || c > 0x7e || c == '"' || c == '\\')
            return false;
    }
    return true;
}

static void put_text(struct writer *out, struct roast_str text)
{
    if (is_simple(text)) {
        put(out, "\"", 1);
        put(out, text.data, text.size_bytes);
        put(out, "\"", 1);
        return;
    }
    struct roast_json json = {.put = put, .context = out};
    roast_json_text(&json, text);
}

/* Removes secrets from the text, which then is in the scratch buffer. */
static enum outcome redact(struct writer *out, struct roast_str *text)
{
    size_t room = roast_str_redact_bound(text->size_bytes);

    if (!roast_str_may_hold_secret(*text))
        return PUT;
    if (room > out->scratch_bytes) {
        char *scratch = PyMem_Realloc(out->scratch, room);
        if (!scratch)
            return NO_MEMORY;
        out->scratch = scratch;
        out->scratch_bytes = room;
    }
    *text =
        (struct roast_str){out->scratch, roast_str_redact(out->scratch, room, *text)};
    return PUT;
}

/* ODD for a str with lone surrogates. */
static enum outcome borrow(PyObject *value, struct roast_str *text)
{
    Py_ssize_t size = 0;

    text->data = PyUnicode_AsUTF8AndSize(value, &size);
    text->size_bytes = (size_t)size;
    if (text->data)
        return PUT;
    bool odd = PyErr_ExceptionMatches(PyExc_UnicodeError);
    PyErr_Clear();
    return odd ? ODD : NO_MEMORY;
}

static enum outcome put_str(struct writer *out, PyObject *value)
{
    struct roast_str text;
    enum outcome outcome = borrow(value, &text);

    if (outcome == PUT)
        outcome = redact(out, &text);
    if (outcome == PUT)
        put_text(out, text);
    return outcome;
}

/* ---- numbers --------------------------------------------------------------------- */

static enum outcome put_int(struct writer *out, PyObject *value)
{
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    char text[32];

    (void)snprintf(text, sizeof(text), "%lld", number);
    if (overflow != 0) { /* the id of a process may need all 64 bits */
        unsigned long long large = PyLong_AsUnsignedLongLong(value);
        if (PyErr_Occurred()) {
            PyErr_Clear();
            return ODD;
        }
        (void)snprintf(text, sizeof(text), "%llu", large);
    }
    put_word(out, text);
    return PUT;
}

static enum outcome put_float(struct writer *out, double number)
{
    if (!isfinite(number))
        return ODD; /* Python counts it */
    char *text = PyOS_double_to_string(number, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    if (!text) {
        PyErr_Clear();
        return NO_MEMORY;
    }
    put_word(out, text);
    PyMem_Free(text);
    return PUT;
}

/* ---- containers ------------------------------------------------------------------ */

static enum outcome put_value(struct writer *out, PyObject *value)
{
    bool is_dict = PyDict_CheckExact(value);

    if (is_dict || PyList_CheckExact(value)) {
        if (out->depth >= out->most_depth)
            return ODD;
        out->levels[out->depth++] = (struct level){value, 0, is_dict, false};
        put(out, is_dict ? "{" : "[", 1);
        return PUT;
    }
    if (value == Py_None)
        put_word(out, "null");
    else if (PyBool_Check(value))
        put_word(out, value == Py_True ? "true" : "false");
    else if (PyUnicode_CheckExact(value))
        return put_str(out, value);
    else if (PyFloat_CheckExact(value))
        return put_float(out, PyFloat_AsDouble(value));
    else if (PyLong_CheckExact(value))
        return put_int(out, value);
    else
        return ODD;
    return PUT;
}

/* One byte that marks keys of secret values ("s") and texts ("t"), then the JSON of the
 * key with a colon. NULL: *outcome is the reason. */
static PyObject *make_key(struct writer *out, PyObject *key, enum outcome *outcome)
{
    struct roast_str plain;
    size_t before = out->size;

    *outcome = borrow(key, &plain);
    struct roast_str text = plain;
    if (*outcome == PUT)
        *outcome = redact(out, &text);
    if (*outcome == PUT && (plain.size_bytes != text.size_bytes ||
                            memcmp(plain.data, text.data, text.size_bytes) != 0))
        *outcome = ODD; /* the redacted key may equal another one */
    if (*outcome != PUT)
        return NULL;
    /* a text that is secret for every name that has secret texts */
    const struct roast_str random = roast_str_of("aB3dEf6hIj9kLm2nOp");
    bool always = roast_str_is_secret(plain, (struct roast_str){NULL, 0});
    put(out, always ? "s" : roast_str_is_secret(plain, random) ? "t" : "-", 1);
    put_text(out, plain);
    put(out, ": ", 2);
    PyObject *made = out->failed
                         ? NULL
                         : PyBytes_FromStringAndSize(out->data + before,
                                                     (Py_ssize_t)(out->size - before));
    out->size = before;
    if (!made || (PyDict_Size(out->keys) < MAX_KEYS &&
                  PyDict_SetItem(out->keys, key, made) < 0)) {
        Py_XDECREF(made);
        PyErr_Clear();
        *outcome = NO_MEMORY;
        return NULL;
    }
    return made;
}

static PyObject *key_of(struct writer *out, PyObject *key, enum outcome *outcome)
{
    *outcome = ODD;
    if (!PyUnicode_CheckExact(key))
        return NULL;
    PyObject *made = PyDict_GetItemWithError(out->keys, key);
    if (made && PyBytes_Check(made)) {
        *outcome = PUT;
        return Py_NewRef(made);
    }
    return make_key(out, key, outcome);
}

static enum outcome put_entry(struct writer *out, const struct level *level,
                              PyObject *key, PyObject *value)
{
    enum outcome outcome;
    PyObject *made = key_of(out, key, &outcome);

    if (!made)
        return outcome;
    const char *bytes = PyBytes_AsString(made);
    size_t size = (size_t)PyBytes_Size(made);
    bool is_secret = bytes[0] == 's' && value != Py_None && !PyBool_Check(value);
    struct roast_str name, text;
    if (bytes[0] == 't' && PyUnicode_CheckExact(value) && borrow(key, &name) == PUT &&
        borrow(value, &text) == PUT)
        is_secret = roast_str_is_secret(name, text);
    if (PyDict_Size(level->container) == 1 && size > 3 &&
        memcmp(bytes + 1, "\"__", 3) == 0)
        outcome = ODD; /* may be a tag of encoding.py */
    else
        put(out, bytes + 1, size - 1);
    Py_DECREF(made);
    if (outcome == PUT && is_secret)
        put_word(out, "\"***\"");
    else if (outcome == PUT)
        outcome = put_value(out, value);
    return outcome;
}

/* The next item of the innermost container, or its end. */
static enum outcome put_next(struct writer *out)
{
    struct level *level = &out->levels[out->depth - 1];
    PyObject *key = NULL;
    PyObject *value = NULL;
    bool is_dict = level->is_dict;
    bool more = is_dict ? PyDict_Next(level->container, &level->at, &key, &value)
                        : level->at < PyList_Size(level->container);

    if (!more) {
        put(out, is_dict ? "}" : "]", 1);
        out->depth--;
        return PUT;
    }
    if (level->is_begun)
        put(out, ", ", 2);
    level->is_begun = true;
    if (is_dict)
        return put_entry(out, level, key, value);
    return put_value(out, PyList_GetItem(level->container, level->at++));
}

/* ---- for Python ------------------------------------------------------------------ */

static PyObject *json_text(PyObject *module, PyObject *args)
{
    struct writer out = {.data = NULL};
    PyObject *value = NULL;
    PyObject *text = NULL;
    int depth = 0;

    (void)module;
    if (!PyArg_ParseTuple(args, "OiO!:json_text", &value, &depth, &PyDict_Type,
                          &out.keys))
        return NULL;
    out.most_depth = depth < 0 || depth > MAX_DEPTH ? 0 : MAX_DEPTH - depth;
    enum outcome outcome = put_value(&out, value);
    while (outcome == PUT && out.depth > 0 && !out.failed)
        outcome = put_next(&out);
    if (outcome == NO_MEMORY || out.failed)
        PyErr_NoMemory();
    else if (outcome == ODD)
        text = Py_NewRef(Py_None);
    else
        text = PyUnicode_DecodeASCII(out.data, (Py_ssize_t)out.size, NULL);
    PyMem_Free(out.data);
    PyMem_Free(out.scratch);
    return text;
}

PyMethodDef json_text_methods[] = {
    {"json_text", json_text, METH_VARARGS,
     "The JSON of a plain value at a depth, without secrets; None for other types. The"
     " dict caches keys."},
    {NULL, NULL, 0, NULL},
};
