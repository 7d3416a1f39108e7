/* SPDX-License-Identifier: BSD-3-Clause */
/* record_dict.c - a frame as a plain dict.
 *
 * Scalars follow record_views.def; custom values, losses and reasons are nested parts,
 * sections and the ladder have files of their own. Nothing is computed here but the
 * shape. */
#include "support.h"
#include "types.h"

static PyObject *cell_new(struct roast_cell cell)
{
    switch (cell.type) {
    case ROAST_CELL_BOOL:
        return PyBool_FromLong(cell.count != 0);
    case ROAST_CELL_COUNT:
        return PyLong_FromUnsignedLongLong(cell.count);
    case ROAST_CELL_NUMBER:
        return PyFloat_FromDouble(cell.number);
    case ROAST_CELL_TEXT:
        return text_new(cell.text);
    case ROAST_CELL_ABSENT:
        break;
    }
    return Py_NewRef(Py_None);
}

static int add_views(PyObject *dict, const roast_record *rec)
{
    size_t count = 0;
    const struct roast_view *views = roast_views(&count);

    for (size_t i = 0; i < count; i++) {
        struct roast_cell cell = roast_view_cell(&views[i], rec);
        if (cell.type == ROAST_CELL_ABSENT && !views[i].always)
            continue;
        if (dict_set(dict, views[i].key, cell_new(cell)) < 0)
            return -1;
    }
    return 0;
}

static int add_identity(PyObject *dict, const roast_record *rec)
{
    struct roast_identity id;
    char run_hex[2 * ROAST_RUN_ID_BYTES + 1];
    static const unsigned char no_run[ROAST_RUN_ID_BYTES];

    if (!roast_record_has(rec, ROAST_FIELD_identity) ||
        roast_identity_unpack(&id, rec->values[ROAST_FIELD_identity].str, NULL) < 0)
        return 0;
    for (int i = 0; i < ROAST_RUN_ID_BYTES; i++)
        (void)PyOS_snprintf(run_hex + 2 * i, 3, "%02x", id.run_id[i]);
    if (memcmp(id.run_id, no_run, sizeof(no_run)) != 0 &&
        dict_set(dict, "run_id", PyUnicode_FromString(run_hex)) < 0)
        return -1;
    if (dict_set(dict, "process_id", PyLong_FromUnsignedLongLong(id.process_id)) < 0)
        return -1;
    return dict_set(dict, "sequence", PyLong_FromUnsignedLong(id.sequence));
}

/* "ValueError: text", and its parts. */
static int add_error(PyObject *dict, const roast_record *rec)
{
    static const struct {
        const char *key;
        enum roast_field field;
    } parts[] = {
        {"error_type", ROAST_FIELD_error_type},
        {"error_message", ROAST_FIELD_error_message},
        {"error_section", ROAST_FIELD_error_section},
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (roast_record_has(rec, parts[i].field) &&
            dict_set(dict, parts[i].key, text_new(rec->values[parts[i].field].str)) < 0)
            return -1;
    }
    if (!roast_record_has(rec, ROAST_FIELD_error_type))
        return 0;
    bool has_message = roast_record_has(rec, ROAST_FIELD_error_message);
    PyObject *type = dict_get(dict, "error_type");
    PyObject *message = has_message ? dict_get(dict, "error_message") : type;
    if (!type || !message)
        return -1;
    return dict_set(dict, "error",
                    has_message ? PyUnicode_FromFormat("%U: %U", type, message)
                                : Py_NewRef(type));
}

static int add_empty_parts(PyObject *dict)
{
    static const char *const dicts[] = {"timing",         "memory",      "bytes",
                                        "custom_metrics", "unavailable", "losses"};
    static const char *const lists[] = {"sections", "memory_sections"};

    for (size_t i = 0; i < sizeof(dicts) / sizeof(dicts[0]); i++) {
        if (dict_set(dict, dicts[i], PyDict_New()) < 0)
            return -1;
    }
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (dict_set(dict, lists[i], PyList_New(0)) < 0)
            return -1;
    }
    return 0;
}

/* Names and values of the (key, value) pairs of losses and absences. */
static int set_loss(PyObject *out, struct roast_pair pair)
{
    const char *name = roast_loss_name((unsigned)pair.key);
    return dict_set(out, name ? name : "unknown",
                    PyLong_FromUnsignedLongLong(pair.value));
}

/* A reason under every name that readers know the field by. */
static int set_absence(PyObject *out, struct roast_pair pair)
{
    const char *why = roast_reason_text((unsigned)pair.value);
    size_t count = 0;
    const struct roast_view *views = roast_views(&count);

    for (size_t i = 0; i < count; i++) {
        if (roast_field_info(views[i].field)->number != pair.key &&
            roast_field_info(views[i].other)->number != pair.key)
            continue;
        if (dict_set(out, views[i].key,
                     PyUnicode_FromString(why ? why : "unknown reason")) < 0)
            return -1;
    }
    return 0;
}

static PyObject *pairs_new(struct probe_state *state, struct roast_str blob,
                           int (*set)(PyObject *out, struct roast_pair pair))
{
    struct roast_pair pair;
    roast_error err = {0};
    PyObject *out = PyDict_New();
    int got;

    while (out && (got = roast_pair_next(&pair, &blob, &err)) != 0) {
        if (got < 0)
            raise_roast(state, &err);
        if (got < 0 || set(out, pair) < 0)
            Py_CLEAR(out);
    }
    return out;
}

static int add_blobs(struct probe_state *state, PyObject *dict, const roast_record *rec)
{
    const union roast_field_value *v = rec->values;

    if (roast_record_has(rec, ROAST_FIELD_sections) &&
        record_add_sections(state, dict, rec) < 0)
        return -1;
    if (record_add_ladder(state, dict, rec) < 0)
        return -1;
    if (roast_record_has(rec, ROAST_FIELD_losses) &&
        dict_set(dict, "losses", pairs_new(state, v[ROAST_FIELD_losses].str, set_loss)))
        return -1;
    if (roast_record_has(rec, ROAST_FIELD_absences) &&
        dict_set(dict, "unavailable",
                 pairs_new(state, v[ROAST_FIELD_absences].str, set_absence)))
        return -1;
    if (roast_record_has(rec, ROAST_FIELD_process) &&
        dict_set(dict, "process", values_to_dict(state, v[ROAST_FIELD_process].str)))
        return -1;
    if (roast_record_has(rec, ROAST_FIELD_custom_metrics) &&
        dict_set(dict, "custom_metrics",
                 values_to_dict(state, v[ROAST_FIELD_custom_metrics].str)))
        return -1;
    return 0;
}

/* Whether a key is one of ours, measured in this chunk or not. */
static bool is_ours(PyObject *dict, PyObject *key)
{
    static const char *const others[] = {
        "error",  "error_type", "error_message", "error_section", "intervals",
        "run_id", "process_id", "sequence",      "process",       "ladder",
        "split",  "branches",   "endpoints",     "file_metadata", "offset_branches"};
    size_t count = 0;
    const struct roast_view *views = roast_views(&count);
    bool ours = PyDict_Contains(dict, key) == 1;

    for (size_t i = 0; i < count && !ours; i++)
        ours = PyUnicode_CompareWithASCIIString(key, views[i].key) == 0;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && !ours; i++)
        ours = PyUnicode_CompareWithASCIIString(key, others[i]) == 0;
    return ours;
}

/* A key the user set never takes the place of one of ours: entries of dicts are added to
 * those we have, other values move to custom_metrics. */
static int add_user_key(PyObject *dict, PyObject *key, PyObject *value)
{
    if (!is_ours(dict, key))
        return PyErr_Occurred() ? -1 : PyDict_SetItem(dict, key, value);
    PyObject *measured = PyDict_GetItemWithError(dict, key);
    if (!measured && PyErr_Occurred())
        return -1;
    if (measured && PyDict_Check(measured) && PyDict_Check(value))
        return PyDict_Merge(measured, value, 0);
    PyObject *custom = dict_get(dict, "custom_metrics");
    return custom ? PyDict_SetItem(custom, key, value) : -1;
}

static int add_user_keys(struct probe_state *state, PyObject *dict,
                         const roast_record *rec)
{
    PyObject *key;
    PyObject *value;
    Py_ssize_t at = 0;
    int status = 0;

    if (!roast_record_has(rec, ROAST_FIELD_user_keys))
        return 0;
    PyObject *keys = values_to_dict(state, rec->values[ROAST_FIELD_user_keys].str);
    if (!keys)
        return -1;
    while (status == 0 && PyDict_Next(keys, &at, &key, &value))
        status = add_user_key(dict, key, value);
    Py_DECREF(keys);
    return status;
}

PyObject *record_to_dict(struct probe_state *state, struct roast_str frame)
{
    roast_record rec;
    roast_error err = {0};

    if (roast_record_decode(&rec, NULL, frame, &err) < 0)
        return raise_roast(state, &err);
    PyObject *dict = PyDict_New();
    if (dict &&
        (add_views(dict, &rec) < 0 || add_identity(dict, &rec) < 0 ||
         add_error(dict, &rec) < 0 || add_empty_parts(dict) < 0 ||
         add_blobs(state, dict, &rec) < 0 || add_user_keys(state, dict, &rec) < 0))
        Py_CLEAR(dict);
    return dict;
}
