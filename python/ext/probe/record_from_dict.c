/* SPDX-License-Identifier: BSD-3-Clause */
/* record_from_dict.c - the frame of a mapping that somebody made by hand.
 *
 * The reverse of record_dict.c, by the same list: what a key means and its unit is in
 * record_views.def; the ladder has a file of its own. Keys of the user's own stay with
 * the mapping, which the caller keeps; only what formulas read goes into the frame. A
 * value of the wrong type leaves its field absent. */
#include <math.h>
#include <string.h>

#include "mapping.h"
#include "types.h"

enum { MAX_SECTIONS = 256 };

/* A mapping on its way into a record; owns what the record borrows. */
struct making {
    roast_record rec;
    PyObject *mapping;
    PyObject *texts; /* list that keeps what the record borrows alive */
    struct roast_section sections[MAX_SECTIONS];
    size_t section_count;
    char *blob;
    unsigned char identity[ROAST_IDENTITY_BYTES];
};

/* A whole number keeps all its digits. */
static void set_count(roast_record *rec, const struct roast_view *view, PyObject *value)
{
    double number = 0;

    if (PyLong_Check(value)) {
        unsigned long long whole = PyLong_AsUnsignedLongLong(value);
        if (!PyErr_Occurred())
            roast_record_set_u64(rec, view->field, whole);
        (void)guard_clear();
    } else if (number_of(value, &number)) {
        roast_view_set(rec, view, number);
    }
}

static void set_status(roast_record *rec, PyObject *value)
{
    bool failed = PyUnicode_Check(value) &&
                  PyUnicode_CompareWithASCIIString(value, "failed") == 0;

    roast_record_set_u64(rec, ROAST_FIELD_status,
                         failed ? ROAST_CHUNK_FAILED : ROAST_CHUNK_OK);
}

static void set_view(struct making *making, const struct roast_view *view,
                     PyObject *value)
{
    double number = 0;

    switch (view->kind) {
    case ROAST_VIEW_TEXT:
        roast_record_set_str(&making->rec, view->field,
                             view->field == ROAST_FIELD_file
                                 ? file_kept(making->texts, value)
                                 : text_kept(making->texts, value));
        break;
    case ROAST_VIEW_COUNT:
    case ROAST_VIEW_FLAG:
        set_count(&making->rec, view, value);
        break;
    case ROAST_VIEW_SECONDS:
    case ROAST_VIEW_EPOCH_S:
    case ROAST_VIEW_MIB:
    case ROAST_VIEW_GB:
        if (number_of(value, &number))
            roast_view_set(&making->rec, view, number);
        break;
    case ROAST_VIEW_STATUS:
        set_status(&making->rec, value);
        break;
    default: /* made from other fields, or not measured yet */
        break;
    }
}

/* Several keys may stand for one field; the first that says something counts. */
static void set_views(struct making *making)
{
    size_t count = 0;
    const struct roast_view *views = roast_views(&count);

    for (size_t i = 0; i < count && !PyErr_Occurred(); i++) {
        bool known = roast_record_has(&making->rec, views[i].field);
        PyObject *value = known ? NULL : mapping_item(making->mapping, views[i].key);
        if (value)
            set_view(making, &views[i], value);
        Py_XDECREF(value);
    }
    if (!roast_record_has(&making->rec, ROAST_FIELD_status))
        roast_record_set_u64(&making->rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
}

static double told_number(PyObject *mapping, const char *key)
{
    double number = NAN;

    return !PyErr_Occurred() && mapping_number(mapping, key, &number) ? number : NAN;
}

static void set_times(struct making *making)
{
    const struct roast_told_times told = {told_number(making->mapping, "t_start"),
                                          told_number(making->mapping, "t_end"),
                                          told_number(making->mapping, "timestamp")};

    roast_record_set_times(&making->rec, &told);
}

static void set_error(struct making *making)
{
    static const struct {
        const char *key;
        enum roast_field field;
    } parts[] = {
        {"error_type", ROAST_FIELD_error_type},
        {"error_message", ROAST_FIELD_error_message},
        {"error", ROAST_FIELD_error_message},
        {"error_section", ROAST_FIELD_error_section},
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (roast_record_has(&making->rec, parts[i].field))
            continue;
        PyObject *value = mapping_item(making->mapping, parts[i].key);
        roast_record_set_str(&making->rec, parts[i].field,
                             text_kept(making->texts, value));
        Py_XDECREF(value);
    }
    if (roast_record_has(&making->rec, ROAST_FIELD_error_type))
        roast_record_set_u64(&making->rec, ROAST_FIELD_status, ROAST_CHUNK_FAILED);
}

/* ---- sections ---------------------------------------------------------------- */

static struct roast_section *section_of(struct making *making, PyObject *name,
                                        enum roast_section_kind kind)
{
    if (making->section_count == MAX_SECTIONS)
        return NULL;
    struct roast_section *section = &making->sections[making->section_count];
    *section = (struct roast_section){.parent = -1, .kinds = kind, .count = 1};
    section->name = text_kept(making->texts, name);
    if (!section->name.data)
        return NULL;
    making->section_count++;
    return section;
}

static void add_time(struct making *making, PyObject *name, double seconds)
{
    struct roast_section *section = section_of(making, name, ROAST_SECTION_TIME);

    if (section)
        section->total_ns = whole_of(seconds, 1e9);
}

static void add_memory(struct making *making, PyObject *name, double mib)
{
    struct roast_section *section = section_of(making, name, ROAST_SECTION_MEMORY);

    if (section && fabs(mib) < 1e12)
        section->memory_delta_bytes = (int64_t)nearbyint(mib * 1024.0 * 1024.0);
}

static void add_bytes(struct making *making, PyObject *name, double bytes)
{
    struct roast_section *section = section_of(making, name, ROAST_SECTION_BYTES);

    if (section)
        section->bytes = whole_of(bytes, 1);
}

/* {name: number}, the shape of `timing`, `memory` and `bytes`. */
static void add_dict(struct making *making, const char *key,
                     void (*add)(struct making *making, PyObject *name, double value))
{
    PyObject *dict = mapping_item(making->mapping, key);
    PyObject *name;
    PyObject *value;
    Py_ssize_t at = 0;
    double number = 0;

    while (dict && PyDict_Check(dict) && PyDict_Next(dict, &at, &name, &value)) {
        if (PyUnicode_Check(name) && number_of(value, &number))
            add(making, name, number);
    }
    Py_XDECREF(dict);
}

/* [{section_name, time_delta}], where there is no `timing`. */
static void add_list(struct making *making)
{
    PyObject *list = mapping_item(making->mapping, "sections");
    bool is_list = list && PyList_Check(list);
    double seconds = 0;

    /* a number of the user's own kind may change the list while it is read */
    for (Py_ssize_t i = 0; is_list && i < PyList_Size(list); i++) {
        PyObject *row = Py_NewRef(PyList_GetItem(list, i));
        PyObject *name = PyDict_Check(row) ? mapping_item(row, "section_name") : NULL;
        if (name && mapping_number(row, "time_delta", &seconds))
            add_time(making, name, seconds);
        Py_XDECREF(name);
        Py_DECREF(row);
    }
    Py_XDECREF(list);
}

static int set_sections(struct making *making, struct probe_state *state)
{
    size_t bound = 10;
    roast_error err = {0};

    add_dict(making, "timing", add_time);
    if (making->section_count == 0)
        add_list(making);
    add_dict(making, "memory", add_memory);
    add_dict(making, "bytes", add_bytes);
    if (making->section_count == 0)
        return 0;
    for (size_t i = 0; i < making->section_count; i++)
        bound += ROAST_SECTION_BOUND_BYTES + making->sections[i].name.size_bytes;
    making->blob = PyMem_Malloc(bound);
    if (!making->blob) {
        PyErr_NoMemory();
        return -1;
    }
    int64_t size = roast_sections_write(making->blob, bound, making->sections,
                                        making->section_count, &err);
    if (size < 0) {
        raise_roast(state, &err);
        return -1;
    }
    roast_record_set_str(&making->rec, ROAST_FIELD_sections,
                         (struct roast_str){making->blob, (size_t)size});
    return 0;
}

/* ---- the frame --------------------------------------------------------------- */

/* 16 bytes in hexadecimal digits; left zero where there are none. */
static void set_run_id(struct roast_identity *id, PyObject *mapping)
{
    PyObject *item = mapping_item(mapping, "run_id");
    PyObject *bytes = NULL;

    if (item && PyUnicode_Check(item))
        bytes = PyObject_CallMethod((PyObject *)&PyBytes_Type, "fromhex", "O", item);
    if (bytes && PyBytes_Size(bytes) == ROAST_RUN_ID_BYTES)
        memcpy(id->run_id, PyBytes_AsString(bytes), ROAST_RUN_ID_BYTES);
    (void)guard_clear();
    Py_XDECREF(bytes);
    Py_XDECREF(item);
}

/* That of the record which a dict was made from; a dict made by hand gets a number. */
static void set_identity(struct making *making, unsigned long number)
{
    struct roast_identity id = {.sequence = (uint32_t)number};
    PyObject *process = mapping_item(making->mapping, "process_id");
    PyObject *sequence = mapping_item(making->mapping, "sequence");

    if (process && sequence && PyLong_Check(process) && PyLong_Check(sequence)) {
        unsigned long long process_id = PyLong_AsUnsignedLongLong(process);
        unsigned long long count = PyLong_AsUnsignedLongLong(sequence);
        if (!PyErr_Occurred() && process_id > 0 && count <= UINT32_MAX) {
            id.process_id = process_id;
            id.sequence = (uint32_t)count;
            set_run_id(&id, making->mapping);
        }
        (void)guard_clear();
    }
    Py_XDECREF(process);
    Py_XDECREF(sequence);
    roast_identity_pack(making->identity, &id);
    roast_record_set_str(
        &making->rec, ROAST_FIELD_identity,
        (struct roast_str){(const char *)making->identity, ROAST_IDENTITY_BYTES});
}

/* The end frame of a record that a worker made: it has the time of the whole attempt.
 * False where there is none. */
static bool make_end(roast_record *end, const struct making *making)
{
    PyObject *split = mapping_dict(making->mapping, "split");
    double on_cpu_s = 0;
    double process_id = 0;

    *end = (roast_record){.kind = ROAST_FRAME_END};
    roast_record_set_str(end, ROAST_FIELD_identity,
                         making->rec.values[ROAST_FIELD_identity].str);
    roast_record_set_u64(end, ROAST_FIELD_status,
                         making->rec.values[ROAST_FIELD_status].u64);
    roast_record_set_u64(end, ROAST_FIELD_task_ns,
                         making->rec.values[ROAST_FIELD_task_ns].u64);
    if (split && mapping_number(split, "on_cpu", &on_cpu_s))
        roast_record_set_u64(end, ROAST_FIELD_task_cpu_ns, whole_of(on_cpu_s, 1e9));
    Py_XDECREF(split);
    return roast_record_has(&making->rec, ROAST_FIELD_task_ns) &&
           mapping_number(making->mapping, "process_id", &process_id) && process_id > 0;
}

static PyObject *encode(struct making *making, struct probe_state *state)
{
    roast_record end;
    bool has_end = make_end(&end, making);
    size_t bound = roast_record_bound(&making->rec) + roast_record_bound(&end) +
                   2 * ROAST_FRAME_OVERHEAD_BYTES;
    char *out = PyMem_Malloc(bound);
    roast_error err = {0};
    PyObject *frame = NULL;

    if (!out)
        return PyErr_NoMemory();
    int64_t size = roast_record_encode(out, bound, &making->rec, &err);
    int64_t end_size = 0;
    if (size >= 0 && has_end)
        end_size = roast_record_encode(out + size, bound - (size_t)size, &end, &err);
    if (size < 0 || end_size < 0)
        raise_roast(state, &err);
    else
        frame = PyBytes_FromStringAndSize(out, (Py_ssize_t)(size + end_size));
    PyMem_Free(out);
    return frame;
}

static PyObject *make(struct making *making, struct probe_state *state,
                      unsigned long number)
{
    making->rec.kind = ROAST_FRAME_CHUNK;
    making->texts = PyList_New(0);
    if (!making->texts)
        return NULL;
    set_identity(making, number);
    set_views(making);
    if (!PyErr_Occurred())
        set_times(making);
    if (!PyErr_Occurred())
        set_error(making);
    if (PyErr_Occurred() || set_sections(making, state) < 0 || PyErr_Occurred() ||
        ladder_from_mapping(state, &making->rec, making->mapping, making->texts) < 0)
        return NULL;
    return encode(making, state);
}

PyObject *frame_of(PyObject *module, PyObject *args)
{
    struct probe_state *state = PyModule_GetState(module);
    PyObject *mapping = NULL;
    unsigned long number = 0;

    if (!PyArg_ParseTuple(args, "Ok", &mapping, &number))
        return NULL;
    if (!PyMapping_Check(mapping) || PyUnicode_Check(mapping) || PyList_Check(mapping))
        return PyErr_Format(PyExc_TypeError, "a chunk record is a mapping, not %R",
                            Py_TYPE(mapping));
    struct making *making = PyMem_Calloc(1, sizeof(*making));
    if (!making)
        return PyErr_NoMemory();
    making->mapping = mapping;
    PyObject *frame = make(making, state, number);
    Py_XDECREF(making->texts);
    PyMem_Free(making->blob);
    PyMem_Free(making);
    return frame;
}
