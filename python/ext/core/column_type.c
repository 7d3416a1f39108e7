/* SPDX-License-Identifier: BSD-3-Clause */
/* column_type.c - roastcoffea._core.Column: one column of a table, read-only.
 *
 * A sequence of Python values, None for unknown ones, and a buffer of the values in
 * memory, which NumPy uses without a copy. Unknown values are 0 in the buffer; the bitmap
 * `valid` marks them. */
#include <string.h>

#include "table.h"

struct column_object {
    PyObject_HEAD
    roast_table *columns; /* a reference */
    const struct roast_table_column *data;
    size_t rows;
    PyObject *words; /* list of str; NULL until first access */
    Py_ssize_t shape[1];
    Py_ssize_t strides[1];
};

/* By roast_dtype. */
static const struct {
    const char *name;
    const char *format; /* of struct and memoryview */
    Py_ssize_t width;
} kinds[] = {
    [ROAST_DTYPE_INT64] = {"int64", "q", 8}, [ROAST_DTYPE_DOUBLE] = {"float64", "d", 8},
    [ROAST_DTYPE_BOOL] = {"bool", "?", 1},   [ROAST_DTYPE_TIME] = {"time", "q", 8},
    [ROAST_DTYPE_TEXT] = {"text", "i", 4},
};

static struct column_object *cast(PyObject *self)
{
    return (struct column_object *)self;
}

PyObject *column_new(const struct core_state *state, roast_table *columns,
                     size_t column)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(state->column_type, Py_tp_alloc);
    PyObject *self = alloc(state->column_type, 0);

    if (!self)
        return NULL;
    cast(self)->columns = roast_table_hold(columns);
    cast(self)->data = roast_table_column(columns, column);
    cast(self)->rows = roast_table_rows(columns);
    cast(self)->shape[0] = (Py_ssize_t)cast(self)->rows;
    cast(self)->strides[0] = kinds[cast(self)->data->type].width;
    return self;
}

static void column_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    roast_table_free(cast(self)->columns);
    Py_XDECREF(cast(self)->words);
    release(self);
    Py_DECREF(type);
}

/* ---- values ---------------------------------------------------------------------- */

static PyObject *word_new(const struct roast_table_column *data, size_t word)
{
    int64_t from = data->ends[(ptrdiff_t)word - 1];
    size_t size = (size_t)(data->ends[word] - from);

    return text_new((struct roast_str){size > 0 ? data->words + from : "", size});
}

static PyObject *words_new(const struct roast_table_column *data)
{
    PyObject *words = PyList_New(0);

    for (size_t i = 0; words && i < data->word_count; i++)
        words = list_append(words, word_new(data, i));
    return words;
}

static bool is_known(const struct roast_table_column *data, size_t row)
{
    return !data->valid || (data->valid[row >> 3] >> (row & 7)) & 1;
}

/* `words` are all words of a text column; NULL: only the word of this row is made. */
static PyObject *value_new(const struct roast_table_column *data, size_t row,
                           PyObject *words)
{
    if (!is_known(data, row))
        return Py_NewRef(Py_None);
    switch (data->type) {
    case ROAST_DTYPE_INT64:
    case ROAST_DTYPE_TIME:
        return PyLong_FromLongLong(((const int64_t *)data->values)[row]);
    case ROAST_DTYPE_DOUBLE:
        return PyFloat_FromDouble(((const double *)data->values)[row]);
    case ROAST_DTYPE_BOOL:
        return PyBool_FromLong(((const unsigned char *)data->values)[row]);
    case ROAST_DTYPE_TEXT:
        break;
    }
    int32_t word = ((const int32_t *)data->values)[row];
    return words ? Py_XNewRef(PyList_GetItem(words, word))
                 : word_new(data, (size_t)word);
}

PyObject *column_value(const struct roast_table_column *column, size_t row)
{
    return value_new(column, row, NULL);
}

/* Rows of a column, as a slice has them. */
struct range {
    Py_ssize_t from;
    Py_ssize_t step;
    Py_ssize_t count;
};

static PyObject *values_new(const struct roast_table_column *data, struct range range)
{
    PyObject *words = NULL;

    if (data->type == ROAST_DTYPE_TEXT && (size_t)range.count > data->word_count) {
        words = words_new(data); /* each word once */
        if (!words)
            return NULL;
    }
    PyObject *list = PyList_New(range.count);
    for (Py_ssize_t i = 0; list && i < range.count; i++) {
        PyObject *value = value_new(data, (size_t)(range.from + i * range.step), words);
        if (!value || PyList_SetItem(list, i, value) < 0)
            Py_CLEAR(list);
    }
    Py_XDECREF(words);
    return list;
}

PyObject *column_values(const struct roast_table_column *data, size_t from, size_t to)
{
    return values_new(data,
                      (struct range){(Py_ssize_t)from, 1, (Py_ssize_t)(to - from)});
}

/* ---- a sequence ------------------------------------------------------------------ */

static Py_ssize_t column_len(PyObject *self)
{
    return (Py_ssize_t)cast(self)->rows;
}

static PyObject *column_item(PyObject *self, Py_ssize_t row)
{
    if (row < 0 || row >= column_len(self)) {
        PyErr_Format(PyExc_IndexError, "row %zd of %zd", row, column_len(self));
        return NULL;
    }
    return value_new(cast(self)->data, (size_t)row, cast(self)->words);
}

static PyObject *column_subscript(PyObject *self, PyObject *key)
{
    struct range range;
    Py_ssize_t stop;

    if (PySlice_Check(key)) {
        if (PySlice_Unpack(key, &range.from, &stop, &range.step) < 0)
            return NULL;
        range.count =
            PySlice_AdjustIndices(column_len(self), &range.from, &stop, range.step);
        return values_new(cast(self)->data, range);
    }
    Py_ssize_t row = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (row == -1 && PyErr_Occurred())
        return NULL;
    return column_item(self, row < 0 ? row + column_len(self) : row);
}

static PyObject *to_list(PyObject *self, PyObject *unused)
{
    (void)unused;
    return column_values(cast(self)->data, 0, cast(self)->rows);
}

/* ---- a buffer -------------------------------------------------------------------- */

static int column_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    const struct roast_table_column *data = cast(self)->data;

    if (flags & PyBUF_WRITABLE) {
        view->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "a column is read-only");
        return -1;
    }
    *view = (Py_buffer){
        .buf = (void *)data->values,
        .obj = Py_NewRef(self),
        .len = cast(self)->shape[0] * cast(self)->strides[0],
        .itemsize = cast(self)->strides[0],
        .readonly = 1,
        .ndim = 1,
        .format = flags & PyBUF_FORMAT ? (char *)kinds[data->type].format : NULL,
        .shape = flags & PyBUF_ND ? cast(self)->shape : NULL,
        .strides =
            (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? cast(self)->strides : NULL,
    };
    return 0;
}

/* ---- attributes ------------------------------------------------------------------ */

static PyObject *get_name(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(cast(self)->data->name);
}

static PyObject *get_type(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(kinds[cast(self)->data->type].name);
}

static PyObject *get_unit(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(cast(self)->data->unit);
}

static PyObject *get_meaning(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(cast(self)->data->text);
}

static PyObject *get_unknown(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(cast(self)->data->unknown);
}

static PyObject *get_valid(PyObject *self, void *unused)
{
    const struct roast_table_column *data = cast(self)->data;

    (void)unused;
    if (!data->valid)
        Py_RETURN_NONE;
    return PyBytes_FromStringAndSize((const char *)data->valid,
                                     (Py_ssize_t)((cast(self)->rows + 7) / 8));
}

static int need_text(PyObject *self, const char *what)
{
    if (cast(self)->data->type == ROAST_DTYPE_TEXT)
        return 0;
    PyErr_Format(PyExc_AttributeError, "only columns of texts have %s, not %s", what,
                 cast(self)->data->name);
    return -1;
}

/* A list that the caller may change. */
static PyObject *get_words(PyObject *self, void *unused)
{
    (void)unused;
    if (need_text(self, "words") < 0)
        return NULL;
    if (!cast(self)->words) {
        PyObject *words = words_new(cast(self)->data);
        if (!words)
            return NULL;
        if (cast(self)->words) /* by another thread meanwhile */
            Py_DECREF(words);
        else
            cast(self)->words = words;
    }
    return PyList_GetSlice(cast(self)->words, 0, PyList_Size(cast(self)->words));
}

static PyObject *get_ids(PyObject *self, void *unused)
{
    (void)unused;
    return need_text(self, "ids") < 0 ? NULL : PyMemoryView_FromObject(self);
}

static PyObject *column_repr(PyObject *self)
{
    const struct roast_table_column *data = cast(self)->data;

    return PyUnicode_FromFormat("<Column %s: %zd x %s%s%s, %zd unknown>", data->name,
                                column_len(self), kinds[data->type].name,
                                data->unit[0] ? " in " : "", data->unit,
                                (Py_ssize_t)data->unknown);
}

static PyObject *to_numpy(PyObject *self, PyObject *unused)
{
    (void)unused;
    return call_table_function("to_numpy", self);
}

static PyGetSetDef column_getset[] = {
    {"name", get_name, NULL, "Its name.", NULL},
    {"type", get_type, NULL, "int64, float64, bool, time or text.", NULL},
    {"unit", get_unit, NULL, "Its unit; empty for none.", NULL},
    {"meaning", get_meaning, NULL, "What it means, in a line.", NULL},
    {"unknown", get_unknown, NULL, "How many values are not known.", NULL},
    {"valid", get_valid, NULL, "Bitmap of what is known, low bits first; None: all.",
     NULL},
    {"words", get_words, NULL, "The distinct texts; ids count from 0.", NULL},
    {"ids", get_ids, NULL, "The word of every row, as a buffer; see valid.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef column_methods[] = {
    {"to_list", to_list, METH_NOARGS, "All values, None where not known."},
    {"to_numpy", to_numpy, METH_NOARGS, "A NumPy array that shows what is not known."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot column_slots[] = {
    {Py_tp_dealloc, column_dealloc},
    {Py_tp_repr, column_repr},
    {Py_tp_getset, column_getset},
    {Py_tp_methods, column_methods},
    {Py_sq_length, column_len},
    {Py_sq_item, column_item},
    {Py_mp_length, column_len},
    {Py_mp_subscript, column_subscript},
    {Py_bf_getbuffer, column_getbuffer},
    {Py_tp_doc, "A column of a table. Times are ns since 1970, UTC."},
    {0, NULL},
};

PyType_Spec column_spec = {
    .name = "roastcoffea._core.Column",
    .basicsize = sizeof(struct column_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = column_slots,
};
