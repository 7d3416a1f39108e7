/* SPDX-License-Identifier: BSD-3-Clause */
/* show.c - pages of a run, rows of a table, the live line. */
#include <string.h>

#include "file.h"
#include "roast/collect.h"
#include "roast/export.h"
#include "roast/process_tree.h"
#include "roast/report.h"

/* ---- pages ---------------------------------------------------------------------- */

typedef int page_maker(struct roast_page *out, const roast_summary *summary,
                       const struct roast_heading *heading, roast_error *err);

static page_maker *maker_of(const char *kind)
{
    if (strcmp(kind, "text") == 0 || strcmp(kind, "full") == 0)
        return roast_report_text;
    if (strcmp(kind, "headline") == 0)
        return roast_report_headline;
    if (strcmp(kind, "card") == 0)
        return roast_report_card;
    PyErr_Format(PyExc_ValueError, "no page '%s'; known: text, full, headline, card",
                 kind);
    return NULL;
}

static enum roast_origin origin_of(const struct run_object *self)
{
    struct roast_runfile_info info = {.live = false};

    if (!self->file)
        return ROAST_IN_MEMORY;
    roast_runfile_info(self->file, &info);
    return info.live ? ROAST_IN_LIVE_FILE : ROAST_IN_RUN_FILE;
}

PyObject *run_page(PyObject *object, PyObject *args)
{
    struct run_object *self = run_of(object);
    const char *kind = NULL;
    const roast_summary *summary = NULL;
    roast_summary *owned = NULL;
    struct roast_heading_text words;
    struct roast_page page = {NULL, 0};
    roast_error err = {0};
    int status;

    page_maker *make = PyArg_ParseTuple(args, "s", &kind) ? maker_of(kind) : NULL;
    if (!make)
        return NULL;
    roast_run *run = self->run; /* with the GIL: run_load() may replace it */
    Py_BEGIN_ALLOW_THREADS;
    status = run_summary(self, &summary, &owned, &err);
    if (status == ROAST_OK) {
        roast_report_heading(&words, run, origin_of(self));
        words.heading.full_by = strcmp(kind, "text") == 0 ? "full=True" : NULL;
        status = make(&page, summary, &words.heading, &err);
    }
    Py_END_ALLOW_THREADS;
    roast_summary_free(owned);
    return page_result(self->state, status, &page, &err);
}

/* ---- rows of a dict of metrics ---------------------------------------------------- */

/* -1 for an exception that is the user's (Ctrl-C). */
static int take_value(struct roast_metric_values *values, enum roast_metric metric,
                      PyObject *dict, const char *name, double per)
{
    PyObject *value = PyDict_GetItemString(dict, name);
    double number = value && value != Py_None ? PyFloat_AsDouble(value) : 0;

    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_Exception))
            return -1;
        PyErr_Clear(); /* not a number: not this metric */
        return 0;
    }
    if (!value || value == Py_None || values->known[metric])
        return 0;
    values->known[metric] = number == number; /* false for NaN */
    values->value[metric] = number * per;
    return 0;
}

static int take_values(struct roast_metric_values *values, PyObject *dict)
{
    size_t count = 0;
    const struct roast_metric_alias *aliases = roast_metric_aliases(&count);

    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        const char *name = roast_metric_info((enum roast_metric)i)->name;
        if (take_value(values, (enum roast_metric)i, dict, name, 1) < 0)
            return -1;
    }
    for (size_t i = 0; i < count; i++) {
        if (take_value(values, aliases[i].metric, dict, aliases[i].alias,
                       aliases[i].per) < 0)
            return -1;
    }
    return 0;
}

static PyObject *table_rows(PyObject *module, PyObject *args)
{
    int table = 0;
    PyObject *dict = NULL;
    struct roast_metric_values values;
    struct roast_row rows[ROAST_REPORT_MAX_ROWS];

    (void)module;
    if (!PyArg_ParseTuple(args, "iO!", &table, &PyDict_Type, &dict))
        return NULL;
    if (table < 0 || table >= ROAST_REPORT_TABLE_COUNT)
        return PyErr_Format(PyExc_ValueError, "table %d of %d", table,
                            ROAST_REPORT_TABLE_COUNT);
    memset(&values, 0, sizeof(values));
    if (take_values(&values, dict) < 0)
        return NULL;
    size_t count = roast_report_rows(rows, (enum roast_report_table)table, &values);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *label = text_new(roast_str_of(rows[i].label));
        PyObject *value = text_new(roast_str_of(rows[i].value));
        list = list_append(list, Py_BuildValue("NN", label, value));
    }
    return list;
}

static PyObject *openmetrics(PyObject *module, PyObject *args)
{
    const struct core_state *state = PyModule_GetState(module);
    struct roast_page page = {NULL, 0};
    struct roast_metric_values values;
    PyObject *dict = NULL;
    roast_error err = {0};

    if (!PyArg_ParseTuple(args, "O!", &PyDict_Type, &dict))
        return NULL;
    memset(&values, 0, sizeof(values));
    if (take_values(&values, dict) < 0)
        return NULL;
    int status = roast_export_metrics(&page, &values, &err);
    return page_result(state, status, &page, &err);
}

/* ---- live line, secrets, spool ------------------------------------------------------ */

static PyObject *live_line(PyObject *module, PyObject *args)
{
    struct roast_live_line live = {.machine_memory_percent = -1};
    struct core_state *state = PyModule_GetState(module);
    PyObject *object = NULL;
    char line[256];

    if (!PyArg_ParseTuple(args, "O!d", state->run_type, &object, &live.seconds))
        return NULL;
    WITHOUT_GIL(roast_run_progress(((struct run_object *)object)->run, &live.progress));
    if (!roast_memory_used_percent(NULL, &live.machine_memory_percent))
        live.machine_memory_percent = -1;
    size_t size = roast_report_live(line, sizeof(line), &live);
    return text_new((struct roast_str){line, size});
}

/* A text, a name if there is a key, or an argument if there is a state. The same object
 * where nothing is a secret. */
static PyObject *redacted(PyObject *text, const unsigned char *key,
                          struct roast_redact_arguments *state)
{
    struct roast_str whole;
    PyObject *result = NULL;

    if (text_borrow(text, &whole) < 0)
        return NULL;
    if (!state && !roast_str_may_hold_secret(whole))
        return Py_NewRef(text);
    size_t room = roast_str_redact_bound(whole.size_bytes);
    char *out = PyMem_Malloc(room);
    if (!out)
        return PyErr_NoMemory();
    size_t size = state ? roast_str_redact_argument(state, out, room, whole)
                  : key ? roast_str_redact_name(out, room, whole, key)
                        : roast_str_redact(out, room, whole);
    result = text_new((struct roast_str){out, size});
    PyMem_Free(out);
    return result;
}

static PyObject *redact(PyObject *module, PyObject *text)
{
    (void)module;
    return redacted(text, NULL, NULL);
}

static PyObject *redact_name(PyObject *module, PyObject *args)
{
    const char *key = NULL;
    Py_ssize_t key_bytes = 0;
    PyObject *name = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "Uy#", &name, &key, &key_bytes))
        return NULL;
    if (key_bytes != ROAST_NAME_KEY_BYTES)
        return PyErr_Format(PyExc_ValueError, "a key has %d bytes, not %zd",
                            ROAST_NAME_KEY_BYTES, key_bytes);
    return redacted(name, (const unsigned char *)key, NULL);
}

static PyObject *redact_arguments(PyObject *module, PyObject *arguments)
{
    struct roast_redact_arguments state = {0};
    PyObject *list = PySequence_List(arguments);

    (void)module;
    for (Py_ssize_t i = 0; list && i < PyList_Size(list); i++) {
        PyObject *clean = redacted(PyList_GetItem(list, i), NULL, &state);
        if (!clean || PyList_SetItem(list, i, clean) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *is_secret(PyObject *module, PyObject *args)
{
    struct roast_str name, text = {NULL, 0};
    PyObject *of = NULL;
    PyObject *value = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "UO", &of, &value) || text_borrow(of, &name) < 0 ||
        (value != Py_None && text_borrow(value, &text) < 0))
        return NULL;
    return PyBool_FromLong(roast_str_is_secret(name, text));
}

static PyObject *remove_spool(PyObject *module, PyObject *args)
{
    const char *dir = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "s", &dir))
        return NULL;
    roast_spool_remove(dir);
    Py_RETURN_NONE;
}

PyMethodDef show_methods[] = {
    {"table_rows", table_rows, METH_VARARGS,
     "[(label, value)] of one of the tables for a dict of metrics."},
    {"openmetrics", openmetrics, METH_VARARGS, "A dict of metrics for Prometheus."},
    {"live_line", live_line, METH_VARARGS, "One line about a run that goes on."},
    {"redact", redact, METH_O, "A text without the secrets in it."},
    {"redact_name", redact_name, METH_VARARGS,
     "A name of a dataset or file without secrets, marked with a key of 16 bytes."},
    {"redact_arguments", redact_arguments, METH_O,
     "The arguments of a command without secrets."},
    {"is_secret", is_secret, METH_VARARGS,
     "Whether the value of a name is secret: a text, or None for any other value."},
    {"remove_spool", remove_spool, METH_VARARGS, "Removes a spool and its files."},
    {NULL, NULL, 0, NULL},
};
