/* SPDX-License-Identifier: BSD-3-Clause */
/* record_dict.c - a frame as a plain dict.
 *
 * Scalars follow record_views.def; sections, custom values, losses and reasons are the
 * nested parts. Nothing is computed here but the shape. */
#include "support.h"
#include "types.h"

/* Sets dict[key] = value and takes the reference; value NULL is an earlier failure. */
static int set_owned(PyObject *dict, const char *key, PyObject *value)
{
    if (!value)
        return -1;
    int status = PyDict_SetItemString(dict, key, value);
    Py_DECREF(value);
    return status;
}

/* dict[key], borrowed; NULL with an exception when it is not there or cannot be had. */
static PyObject *get(PyObject *dict, const char *key)
{
    PyObject *name = PyUnicode_FromString(key);
    PyObject *value = name ? PyDict_GetItemWithError(dict, name) : NULL;

    if (name && !value && !PyErr_Occurred())
        PyErr_SetObject(PyExc_KeyError, name);
    Py_XDECREF(name);
    return value;
}

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
        if (set_owned(dict, views[i].key, cell_new(cell)) < 0)
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
        set_owned(dict, "run_id", PyUnicode_FromString(run_hex)) < 0)
        return -1;
    if (set_owned(dict, "process_id", PyLong_FromUnsignedLongLong(id.process_id)) < 0)
        return -1;
    return set_owned(dict, "sequence", PyLong_FromUnsignedLong(id.sequence));
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
            set_owned(dict, parts[i].key, text_new(rec->values[parts[i].field].str)) <
                0)
            return -1;
    }
    if (!roast_record_has(rec, ROAST_FIELD_error_type))
        return 0;
    bool has_message = roast_record_has(rec, ROAST_FIELD_error_message);
    PyObject *type = get(dict, "error_type");
    PyObject *message = has_message ? get(dict, "error_message") : type;
    if (!type || !message)
        return -1;
    return set_owned(dict, "error",
                     has_message ? PyUnicode_FromFormat("%U: %U", type, message)
                                 : Py_NewRef(type));
}

/* dict[key][name] += value, for the {name: value} summaries. */
static int add_up(PyObject *dict, const char *key, PyObject *name, double value)
{
    PyObject *sums = get(dict, key);
    PyObject *old = sums ? PyDict_GetItemWithError(sums, name) : NULL;

    if (PyErr_Occurred())
        return -1;
    PyObject *sum = PyFloat_FromDouble(old ? PyFloat_AsDouble(old) + value : value);
    int status = sum ? PyDict_SetItem(sums, name, sum) : -1;
    Py_XDECREF(sum);
    return status;
}

static int append(PyObject *dict, const char *key, PyObject *item)
{
    PyObject *list = item ? get(dict, key) : NULL;
    int status = list ? PyList_Append(list, item) : -1;

    Py_XDECREF(item);
    return status;
}

static PyObject *time_entry(PyObject *name, const struct roast_section *s,
                            double self_s)
{
    return Py_BuildValue("{s:O,s:d,s:K,s:d,s:I}", "section_name", name, "time_delta",
                         roast_seconds(s->total_ns), "count",
                         (unsigned long long)s->count, "self_time", self_s, "depth",
                         s->depth);
}

static PyObject *memory_entry(PyObject *name, const struct roast_section *s)
{
    return Py_BuildValue("{s:O,s:d,s:d,s:d,s:K,s:d,s:I}", "section_name", name,
                         "memory_start_gb", roast_gb((int64_t)s->memory_start_bytes),
                         "memory_end_gb", roast_gb((int64_t)s->memory_end_bytes),
                         "memory_delta_gb", roast_gb(s->memory_delta_bytes), "count",
                         (unsigned long long)s->count, "time_delta",
                         roast_seconds(s->total_ns), "depth", s->depth);
}

static int add_section(PyObject *dict, const struct roast_section *all, size_t count,
                       size_t i)
{
    const struct roast_section *s = &all[i];
    PyObject *name = text_new(s->name);
    int status = name ? 0 : -1;

    if (status == 0 && s->kinds & (ROAST_SECTION_TIME | ROAST_SECTION_CALL)) {
        double self_s = roast_seconds(roast_section_self_ns(all, count, i));
        status = add_up(dict, "timing", name, roast_seconds(s->total_ns));
        if (status == 0)
            status = append(dict, "sections", time_entry(name, s, self_s));
    }
    if (status == 0 && s->kinds & ROAST_SECTION_MEMORY) {
        status = add_up(dict, "memory", name, roast_mib(s->memory_delta_bytes));
        if (status == 0)
            status = append(dict, "memory_sections", memory_entry(name, s));
    }
    if (status == 0 && s->kinds & ROAST_SECTION_BYTES)
        status = add_up(dict, "bytes", name, (double)s->bytes);
    Py_XDECREF(name);
    return status;
}

static int add_empty_parts(PyObject *dict)
{
    static const char *const dicts[] = {"timing", "memory", "bytes", "custom_metrics"};
    static const char *const lists[] = {"sections", "memory_sections"};

    for (size_t i = 0; i < sizeof(dicts) / sizeof(dicts[0]); i++) {
        if (set_owned(dict, dicts[i], PyDict_New()) < 0)
            return -1;
    }
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (set_owned(dict, lists[i], PyList_New(0)) < 0)
            return -1;
    }
    return 0;
}

static int add_sections(struct probe_state *state, PyObject *dict,
                        const roast_record *rec)
{
    struct roast_section *all = PyMem_Malloc(ROAST_SECTION_MAX_NODES * sizeof(*all));
    roast_error err = {0};
    int status = -1;

    if (!all) {
        PyErr_NoMemory();
        return -1;
    }
    int64_t got = roast_sections_read(all, ROAST_SECTION_MAX_NODES,
                                      rec->values[ROAST_FIELD_sections].str, &err);
    if (got < 0) {
        raise_roast(state, &err);
        goto out;
    }
    size_t count =
        got > ROAST_SECTION_MAX_NODES ? ROAST_SECTION_MAX_NODES : (size_t)got;
    status = 0;
    for (size_t i = 0; i < count && status == 0; i++)
        status = add_section(dict, all, count, i);
out:
    PyMem_Free(all);
    return status;
}

/* [[section, start s, duration s], ...] */
static PyObject *intervals_new(struct probe_state *state, struct roast_str blob)
{
    struct roast_interval all[ROAST_SECTION_MAX_INTERVALS];
    roast_error err = {0};
    int64_t got = roast_intervals_read(all, ROAST_SECTION_MAX_INTERVALS, blob, &err);

    if (got < 0)
        return raise_roast(state, &err);
    if (got > ROAST_SECTION_MAX_INTERVALS)
        got = ROAST_SECTION_MAX_INTERVALS;
    PyObject *list = PyList_New((Py_ssize_t)got);
    for (Py_ssize_t i = 0; list && i < got; i++) {
        PyObject *item =
            Py_BuildValue("[Idd]", all[i].section, roast_seconds(all[i].start_ns),
                          roast_seconds(all[i].duration_ns));
        if (!item || PyList_SetItem(list, i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* Names and values of the (key, value) pairs of losses and absences. */
static int set_loss(PyObject *out, struct roast_pair pair)
{
    const char *name = roast_loss_name((unsigned)pair.key);
    return set_owned(out, name ? name : "unknown",
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
        if (set_owned(out, views[i].key,
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
        add_sections(state, dict, rec) < 0)
        return -1;
    if (roast_record_has(rec, ROAST_FIELD_intervals) &&
        set_owned(dict, "intervals",
                  intervals_new(state, v[ROAST_FIELD_intervals].str)))
        return -1;
    if (roast_record_has(rec, ROAST_FIELD_losses) &&
        set_owned(dict, "losses",
                  pairs_new(state, v[ROAST_FIELD_losses].str, set_loss)))
        return -1;
    if (roast_record_has(rec, ROAST_FIELD_absences) &&
        set_owned(dict, "unavailable",
                  pairs_new(state, v[ROAST_FIELD_absences].str, set_absence)))
        return -1;
    if (roast_record_has(rec, ROAST_FIELD_process) &&
        set_owned(dict, "process", values_to_dict(state, v[ROAST_FIELD_process].str)))
        return -1;
    if (roast_record_has(rec, ROAST_FIELD_custom_metrics) &&
        set_owned(dict, "custom_metrics",
                  values_to_dict(state, v[ROAST_FIELD_custom_metrics].str)))
        return -1;
    return 0;
}

/* A key the user set never replaces a measured one: entries of dicts are added to ours,
 * other values move to custom_metrics. */
static int add_user_key(PyObject *dict, PyObject *key, PyObject *value)
{
    PyObject *ours = PyDict_GetItemWithError(dict, key);

    if (!ours)
        return PyErr_Occurred() ? -1 : PyDict_SetItem(dict, key, value);
    if (PyDict_Check(ours) && PyDict_Check(value))
        return PyDict_Merge(ours, value, 0);
    PyObject *custom = get(dict, "custom_metrics");
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
