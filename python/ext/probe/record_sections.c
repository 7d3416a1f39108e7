/* SPDX-License-Identifier: BSD-3-Clause */
/* record_sections.c - the sections of a record, in the shapes that readers know:
 *
 *     timing, memory, bytes       {name: seconds, MiB, bytes}, summed over the chunk
 *     sections, memory_sections   one entry per (parent, name), in order of first use
 *     intervals                   [name, start, duration] of the first passes, seconds */
#include "support.h"
#include "types.h"

/* All sections of a record. */
struct sections {
    struct roast_section *all; /* owned */
    size_t count;
};

/* dict[key][name] += value; takes value. */
static int add_up(PyObject *dict, const char *key, PyObject *name, PyObject *value)
{
    PyObject *sums = value ? dict_get(dict, key) : NULL;
    PyObject *old = sums ? PyDict_GetItemWithError(sums, name) : NULL;
    PyObject *sum = NULL;

    if (sums && !PyErr_Occurred())
        sum = old ? PyNumber_Add(old, value) : Py_NewRef(value);
    int status = sum ? PyDict_SetItem(sums, name, sum) : -1;
    Py_XDECREF(sum);
    Py_XDECREF(value);
    return status;
}

static int append(PyObject *dict, const char *key, PyObject *item)
{
    PyObject *list = item ? dict_get(dict, key) : NULL;
    int status = list ? PyList_Append(list, item) : -1;

    Py_XDECREF(item);
    return status;
}

/* The name of a section's parent; None directly in process(). */
static PyObject *parent_name(const struct sections *s, size_t i)
{
    int32_t parent = s->all[i].parent;

    return parent >= 0 ? text_new(s->all[parent].name) : Py_NewRef(Py_None);
}

static PyObject *time_entry(const struct sections *s, size_t i, PyObject *name)
{
    const struct roast_section *one = &s->all[i];
    double self_s = roast_seconds(one->self_ns);

    return Py_BuildValue("{s:O,s:d,s:K,s:d,s:I,s:N}", "section_name", name,
                         "time_delta", roast_seconds(one->total_ns), "count",
                         (unsigned long long)one->count, "self_time", self_s, "depth",
                         one->depth, "parent", parent_name(s, i));
}

static PyObject *memory_entry(const struct sections *s, size_t i, PyObject *name)
{
    const struct roast_section *one = &s->all[i];

    return Py_BuildValue("{s:O,s:d,s:d,s:d,s:K,s:d,s:I,s:N}", "section_name", name,
                         "memory_start_gb", roast_gb((int64_t)one->memory_start_bytes),
                         "memory_end_gb", roast_gb((int64_t)one->memory_end_bytes),
                         "memory_delta_gb", roast_gb(one->memory_delta_bytes), "count",
                         (unsigned long long)one->count, "time_delta",
                         roast_seconds(one->total_ns), "depth", one->depth, "parent",
                         parent_name(s, i));
}

/* A section inside one of its own name is part of that one's sum already. */
static bool is_inside_itself(const struct sections *s, size_t i)
{
    const struct roast_section *one = &s->all[i];

    for (int32_t k = one->parent; k >= 0; k = s->all[k].parent) {
        const struct roast_section *outer = &s->all[k];
        if (outer->kinds == one->kinds &&
            outer->name.size_bytes == one->name.size_bytes &&
            memcmp(outer->name.data, one->name.data, one->name.size_bytes) == 0)
            return true;
    }
    return false;
}

static int add_sums(PyObject *dict, const struct roast_section *one, PyObject *name)
{
    int status = 0;

    if (one->kinds & (ROAST_SECTION_TIME | ROAST_SECTION_CALL))
        status = add_up(dict, "timing", name,
                        PyFloat_FromDouble(roast_seconds(one->total_ns)));
    if (status == 0 && one->kinds & ROAST_SECTION_MEMORY)
        status = add_up(dict, "memory", name,
                        PyFloat_FromDouble(roast_mib(one->memory_delta_bytes)));
    if (status == 0 && one->kinds & ROAST_SECTION_BYTES)
        status = add_up(dict, "bytes", name, PyLong_FromUnsignedLongLong(one->bytes));
    return status;
}

static int add_section(PyObject *dict, const struct sections *s, size_t i)
{
    unsigned kinds = s->all[i].kinds;
    PyObject *name = text_new(s->all[i].name);
    int status = name ? 0 : -1;

    if (status == 0 && !is_inside_itself(s, i))
        status = add_sums(dict, &s->all[i], name);
    if (status == 0 && kinds & (ROAST_SECTION_TIME | ROAST_SECTION_CALL))
        status = append(dict, "sections", time_entry(s, i, name));
    if (status == 0 && kinds & ROAST_SECTION_MEMORY)
        status = append(dict, "memory_sections", memory_entry(s, i, name));
    Py_XDECREF(name);
    return status;
}

/* An interval of a section that is not there, which no record of ours has, is left out. */
static int add_interval(PyObject *list, const struct sections *s,
                        const struct roast_interval *interval)
{
    if (interval->section >= s->count)
        return 0;
    PyObject *item = Py_BuildValue("[Ndd]", text_new(s->all[interval->section].name),
                                   roast_seconds(interval->start_ns),
                                   roast_seconds(interval->duration_ns));
    int status = item ? PyList_Append(list, item) : -1;
    Py_XDECREF(item);
    return status;
}

static PyObject *intervals_new(struct probe_state *state, const struct sections *s,
                               struct roast_str blob)
{
    struct roast_interval all[ROAST_SECTION_MAX_INTERVALS];
    roast_error err = {0};
    int64_t got = roast_intervals_read(all, ROAST_SECTION_MAX_INTERVALS, blob, &err);

    if (got < 0)
        return raise_roast(state, &err);
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < got && i < ROAST_SECTION_MAX_INTERVALS; i++) {
        if (add_interval(list, s, &all[i]) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static int add_all(struct probe_state *state, PyObject *dict, const struct sections *s,
                   const roast_record *rec)
{
    for (size_t i = 0; i < s->count; i++) {
        if (add_section(dict, s, i) < 0)
            return -1;
    }
    if (!roast_record_has(rec, ROAST_FIELD_intervals))
        return 0;
    return dict_set(dict, "intervals",
                    intervals_new(state, s, rec->values[ROAST_FIELD_intervals].str));
}

int record_add_sections(struct probe_state *state, PyObject *dict,
                        const roast_record *rec)
{
    struct sections s = {PyMem_Malloc(ROAST_SECTION_MAX_NODES * sizeof(*s.all)), 0};
    roast_error err = {0};
    int status = -1;

    if (!s.all) {
        PyErr_NoMemory();
        return -1;
    }
    int64_t got = roast_sections_read(s.all, ROAST_SECTION_MAX_NODES,
                                      rec->values[ROAST_FIELD_sections].str, &err);
    s.count = got > ROAST_SECTION_MAX_NODES ? ROAST_SECTION_MAX_NODES : (size_t)got;
    if (got < 0)
        raise_roast(state, &err);
    else
        status = add_all(state, dict, &s, rec);
    PyMem_Free(s.all);
    return status;
}
