/* SPDX-License-Identifier: BSD-3-Clause */
/* run_metrics.c - a summary as the dict that get_metrics() publishes.
 *
 * Every metric under its name and its other names; `kinds` says how well it is known,
 * and what is not known is missing and named in `unavailable` with the reason. A few keys exist always, because the
 * documents users follow index them: not known is NaN there. */
#include <math.h>
#include <string.h>

#include "file.h"
#include "roast/analyze.h"

static const char *const always[] = {
    "processor_cpu_time_seconds", "processor_noncpu_time_seconds",
    "processor_cpu_percentage",   "processor_noncpu_percentage",
    "total_bytes_read_coffea",
};

static PyObject *number_new(double value, bool is_count)
{
    if (is_count && fabs(value) < 9e15)
        return PyLong_FromDouble(value);
    return PyFloat_FromDouble(value);
}

/* The dict of a run, and those of its dicts that are filled beside it. */
struct published {
    PyObject *all;
    PyObject *kinds;
    PyObject *unavailable;
};

static int add_known(const struct published *to, const char *name, double value,
                     bool is_count, enum roast_metric_kind kind)
{
    if (dict_set(to->all, name, number_new(value, is_count)) < 0)
        return -1;
    return dict_set(to->kinds, name,
                    PyUnicode_FromString(roast_metric_kind_name(kind)));
}

static int add_metric(const struct published *to, const char *name,
                      enum roast_metric metric, double per,
                      const struct roast_metric_values *values)
{
    bool is_count = roast_metric_info(metric)->is_count && per == 1;

    if (values->known[metric])
        return add_known(to, name, values->value[metric] / per, is_count,
                         roast_metric_kind(values, metric));
    const char *why = values->why[metric];
    return dict_set(to->unavailable, name,
                    PyUnicode_FromString(why ? why : "it was not measured"));
}

static int add_always(PyObject *dict)
{
    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
        PyObject *key = PyUnicode_FromString(always[i]);
        int there = key ? PyDict_Contains(dict, key) : -1;
        Py_XDECREF(key);
        if (there < 0 ||
            (there == 0 && dict_set(dict, always[i], PyFloat_FromDouble(NAN)) < 0))
            return -1;
    }
    return 0;
}

static int add_metrics(const struct published *to,
                       const struct roast_metric_values *values)
{
    size_t count = 0;
    const struct roast_metric_alias *aliases = roast_metric_aliases(&count);

    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        enum roast_metric metric = (enum roast_metric)i;
        if (add_metric(to, roast_metric_info(metric)->name, metric, 1, values) < 0)
            return -1;
    }
    for (size_t i = 0; i < count; i++) {
        if (add_metric(to, aliases[i].alias, aliases[i].metric, aliases[i].per,
                       values) < 0)
            return -1;
    }
    return add_always(to->all);
}

/* ---- tables -------------------------------------------------------------------- */

static PyObject *cell_new(const struct roast_cell *cell);

static PyObject *cells_new(const struct roast_cell *cells, size_t count)
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < count; i++) {
        PyObject *item = cell_new(&cells[i]);
        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *cell_new(const struct roast_cell *cell)
{
    switch (cell->type) {
    case ROAST_CELL_BOOL:
        return PyBool_FromLong(cell->count != 0);
    case ROAST_CELL_COUNT:
        return PyLong_FromUnsignedLongLong(cell->count);
    case ROAST_CELL_NUMBER:
        return PyFloat_FromDouble(cell->number);
    case ROAST_CELL_TEXT:
        return text_new(cell->text);
    case ROAST_CELL_LIST:
        return cells_new(cell->list.items, (size_t)cell->list.count);
    case ROAST_CELL_ABSENT:
        break;
    }
    return Py_NewRef(Py_None);
}

/* A row as a dict of the columns it knows. */
static PyObject *row_new(const struct roast_table *table, size_t row,
                         size_t first_column)
{
    const struct roast_cell *cells = &table->cells[row * table->column_count];
    PyObject *dict = PyDict_New();

    for (size_t i = first_column; dict && i < table->column_count; i++) {
        if (cells[i].type == ROAST_CELL_ABSENT)
            continue;
        if (dict_set(dict, table->columns[i], cell_new(&cells[i])) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *keyed_new(const struct roast_table *table)
{
    PyObject *dict = PyDict_New();

    for (size_t i = 0; dict && i < table->row_count; i++) {
        PyObject *key = cell_new(&table->cells[i * table->column_count]);
        PyObject *row = row_new(table, i, 1);
        if (!key || !row || PyDict_SetItem(dict, key, row) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(key);
        Py_XDECREF(row);
    }
    return dict;
}

static PyObject *list_new(const struct roast_table *table)
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < table->row_count; i++) {
        PyObject *row = row_new(table, i, 0);
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *table_new(const struct roast_table *table)
{
    switch (table->shape) {
    case ROAST_TABLE_KEYED:
        return keyed_new(table);
    case ROAST_TABLE_LIST:
        return list_new(table);
    case ROAST_TABLE_VALUES:
        return cells_new(table->cells, table->row_count);
    case ROAST_TABLE_SCALAR:
        return table->row_count > 0 ? cell_new(&table->cells[0]) : Py_NewRef(Py_None);
    case ROAST_TABLE_SINGLE:
        break;
    }
    return table->row_count > 0 ? row_new(table, 0, 0) : PyDict_New();
}

/* Why parts of tables are missing goes where the reasons of metrics are. */
static int add_reasons(PyObject *unavailable, const struct roast_table *table)
{
    for (size_t i = 0; i < table->row_count; i++) {
        const struct roast_cell *cells = &table->cells[i * table->column_count];
        PyObject *name = cell_new(&cells[0]);
        PyObject *why = cell_new(&cells[1]);
        int status = name && why ? PyDict_SetItem(unavailable, name, why) : -1;
        Py_XDECREF(name);
        Py_XDECREF(why);
        if (status < 0)
            return -1;
    }
    return 0;
}

static int add_tables(const struct published *to, const roast_summary *summary)
{
    size_t count = 0;
    const struct roast_table *tables = roast_summary_tables(summary, &count);

    for (size_t i = 0; i < count; i++) {
        int status = 0;
        if (strcmp(tables[i].name, ROAST_TABLE_UNAVAILABLE) == 0)
            status = add_reasons(to->unavailable, &tables[i]);
        else
            status = dict_set(to->all, tables[i].name, table_new(&tables[i]));
        if (status < 0)
            return -1;
    }
    return 0;
}

/* A new dict of a summary, NULL with an exception. */
static PyObject *published_new(const roast_summary *summary)
{
    struct published to = {PyDict_New(), PyDict_New(), PyDict_New()};
    bool made = to.all && to.kinds && to.unavailable &&
                add_metrics(&to, roast_summary_metrics(summary)) == 0 &&
                add_tables(&to, summary) == 0 &&
                PyDict_SetItemString(to.all, "kinds", to.kinds) == 0 &&
                PyDict_SetItemString(to.all, "unavailable", to.unavailable) == 0;

    if (!made)
        Py_CLEAR(to.all);
    Py_XDECREF(to.kinds);
    Py_XDECREF(to.unavailable);
    return to.all;
}

PyObject *run_metrics(struct run_object *self, bool quick)
{
    const roast_summary *summary = NULL;
    roast_summary *owned = NULL;
    roast_error err = {0};
    int status;

    Py_BEGIN_ALLOW_THREADS;
    if (quick && !self->file) {
        status = roast_summarize_quick(&owned, self->run, &err);
        summary = owned;
    } else {
        status = run_summary(self, &summary, &owned, &err);
    }
    Py_END_ALLOW_THREADS;
    if (status < 0)
        return raise_error(self->state, &err);
    PyObject *dict = published_new(summary);
    roast_summary_free(owned);
    return dict;
}
