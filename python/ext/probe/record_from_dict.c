/* SPDX-License-Identifier: BSD-3-Clause */
/* record_from_dict.c - the frame of a mapping with the keys of a record.
 *
 * The reverse of record_type.c, by the same list: record_views.def has the meaning and
 * unit of every key; reads_from_dict.c does the ladder and what was read. Keys that the
 * user added are not stored: the frame holds what formulas read, and the caller keeps the
 * mapping. A value of the wrong type leaves its field absent. */
#include "from_dict.h"

#include <math.h>
#include <stdlib.h>

#include "types.h"

/* ---- reading a mapping --------------------------------------------------------- */

PyObject *mapping_item(PyObject *mapping, const char *key)
{
    PyObject *value = PyErr_Occurred() ? NULL : PyMapping_GetItemString(mapping, key);

    if (!value)
        (void)guard_clear();
    if (value == Py_None)
        Py_CLEAR(value);
    return value;
}

bool number_of(PyObject *object, double *number)
{
    *number = object ? PyFloat_AsDouble(object) : NAN;
    if (PyErr_Occurred())
        (void)guard_clear();
    else if (object && isfinite(*number))
        return true;
    return false;
}

bool mapping_number(PyObject *mapping, const char *key, double *number)
{
    PyObject *value = mapping_item(mapping, key);
    bool known = number_of(value, number);

    Py_XDECREF(value);
    return known;
}

uint64_t whole_of(double value, double scale)
{
    double scaled = nearbyint(value * scale);
    return scaled >= 0 && scaled < 9e18 ? (uint64_t)scaled : 0;
}

/* Takes the reference to text, which may be NULL. */
static struct roast_str keep_text(PyObject *kept, PyObject *text)
{
    struct roast_str borrowed = {NULL, 0};

    if (text && PyList_Append(kept, text) == 0)
        borrowed = text_borrow(text);
    Py_XDECREF(text);
    (void)guard_clear();
    return borrowed;
}

struct roast_str text_kept(PyObject *kept, PyObject *object)
{
    return keep_text(kept, object ? text_redacted(object) : NULL);
}

struct roast_str name_kept(PyObject *kept, PyObject *object)
{
    return keep_text(kept, object ? name_redacted(object) : NULL);
}

uint64_t mapping_whole(PyObject *mapping, const char *key, double scale)
{
    double number = 0;
    return mapping_number(mapping, key, &number) ? whole_of(number, scale) : 0;
}

PyObject *mapping_dict(PyObject *mapping, const char *key)
{
    PyObject *found = mapping_item(mapping, key);
    PyObject *copy = found && PyDict_Check(found) ? PyDict_Copy(found) : NULL;

    Py_XDECREF(found);
    (void)guard_clear();
    return copy;
}

bool part_room(struct record_parts *parts, size_t size_bytes)
{
    parts->out = PyMem_Malloc(size_bytes);
    if (!parts->out)
        PyErr_NoMemory();
    return parts->out != NULL;
}

int part_finish(struct record_parts *parts, enum roast_field field, int64_t size,
                const roast_error *err)
{
    PyObject *bytes = NULL;
    int status = -1;

    if (size < 0)
        raise_roast(parts->state, err);
    else
        bytes = PyBytes_FromStringAndSize(parts->out, (Py_ssize_t)size);
    if (bytes)
        status = PyList_Append(parts->kept, bytes);
    if (status == 0)
        roast_record_set_str(parts->rec, field,
                             (struct roast_str){PyBytes_AsString(bytes), (size_t)size});
    Py_XDECREF(bytes);
    PyMem_Free(parts->out);
    parts->out = NULL;
    return status;
}

/* ---- the record ---------------------------------------------------------------- */

enum { MAX_SECTIONS = 256 };

/* A record while it is built. */
struct builder {
    struct record_parts parts;
    roast_record rec;
    struct roast_section sections[MAX_SECTIONS];
    size_t section_count;
    unsigned char identity[ROAST_IDENTITY_BYTES];
};

/* ---- single values ------------------------------------------------------------- */

static bool is_name(enum roast_field field)
{
    return field == ROAST_FIELD_file || field == ROAST_FIELD_dataset ||
           field == ROAST_FIELD_treename;
}

static void set_view(struct builder *builder, const struct roast_view *view,
                     PyObject *value)
{
    roast_record *rec = &builder->rec;
    PyObject *kept = builder->parts.kept;
    bool is_count = view->kind == ROAST_VIEW_COUNT || view->kind == ROAST_VIEW_FLAG;
    double number = 0;

    switch (view->kind) {
    case ROAST_VIEW_TEXT:
        roast_record_set_str(rec, view->field,
                             is_name(view->field) ? name_kept(kept, value)
                                                  : text_kept(kept, value));
        break;
    case ROAST_VIEW_STATUS:
        roast_record_set_u64(rec, ROAST_FIELD_status,
                             PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(
                                                           value, "failed") == 0
                                 ? ROAST_CHUNK_FAILED
                                 : ROAST_CHUNK_OK);
        break;
    case ROAST_VIEW_COUNT:
    case ROAST_VIEW_FLAG:
    case ROAST_VIEW_SECONDS:
    case ROAST_VIEW_EPOCH_S:
    case ROAST_VIEW_MIB:
    case ROAST_VIEW_GB:
        if (is_count && PyLong_Check(value)) { /* a double has fewer digits */
            unsigned long long whole = PyLong_AsUnsignedLongLong(value);
            if (!PyErr_Occurred())
                roast_record_set_u64(rec, view->field, whole);
            (void)guard_clear();
        } else if (number_of(value, &number)) {
            roast_view_set(rec, view, number);
        }
        break;
    default: /* computed from other fields */
        break;
    }
}

/* Several keys may name one field; the first one with a usable value counts. */
static void set_views(struct builder *builder)
{
    size_t count = 0;
    const struct roast_view *views = roast_views(&count);

    for (size_t i = 0; i < count && !PyErr_Occurred(); i++) {
        bool known = roast_record_has(&builder->rec, views[i].field);
        PyObject *value =
            known ? NULL : mapping_item(builder->parts.mapping, views[i].key);
        if (value)
            set_view(builder, &views[i], value);
        Py_XDECREF(value);
    }
    if (!roast_record_has(&builder->rec, ROAST_FIELD_status))
        roast_record_set_u64(&builder->rec, ROAST_FIELD_status, ROAST_CHUNK_OK);
}

static void set_times(struct builder *builder)
{
    static const char *const keys[] = {"t_start", "t_end", "timestamp"};
    double numbers[3];

    for (int i = 0; i < 3; i++) {
        if (!mapping_number(builder->parts.mapping, keys[i], &numbers[i]))
            numbers[i] = NAN;
    }
    const struct roast_record_times given = {numbers[0], numbers[1], numbers[2]};
    roast_record_set_times(&builder->rec, &given);
}

static void set_error(struct builder *builder)
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
    roast_record *rec = &builder->rec;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (roast_record_has(rec, parts[i].field))
            continue;
        PyObject *value = mapping_item(builder->parts.mapping, parts[i].key);
        roast_record_set_str(rec, parts[i].field,
                             text_kept(builder->parts.kept, value));
        Py_XDECREF(value);
    }
    if (roast_record_has(rec, ROAST_FIELD_error_type))
        roast_record_set_u64(rec, ROAST_FIELD_status, ROAST_CHUNK_FAILED);
}

/* ---- identity ------------------------------------------------------------------ */

/* The integer at a key of the mapping; 0 when there is none. */
static unsigned long long whole_at(PyObject *mapping, const char *key)
{
    PyObject *value = mapping_item(mapping, key);
    unsigned long long whole =
        value && PyLong_Check(value) ? PyLong_AsUnsignedLongLong(value) : 0;

    Py_XDECREF(value);
    if (!PyErr_Occurred())
        return whole;
    (void)guard_clear();
    return 0;
}

/* From hex digits; out stays 0 if the text is no run id. */
static void read_run_id(unsigned char out[ROAST_RUN_ID_BYTES], PyObject *value)
{
    struct roast_str hex = {NULL, 0};

    if (value && PyUnicode_Check(value))
        hex = text_borrow(value);
    if (hex.size_bytes != 2 * ROAST_RUN_ID_BYTES)
        return;
    for (int i = 0; i < ROAST_RUN_ID_BYTES; i++) {
        const char byte[] = {hex.data[2 * i], hex.data[2 * i + 1], '\0'};
        out[i] = (unsigned char)strtoul(byte, NULL, 16);
    }
}

/* A mapping that was made from one of our records has its identity, so that a run counts
 * it once. Others get the caller's number. */
static void set_identity(struct builder *builder, unsigned long number)
{
    PyObject *mapping = builder->parts.mapping;
    struct roast_identity id = {.process_id = whole_at(mapping, "process_id")};
    unsigned long long sequence = whole_at(mapping, "sequence");
    PyObject *run_id = mapping_item(mapping, "run_id");

    if (id.process_id > 0 && sequence > 0 && sequence <= UINT32_MAX) {
        read_run_id(id.run_id, run_id);
        id.sequence = (uint32_t)sequence;
    } else {
        id = (struct roast_identity){.sequence = (uint32_t)number};
    }
    Py_XDECREF(run_id);
    roast_identity_pack(builder->identity, &id);
    roast_record_set_str(
        &builder->rec, ROAST_FIELD_identity,
        (struct roast_str){(const char *)builder->identity, ROAST_IDENTITY_BYTES});
}

/* ---- sections ------------------------------------------------------------------ */

/* value is in the unit of the key: seconds, MiB or bytes. */
static void add_section(struct builder *builder, PyObject *name,
                        enum roast_section_kind kind, double value)
{
    struct roast_section section = {.parent = -1, .kinds = kind, .count = 1};

    section.name = text_kept(builder->parts.kept, name);
    if (!section.name.data || builder->section_count == MAX_SECTIONS)
        return;
    if (kind == ROAST_SECTION_TIME)
        section.total_ns = whole_of(value, 1e9);
    else if (kind == ROAST_SECTION_BYTES)
        section.bytes = whole_of(value, 1);
    else if (fabs(value) < 1e12)
        section.memory_delta_bytes = (int64_t)nearbyint(value * 1024.0 * 1024.0);
    builder->sections[builder->section_count++] = section;
}

/* {name: number}, as in `timing`, `memory` and `bytes`. */
static void add_dict(struct builder *builder, const char *key,
                     enum roast_section_kind kind)
{
    PyObject *dict = mapping_dict(builder->parts.mapping, key);
    PyObject *name;
    PyObject *value;
    Py_ssize_t at = 0;
    double number = 0;

    while (dict && PyDict_Next(dict, &at, &name, &value)) {
        if (PyUnicode_Check(name) && number_of(value, &number))
            add_section(builder, name, kind, number);
    }
    Py_XDECREF(dict);
}

/* [{section_name, time_delta}], if there is no `timing`. */
static void add_list(struct builder *builder)
{
    PyObject *list = mapping_item(builder->parts.mapping, "sections");
    bool is_list = list && PyList_Check(list);
    double seconds = 0;

    /* converting a number may run code of the user, which changes the list */
    for (Py_ssize_t i = 0; is_list && i < PyList_Size(list); i++) {
        PyObject *row = Py_NewRef(PyList_GetItem(list, i));
        PyObject *name = PyDict_Check(row) ? mapping_item(row, "section_name") : NULL;
        if (name && mapping_number(row, "time_delta", &seconds))
            add_section(builder, name, ROAST_SECTION_TIME, seconds);
        Py_XDECREF(name);
        Py_DECREF(row);
    }
    Py_XDECREF(list);
}

static int set_sections(struct builder *builder)
{
    size_t bound = 10;
    roast_error err = {0};

    add_dict(builder, "timing", ROAST_SECTION_TIME);
    if (builder->section_count == 0)
        add_list(builder);
    add_dict(builder, "memory", ROAST_SECTION_MEMORY);
    add_dict(builder, "bytes", ROAST_SECTION_BYTES);
    if (builder->section_count == 0)
        return 0;
    for (size_t i = 0; i < builder->section_count; i++)
        bound += ROAST_SECTION_BOUND_BYTES + builder->sections[i].name.size_bytes;
    if (!part_room(&builder->parts, bound))
        return -1;
    int64_t size = roast_sections_write(builder->parts.out, bound, builder->sections,
                                        builder->section_count, &err);
    return part_finish(&builder->parts, ROAST_FIELD_sections, size, &err);
}

/* ---- the frame ----------------------------------------------------------------- */

/* The end frame, which has the time of the whole attempt. False: none, because the record
 * was not made by a worker. */
static bool make_end(roast_record *end, const struct builder *builder)
{
    const roast_record *rec = &builder->rec;
    PyObject *split = mapping_dict(builder->parts.mapping, "split");
    double on_cpu_s = 0;

    *end = (roast_record){.kind = ROAST_FRAME_END};
    roast_record_set_str(end, ROAST_FIELD_identity,
                         rec->values[ROAST_FIELD_identity].str);
    roast_record_set_u64(end, ROAST_FIELD_status, rec->values[ROAST_FIELD_status].u64);
    roast_record_set_u64(end, ROAST_FIELD_task_ns,
                         rec->values[ROAST_FIELD_task_ns].u64);
    if (split && mapping_number(split, "on_cpu", &on_cpu_s))
        roast_record_set_u64(end, ROAST_FIELD_task_cpu_ns, whole_of(on_cpu_s, 1e9));
    Py_XDECREF(split);
    return roast_record_has(rec, ROAST_FIELD_task_ns) &&
           whole_at(builder->parts.mapping, "process_id") > 0;
}

static PyObject *build(struct builder *builder, unsigned long number)
{
    struct record_parts *parts = &builder->parts;
    PyObject *frame = NULL;
    roast_error err = {0};

    set_identity(builder, number);
    if (!PyErr_Occurred())
        set_views(builder);
    if (!PyErr_Occurred())
        set_times(builder);
    if (!PyErr_Occurred())
        set_error(builder);
    if (PyErr_Occurred() || set_sections(builder) < 0 || PyErr_Occurred() ||
        reads_from_mapping(parts) < 0)
        return NULL;
    roast_record end;
    bool has_end = make_end(&end, builder);
    size_t bound = roast_record_bound(&builder->rec) + roast_record_bound(&end) +
                   2 * ROAST_FRAME_OVERHEAD_BYTES;
    if (!part_room(parts, bound))
        return NULL;
    int64_t size = roast_record_encode(parts->out, bound, &builder->rec, &err);
    int64_t end_size = 0;
    if (size >= 0 && has_end)
        end_size = roast_record_encode((char *)parts->out + size, bound - (size_t)size,
                                       &end, &err);
    if (size < 0 || end_size < 0)
        raise_roast(parts->state, &err);
    else
        frame = PyBytes_FromStringAndSize(parts->out, (Py_ssize_t)(size + end_size));
    PyMem_Free(parts->out);
    return frame;
}

PyObject *frame_of(PyObject *module, PyObject *args)
{
    PyObject *mapping = NULL;
    unsigned long number = 0;

    if (!PyArg_ParseTuple(args, "Ok", &mapping, &number))
        return NULL;
    if (!PyMapping_Check(mapping) || PyUnicode_Check(mapping) || PyList_Check(mapping))
        return PyErr_Format(PyExc_TypeError, "a chunk record must be a mapping, not %R",
                            Py_TYPE(mapping));
    struct builder *builder = PyMem_Calloc(1, sizeof(*builder));
    if (!builder)
        return PyErr_NoMemory();
    builder->rec.kind = ROAST_FRAME_CHUNK;
    builder->parts = (struct record_parts){.state = PyModule_GetState(module),
                                           .rec = &builder->rec,
                                           .mapping = mapping,
                                           .kept = PyList_New(0)};
    PyObject *frame = builder->parts.kept ? build(builder, number) : NULL;
    Py_XDECREF(builder->parts.kept);
    PyMem_Free(builder);
    return frame;
}
