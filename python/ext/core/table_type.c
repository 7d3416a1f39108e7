/* SPDX-License-Identifier: BSD-3-Clause */
/* table_type.c - roastcoffea._core.Table: a table of a run; and the methods of Run that
 * make one.
 *
 * A mapping of names to columns, which does not change while the run goes on. Display and
 * conversions to other packages are Python: roastcoffea/table.py. */
#include <string.h>

#include "arrow.h"
#include "file.h"
#include "table.h"

struct table_object {
    PyObject_HEAD
    roast_table *columns; /* a reference */
    const struct core_state *state;
};

static struct table_object *cast(PyObject *self)
{
    return (struct table_object *)self;
}

PyObject *call_table_function(const char *function, PyObject *argument)
{
    PyObject *module = PyImport_ImportModule("roastcoffea.table");
    PyObject *result =
        module ? PyObject_CallMethod(module, function, "O", argument) : NULL;

    Py_XDECREF(module);
    return result;
}

PyObject *table_new(const struct core_state *state, roast_table *columns)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(state->table_type, Py_tp_alloc);
    PyObject *self = alloc(state->table_type, 0);

    if (!self) {
        roast_table_free(columns);
        return NULL;
    }
    cast(self)->columns = columns;
    cast(self)->state = state;
    return self;
}

static void table_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    roast_table_free(cast(self)->columns);
    release(self);
    Py_DECREF(type);
}

/* ---- a mapping ------------------------------------------------------------------- */

static size_t column_count(PyObject *self)
{
    return roast_table_width(cast(self)->columns);
}

static const struct roast_table_column *data_at(PyObject *self, size_t column)
{
    return roast_table_column(cast(self)->columns, column);
}

static Py_ssize_t table_len(PyObject *self)
{
    return (Py_ssize_t)roast_table_rows(cast(self)->columns);
}

/* The column of a name; -1: none, with an exception if the name is no str. */
static Py_ssize_t find(PyObject *self, PyObject *name)
{
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "columns are found by name, not by %R", name);
        return -1;
    }
    for (size_t i = 0; i < column_count(self); i++) {
        if (PyUnicode_CompareWithASCIIString(name, data_at(self, i)->name) == 0)
            return (Py_ssize_t)i;
    }
    return -1;
}

static PyObject *table_subscript(PyObject *self, PyObject *name)
{
    Py_ssize_t column = find(self, name);

    if (column >= 0)
        return column_new(cast(self)->state, cast(self)->columns, (size_t)column);
    if (!PyErr_Occurred())
        PyErr_SetObject(PyExc_KeyError, name);
    return NULL;
}

static int table_contains(PyObject *self, PyObject *name)
{
    return PyUnicode_Check(name) && find(self, name) >= 0;
}

/* The columns, or their names. */
static PyObject *tuple_of(PyObject *self, bool names)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)column_count(self));

    for (size_t i = 0; tuple && i < column_count(self); i++) {
        PyObject *part = names ? PyUnicode_FromString(data_at(self, i)->name)
                               : column_new(cast(self)->state, cast(self)->columns, i);
        if (!part || PyTuple_SetItem(tuple, (Py_ssize_t)i, part) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *get_names(PyObject *self, void *unused)
{
    (void)unused;
    return tuple_of(self, true);
}

static PyObject *get_columns(PyObject *self, void *unused)
{
    (void)unused;
    return tuple_of(self, false);
}

static PyObject *keys(PyObject *self, PyObject *unused)
{
    (void)unused;
    return tuple_of(self, true);
}

static PyObject *table_iter(PyObject *self)
{
    PyObject *names = tuple_of(self, true);
    PyObject *iterator = names ? PyObject_GetIter(names) : NULL;

    Py_XDECREF(names);
    return iterator;
}

/* ---- values ---------------------------------------------------------------------- */

static PyObject *lists_of(PyObject *self, size_t from, size_t to)
{
    PyObject *dict = PyDict_New();

    for (size_t i = 0; dict && i < column_count(self); i++) {
        const struct roast_table_column *data = data_at(self, i);
        if (dict_set(dict, data->name, column_values(data, from, to)) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *to_dict(PyObject *self, PyObject *unused)
{
    (void)unused;
    return lists_of(self, 0, roast_table_rows(cast(self)->columns));
}

/* One row of the result of lists_of(). */
static PyObject *row_new(PyObject *lists, Py_ssize_t row)
{
    PyObject *dict = PyDict_New();
    PyObject *name, *list;
    Py_ssize_t at = 0;

    while (dict && PyDict_Next(lists, &at, &name, &list)) {
        if (PyDict_SetItem(dict, name, PyList_GetItem(list, row)) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *rows(PyObject *self, PyObject *args)
{
    Py_ssize_t from = 0, to = PY_SSIZE_T_MAX, length = table_len(self);

    if (!PyArg_ParseTuple(args, "|nn:rows", &from, &to))
        return NULL;
    from = from < 0 ? 0 : from;
    to = to > length ? length : to;
    from = from > to ? to : from;
    if (to < 0)
        return PyList_New(0);
    PyObject *lists = lists_of(self, (size_t)from, (size_t)to);
    PyObject *list = lists ? PyList_New(to - from) : NULL;
    for (Py_ssize_t i = 0; list && i < to - from; i++) {
        PyObject *row = row_new(lists, i);
        if (!row || PyList_SetItem(list, i, row) < 0)
            Py_CLEAR(list);
    }
    Py_XDECREF(lists);
    return list;
}

/* ---- Arrow ----------------------------------------------------------------------- */

/* requested_schema is optional in Arrow's protocol and ignored: the consumer can cast. */
static PyObject *arrow_stream(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"requested_schema", NULL};
    PyObject *ignored = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:__arrow_c_stream__", keywords,
                                     &ignored))
        return NULL;
    return arrow_stream_new(cast(self)->columns);
}

static PyObject *arrow_schema(PyObject *self, PyObject *unused)
{
    (void)unused;
    return arrow_schema_new(cast(self)->columns);
}

/* ---- shown ----------------------------------------------------------------------- */

static PyObject *table_repr(PyObject *self)
{
    return call_table_function("as_text", self);
}

static PyObject *repr_html(PyObject *self, PyObject *unused)
{
    (void)unused;
    return call_table_function("as_html", self);
}

static PyObject *to_pandas(PyObject *self, PyObject *unused)
{
    (void)unused;
    return call_table_function("to_pandas", self);
}

static PyObject *to_arrow(PyObject *self, PyObject *unused)
{
    (void)unused;
    return call_table_function("to_arrow", self);
}

static PyGetSetDef table_getset[] = {
    {"names", get_names, NULL, "Names of the columns.", NULL},
    {"columns", get_columns, NULL, "The columns.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef table_methods[] = {
    {"keys", keys, METH_NOARGS, "Names of the columns."},
    {"to_dict", to_dict, METH_NOARGS, "{name: values}, None where not known."},
    {"rows", rows, METH_VARARGS, "Rows as dicts: all, or from one to before another."},
    {"to_pandas", to_pandas, METH_NOARGS, "A pandas DataFrame."},
    {"to_arrow", to_arrow, METH_NOARGS, "A pyarrow Table."},
    {"_repr_html_", repr_html, METH_NOARGS, "The first rows for a notebook."},
    {"__arrow_c_stream__", (PyCFunction)(void (*)(void))arrow_stream,
     METH_VARARGS | METH_KEYWORDS, "The table as an Arrow stream."},
    {"__arrow_c_schema__", arrow_schema, METH_NOARGS, "The schema of that stream."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot table_slots[] = {
    {Py_tp_dealloc, table_dealloc},
    {Py_tp_repr, table_repr},
    {Py_tp_iter, table_iter},
    {Py_tp_getset, table_getset},
    {Py_tp_methods, table_methods},
    {Py_sq_contains, table_contains},
    {Py_mp_length, table_len},
    {Py_mp_subscript, table_subscript},
    {Py_tp_doc, "A table of a run: names, columns, rows. See docs/tables.md."},
    {0, NULL},
};

PyType_Spec table_spec = {
    .name = "roastcoffea._core.Table",
    .basicsize = sizeof(struct table_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = table_slots,
};

/* ---- methods of Run -------------------------------------------------------------- */

int run_columns(struct run_object *self, int table, roast_table **out, roast_error *err)
{
    int status;

    if (!self->file)
        return roast_run_table(out, (enum roast_table_id)table, self->run, NULL, err);
    (void)pthread_mutex_lock(&self->lock);
    status = roast_runfile_columns(self->file, (enum roast_table_id)table, out, err);
    (void)pthread_mutex_unlock(&self->lock);
    return status;
}

PyObject *run_table(PyObject *object, PyObject *args)
{
    struct run_object *self = (struct run_object *)object;
    const char *name = NULL;
    roast_table *columns = NULL;
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "s:table", &name))
        return NULL;
    int table = roast_table_find(name);
    if (table < 0)
        return PyErr_Format(PyExc_KeyError, "no table '%s'; see docs/tables.md", name);
    Py_BEGIN_ALLOW_THREADS;
    status = run_columns(self, table, &columns, &err);
    Py_END_ALLOW_THREADS;
    return status < 0 ? raise_error(self->state, &err)
                      : table_new(self->state, columns);
}

struct part_taker {
    const struct core_state *state;
    PyObject *take; /* borrowed */
    bool raised;
};

static bool give_part(void *context, roast_table *part)
{
    struct part_taker *taker = context;
    PyGILState_STATE held = PyGILState_Ensure();
    PyObject *table = table_new(taker->state, part);
    PyObject *result =
        table ? PyObject_CallFunctionObjArgs(taker->take, table, NULL) : NULL;

    taker->raised = !result;
    Py_XDECREF(result);
    Py_XDECREF(table);
    PyGILState_Release(held);
    return !taker->raised;
}

/* One part, unless the table is large and the run does not change. */
PyObject *run_table_parts(PyObject *object, PyObject *args)
{
    struct run_object *self = (struct run_object *)object;
    struct part_taker taker = {.state = self->state};
    const char *name = NULL;
    Py_ssize_t rows;
    roast_table *whole = NULL;
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "snO:table_parts", &name, &rows, &taker.take))
        return NULL;
    int table = roast_table_find(name);
    if (table < 0)
        return PyErr_Format(PyExc_KeyError, "no table '%s'; see docs/tables.md", name);
    if (rows < 1)
        return PyErr_Format(PyExc_ValueError, "parts of %zd rows", rows);
    bool is_large = roast_table_is_large((enum roast_table_id)table);
    if (is_large && run_load(self) < 0)
        return NULL;
    if (is_large && self->is_whole) {
        const struct roast_table_parts parts = {(size_t)rows, give_part, &taker};
        roast_run *run = self->run;
        WITHOUT_GIL(status = roast_run_table_parts((enum roast_table_id)table, run,
                                                   NULL, &parts, &err));
    } else {
        WITHOUT_GIL(status = run_columns(self, table, &whole, &err));
        if (status == ROAST_OK)
            (void)give_part(&taker, whole);
    }
    if (status < 0)
        return raise_error(self->state, &err);
    return taker.raised ? NULL : Py_NewRef(Py_None);
}

PyObject *run_samples(PyObject *object, PyObject *args)
{
    struct run_object *self = (struct run_object *)object;
    const char *name = NULL;
    roast_table *columns = NULL;
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "s:samples", &name))
        return NULL;
    int series = series_number(name);
    if (series < 0)
        return PyErr_Format(PyExc_KeyError, "no series '%s'; see docs/metrics.md",
                            name);
    if (run_load(self) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = roast_series_table(&columns, self->run, (enum roast_series)series, &err);
    Py_END_ALLOW_THREADS;
    return status < 0 ? raise_error(self->state, &err)
                      : table_new(self->state, columns);
}
