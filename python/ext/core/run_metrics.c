/* SPDX-License-Identifier: BSD-3-Clause */
/* run_metrics.c - a summary as the dict that get_metrics() publishes.
 *
 * Every metric is there under its name and its aliases; `kinds` has the kind of each. An
 * unknown metric is missing, and `unavailable` has the reason. A few keys always exist,
 * NaN if unknown, because documented examples index them. */
#include <math.h>

#include "file.h"
#include "table.h"

static const char *const always[] = {
    "processor_cpu_time_seconds", "processor_noncpu_time_seconds",
    "processor_cpu_percentage",   "processor_noncpu_percentage",
    "total_bytes_read_coffea",
};

/* The dict of a run, and two of its values. */
struct published {
    PyObject *all;
    PyObject *kinds;
    PyObject *unavailable;
};

static int add_metric(const struct published *to, const char *name,
                      enum roast_metric metric, double per,
                      const struct roast_metric_values *values)
{
    if (!values->known[metric]) {
        const char *why = values->why[metric];
        return dict_set(to->unavailable, name,
                        PyUnicode_FromString(why ? why : "it was not measured"));
    }
    double value = values->value[metric] / per;
    bool is_int = roast_metric_info(metric)->is_count && per == 1 && fabs(value) < 9e15;
    const char *kind = roast_metric_kind_name(roast_metric_kind(values, metric));
    if (dict_set(to->all, name,
                 is_int ? PyLong_FromDouble(value) : PyFloat_FromDouble(value)) < 0)
        return -1;
    return dict_set(to->kinds, name, PyUnicode_FromString(kind));
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

static PyObject *texts_new(struct roast_str list)
{
    PyObject *texts = PyList_New(0);
    struct roast_str item;

    while (texts && roast_table_item(&item, &list))
        texts = list_append(texts, text_new(item));
    return texts;
}

/* A value; times are seconds since 1970. */
static PyObject *value_new(const roast_table *table, size_t row, size_t number)
{
    const struct roast_table_column *column = roast_table_column(table, number);
    int col = roast_table_col(table, number);
    int64_t time_ns;

    if (column->is_list && roast_table_known(table, row, col))
        return texts_new(roast_table_text(table, row, col));
    if (column->type == ROAST_DTYPE_TIME && roast_table_int(&time_ns, table, row, col))
        return PyFloat_FromDouble(roast_epoch_seconds(time_ns));
    return column_value(column, row);
}

/* A row as a dict of the columns it knows. */
static PyObject *row_new(const roast_table *table, size_t row, size_t first_column)
{
    PyObject *dict = PyDict_New();

    for (size_t i = first_column; dict && i < roast_table_width(table); i++) {
        int col = roast_table_col(table, i);
        if (roast_table_known(table, row, col) &&
            dict_set(dict, roast_col_key(col), value_new(table, row, i)) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

/* {key: row}, or {key: count} of a table of counts. */
static PyObject *keyed_new(const roast_table *table, bool counts)
{
    PyObject *dict = PyDict_New();

    for (size_t i = 0; dict && i < roast_table_rows(table); i++) {
        if (counts && !(roast_table_number(table, i, roast_table_col(table, 1)) > 0))
            continue;
        PyObject *key = value_new(table, i, 0);
        PyObject *row = counts ? value_new(table, i, 1) : row_new(table, i, 1);
        if (!key || !row || PyDict_SetItem(dict, key, row) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(key);
        Py_XDECREF(row);
    }
    return dict;
}

/* A list of rows, or of the values of the only column. */
static PyObject *list_new(const roast_table *table, bool values)
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < roast_table_rows(table); i++)
        list =
            list_append(list, values ? value_new(table, i, 0) : row_new(table, i, 0));
    return list;
}

static PyObject *shaped_new(const roast_table *table, enum roast_table_shape shape)
{
    bool any = roast_table_rows(table) > 0;

    switch (shape) {
    case ROAST_SHAPE_KEYED:
    case ROAST_SHAPE_COUNTS:
        return keyed_new(table, shape == ROAST_SHAPE_COUNTS);
    case ROAST_SHAPE_LIST:
    case ROAST_SHAPE_VALUES:
        return list_new(table, shape == ROAST_SHAPE_VALUES);
    case ROAST_SHAPE_SCALAR:
        return any ? value_new(table, 0, 0) : Py_NewRef(Py_None);
    case ROAST_SHAPE_SINGLE:
    case ROAST_SHAPE_NONE:
        break;
    }
    return any ? row_new(table, 0, 0) : PyDict_New();
}

/* Adds the reasons for missing parts of tables. */
static int add_reasons(PyObject *unavailable, const roast_table *table)
{
    for (size_t i = 0; i < roast_table_rows(table); i++) {
        PyObject *name = value_new(table, i, 0);
        PyObject *why = value_new(table, i, 1);
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
    for (int i = 0; i < ROAST_TABLE_COUNT; i++) {
        enum roast_table_id id = (enum roast_table_id)i;
        const roast_table *table = roast_summary_table(summary, id);
        const char *key = roast_table_key(id);
        if (!table || !key || id == ROAST_TABLE_unavailable)
            continue;
        if (dict_set(to->all, key, shaped_new(table, roast_table_shape(id))) < 0)
            return -1;
    }
    return add_reasons(to->unavailable,
                       roast_summary_table(summary, ROAST_TABLE_unavailable));
}

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

PyObject *run_metrics(PyObject *object, PyObject *args)
{
    struct run_object *self = run_of(object);
    int quick = 0;
    const roast_summary *summary = NULL;
    roast_summary *owned = NULL;
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "|p", &quick))
        return NULL;
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
