/* SPDX-License-Identifier: BSD-3-Clause */
/* front_groups.c - one row of sums per key; a dict finds the row. */
#include <string.h>

#include "front_groups.h"

static int grow(struct groups *groups)
{
    size_t capacity = groups->capacity ? 2 * groups->capacity : 8;
    struct group *rows =
        PyMem_Realloc(groups->rows, capacity * sizeof(*rows)); /* count of real keys */

    if (!rows) {
        PyErr_NoMemory();
        return -1;
    }
    groups->rows = rows;
    groups->capacity = capacity;
    return 0;
}

static int add_row(struct groups *groups, PyObject *key)
{
    PyObject *number = PyLong_FromSize_t(groups->count);
    PyObject *events = PyLong_FromLong(0);
    int status = number && events ? 0 : -1;

    if (status == 0 && groups->count == groups->capacity)
        status = grow(groups);
    if (status == 0)
        status = PyDict_SetItem(groups->index, key, number);
    Py_XDECREF(number);
    if (status < 0) {
        Py_XDECREF(events);
        return -1;
    }
    struct group *row = &groups->rows[groups->count++];
    memset(row, 0, sizeof(*row));
    row->key = Py_NewRef(key);
    row->events = events;
    return 0;
}

static struct group *row_of(struct groups *groups, PyObject *key)
{
    if (!groups->index && !(groups->index = PyDict_New()))
        return NULL;
    PyObject *number = PyDict_GetItemWithError(groups->index, key);
    if (number)
        return &groups->rows[PyLong_AsSize_t(number)];
    if (PyErr_Occurred() || add_row(groups, key) < 0)
        return NULL;
    return &groups->rows[groups->count - 1];
}

/* record[key] or record[other] even when it is None; "unknown" without either. */
static PyObject *key_of(PyObject *record, const char *key, const char *other)
{
    PyObject *value = NULL;
    int found = front_find(&value, record, key);

    if (found == 0 && other)
        found = front_find(&value, record, other);
    return found == 0 ? PyUnicode_FromString("unknown") : value;
}

struct group *groups_find(struct groups *groups, PyObject *record, const char *key,
                          const char *other)
{
    PyObject *value = key_of(record, key, other);
    struct group *group = value ? row_of(groups, value) : NULL;

    Py_XDECREF(value);
    return group;
}

PyObject *groups_dict(const struct groups *groups,
                      PyObject *(*make)(const struct group *group))
{
    PyObject *dict = PyDict_New();

    for (size_t i = 0; dict && i < groups->count; i++) {
        PyObject *row = make(&groups->rows[i]);
        if (!row || PyDict_SetItem(dict, groups->rows[i].key, row) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(row);
    }
    return dict;
}

void groups_release(struct groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        struct group *group = &groups->rows[i];
        Py_CLEAR(group->key);
        Py_CLEAR(group->events);
        Py_CLEAR(group->type);
        tally_release(&group->seconds);
        tally_release(&group->memory);
    }
    PyMem_Free(groups->rows);
    Py_CLEAR(groups->index);
    memset(groups, 0, sizeof(*groups));
}
