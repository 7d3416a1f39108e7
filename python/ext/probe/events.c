/* SPDX-License-Identifier: BSD-3-Clause */
/* events.c - metadata of the events: dataset, file, entries, bytes.
 *
 * events may be any object: a NanoEvents array, a plain object, one whose properties
 * raise. A value that cannot be read is absent with a reason. */
#include "chunk.h"
#include "held.h"
#include "support.h"

enum { MAX_TEXT_BYTES = 1024 };

/* Marks a field as absent and clears the exception; -1 if that is one of the user. */
static int set_absent(roast_thread *thread, enum roast_field field,
                      enum roast_reason why)
{
    if (!guard_clear())
        return -1;
    roast_chunk_absent(thread, field, why);
    return 0;
}

/* metadata[key] as a new reference; NULL without an exception if it is missing. */
static PyObject *metadata_item(PyObject *metadata, PyObject *key)
{
    if (PyDict_Check(metadata))
        return Py_XNewRef(PyDict_GetItemWithError(metadata, key));
    PyObject *value = PyObject_GetItem(metadata, key);
    if (!value && PyErr_ExceptionMatches(PyExc_LookupError))
        PyErr_Clear();
    return value;
}

/* Takes the reference to the name; returns a new one. */
static PyObject *without_secrets(roast_thread *thread, PyObject *name)
{
    char clean[2 * MAX_TEXT_BYTES];
    struct roast_str given = text_borrow(name);

    if (!given.data || !roast_str_may_hold_secret(given))
        return name;
    size_t size = roast_thread_redact_name(thread, clean, sizeof(clean), given);
    Py_DECREF(name);
    return text_new((struct roast_str){clean, size});
}

static int set_text(roast_thread *thread, enum roast_field field, PyObject *value,
                    struct held *held)
{
    bool is_name = field == ROAST_FIELD_dataset || field == ROAST_FIELD_treename;
    bool is_file = field == ROAST_FIELD_file;
    PyObject *text = is_name || is_file ? text_of(value) : text_redacted(value);

    if (text && is_name)
        text = without_secrets(thread, text);
    if (!text)
        return set_absent(thread, field, ROAST_WHY_RAISED);
    held->objects[held->count++] = text;
    struct roast_str str = text_borrow(text);
    if (field == ROAST_FIELD_file) {
        roast_chunk_set_file(thread, str);
        return 0;
    }
    if (str.size_bytes > MAX_TEXT_BYTES)
        roast_chunk_lose(thread, ROAST_LOSS_text_cut, 1);
    roast_record_set_str(roast_chunk_record(thread), field,
                         roast_str_cut(str, MAX_TEXT_BYTES));
    return 0;
}

static int set_count(roast_thread *thread, enum roast_field field, PyObject *value)
{
    PyObject *index = PyNumber_Index(value);
    long long number = index ? PyLong_AsLongLong(index) : -1;

    Py_XDECREF(index);
    if (number < 0)
        return set_absent(thread, field, ROAST_WHY_BAD_VALUE);
    roast_record_set_u64(roast_chunk_record(thread), field, (uint64_t)number);
    return 0;
}

struct row {
    PyObject *key;
    enum roast_field field;
};

static int describe_row(roast_thread *thread, PyObject *metadata, struct row row,
                        struct held *held)
{
    PyObject *value = metadata_item(metadata, row.key);

    if (value == Py_None) /* coffea writes None for unknown */
        Py_CLEAR(value);
    if (!value)
        return set_absent(thread, row.field,
                          PyErr_Occurred() ? ROAST_WHY_RAISED : ROAST_WHY_NOT_GIVEN);
    bool is_text = roast_field_info(row.field)->type == ROAST_TYPE_TEXT;
    int status = is_text ? set_text(thread, row.field, value, held)
                         : set_count(thread, row.field, value);
    Py_DECREF(value);
    return status;
}

static int describe_length(roast_thread *thread, PyObject *events)
{
    Py_ssize_t length = PyObject_Size(events);

    if (length < 0) {
        bool no_len = PyErr_ExceptionMatches(PyExc_TypeError);
        bool bad = PyErr_ExceptionMatches(PyExc_ValueError) ||
                   PyErr_ExceptionMatches(PyExc_OverflowError);
        enum roast_reason why = no_len ? ROAST_WHY_NOT_GIVEN
                                : bad  ? ROAST_WHY_BAD_VALUE
                                       : ROAST_WHY_RAISED;
        return set_absent(thread, ROAST_FIELD_num_events, why);
    }
    roast_record_set_u64(roast_chunk_record(thread), ROAST_FIELD_num_events,
                         (uint64_t)length);
    return 0;
}

int events_describe(struct probe_state *state, roast_thread *thread, PyObject *events,
                    struct held *held)
{
    const struct probe_names *names = &state->names;
    const struct row rows[] = {
        {names->dataset, ROAST_FIELD_dataset},
        {names->filename, ROAST_FIELD_file},
        {names->treename, ROAST_FIELD_treename},
        {names->fileuuid, ROAST_FIELD_uuid},
        {names->entrystart, ROAST_FIELD_entry_start},
        {names->entrystop, ROAST_FIELD_entry_stop},
    };

    if (describe_length(thread, events) < 0)
        return -1;
    PyObject *metadata = PyObject_GetAttr(events, names->metadata);
    enum roast_reason why = metadata || PyErr_ExceptionMatches(PyExc_AttributeError)
                                ? ROAST_WHY_NOT_GIVEN
                                : ROAST_WHY_RAISED;
    int status = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && status == 0; i++) {
        if (metadata)
            status = describe_row(thread, metadata, rows[i], held);
        else
            status = set_absent(thread, rows[i].field, why);
    }
    Py_XDECREF(metadata);
    return status;
}

/* Only awkward arrays lead to a file, through `attrs`. Looking up a missing attribute
 * costs half a microsecond, so the result is cached for the last class. */
static bool may_have_file(struct probe_state *state, PyObject *events)
{
    PyObject *type = (PyObject *)Py_TYPE(events);

    if (type != state->known_events) {
        state->events_have_attrs = guard_has_attr(type, state->names.attrs) == 1;
        PyObject *old = state->known_events;
        state->known_events = Py_NewRef(type);
        Py_XDECREF(old);
    }
    return state->events_have_attrs;
}

/* Another version of uproot may have no such counter: after some errors it is not tried
 * again, and the monitor stays on. */
static void note_source_error(struct probe_state *state, const char *where)
{
    enum { MOST_ERRORS = 10 };

    if (guard_note(state, where) && ++state->source_errors >= MOST_ERRORS)
        Py_CLEAR(state->byte_source);
}

PyObject *events_byte_source(struct probe_state *state, PyObject *events)
{
    if (!state->byte_source || !may_have_file(state, events) || PyErr_Occurred())
        return NULL;
    unsigned depth = held_inside();
    bool goes_on = held_begin(depth) == 0;
    PyObject *source =
        goes_on ? PyObject_CallFunctionObjArgs(state->byte_source, events, NULL) : NULL;
    if (goes_on && !source)
        note_source_error(state, "byte counter of the events");
    held_end(depth);
    if (source == Py_None)
        Py_CLEAR(source);
    return source;
}

static bool read_counter(struct probe_state *state, PyObject *source, uint64_t *bytes)
{
    PyObject *value = PyObject_GetAttr(source, state->names.requested);
    PyObject *index = value ? PyNumber_Index(value) : NULL;
    long long number = index ? PyLong_AsLongLong(index) : -1;

    Py_XDECREF(index);
    Py_XDECREF(value);
    if (number < 0) {
        if (PyErr_Occurred())
            note_source_error(state, "byte counter of the file");
        return false;
    }
    *bytes = (uint64_t)number;
    return true;
}

bool byte_source_read(struct probe_state *state, PyObject *source, uint64_t *bytes)
{
    unsigned depth = held_inside();
    bool is_known = held_begin(depth) == 0 && read_counter(state, source, bytes);

    held_end(depth);
    return is_known;
}
