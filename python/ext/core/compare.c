/* SPDX-License-Identifier: BSD-3-Clause */
/* compare.c - runs beside each other, for Python: compared, scaled, extrapolated.
 *
 * Gives the pages of libroast, text and JSON: Python reads what programs read. */
#include <stdlib.h>

#include "file.h"
#include "roast/report.h"
#include "table.h"

/* A run as it is compared, and what is to be freed of it. */
struct held {
    struct run_object *run;
    struct roast_side side;
    roast_summary *summary; /* NULL: borrowed from the file */
    roast_table *chunks;
};

/* To be called without the GIL. */
static int hold(struct held *held, roast_error *err)
{
    int status = run_summary(held->run, &held->side.summary, &held->summary, err);

    if (status == ROAST_OK)
        status = run_columns(held->run, ROAST_TABLE_chunks, &held->chunks, err);
    held->side.chunks = held->chunks;
    return status;
}

static void let_go(struct held *held, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        roast_table_free(held[i].chunks);
        roast_summary_free(held[i].summary);
    }
}

/* (text, JSON) of pages that were made, else the exception; releases them. */
static PyObject *give_pages(const struct core_state *state, struct roast_page pages[2],
                            int status, const roast_error *err)
{
    PyObject *result = NULL;

    if (status < 0)
        raise_error(state, err);
    else
        result = Py_BuildValue(
            "NN", text_new((struct roast_str){pages[0].text, pages[0].size_bytes}),
            text_new((struct roast_str){pages[1].text, pages[1].size_bytes}));
    roast_page_release(&pages[0]);
    roast_page_release(&pages[1]);
    return result;
}

/* ---- two runs ------------------------------------------------------------------ */

static int make_compared(struct roast_page pages[2], struct held held[2],
                         const struct roast_str names[2], roast_error *err)
{
    struct roast_comparison comparison;
    int status = hold(&held[0], err);

    if (status == ROAST_OK)
        status = hold(&held[1], err);
    if (status == ROAST_OK)
        status = roast_compare(&comparison, &held[0].side, &held[1].side, err);
    if (status == ROAST_OK)
        status = roast_report_compare(&pages[0], &comparison, names, err);
    if (status == ROAST_OK)
        status = roast_report_compare_json(&pages[1], &comparison, names, err);
    return status;
}

static PyObject *compare(PyObject *module, PyObject *args)
{
    struct core_state *state = PyModule_GetState(module);
    struct held held[2] = {{.run = NULL}, {.run = NULL}};
    struct roast_page pages[2] = {{NULL, 0}, {NULL, 0}};
    PyObject *texts[2] = {NULL, NULL};
    struct roast_str names[2];
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "O!UO!U", state->run_type, &held[0].run, &texts[0],
                          state->run_type, &held[1].run, &texts[1]) ||
        text_borrow(texts[0], &names[0]) < 0 || text_borrow(texts[1], &names[1]) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = make_compared(pages, held, names, &err);
    let_go(held, 2);
    Py_END_ALLOW_THREADS;
    return give_pages(state, pages, status, &err);
}

/* ---- several runs -------------------------------------------------------------- */

/* What roast_scale() wants; the arrays are owned, `count` long. */
struct several {
    size_t count;
    struct held *held;
    const roast_summary **summaries;
    struct roast_str *names;
};

/* Borrows runs and names from the tuple of (run, name); -1 with an exception. */
static int take_pairs(struct several *several, PyObject *pairs, PyTypeObject *run_type)
{
    several->count = (size_t)PyTuple_Size(pairs);
    several->held = calloc(several->count + 1, sizeof(several->held[0]));
    several->summaries = calloc(several->count + 1, sizeof(void *));
    several->names = calloc(several->count + 1, sizeof(several->names[0]));
    if (!several->held || !several->summaries || !several->names) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < several->count; i++) {
        PyObject *pair = PyTuple_GetItem(pairs, (Py_ssize_t)i);
        PyObject *name = NULL;
        if (!PyArg_ParseTuple(pair, "O!U", run_type, &several->held[i].run, &name) ||
            text_borrow(name, &several->names[i]) < 0)
            return -1;
    }
    return 0;
}

static int make_scaled(struct roast_page pages[2], struct several *several,
                       roast_error *err)
{
    struct roast_scaling scaling = {0};
    int status = ROAST_OK;

    for (size_t i = 0; i < several->count && status == ROAST_OK; i++)
        status = run_summary(several->held[i].run, &several->summaries[i],
                             &several->held[i].summary, err);
    if (status == ROAST_OK)
        status = roast_scale(&scaling, several->summaries, several->count, err);
    if (status == ROAST_OK)
        status = roast_report_scale(&pages[0], &scaling, several->names, err);
    if (status == ROAST_OK)
        status = roast_report_scale_json(&pages[1], &scaling, several->names, err);
    roast_scaling_release(&scaling);
    return status;
}

static PyObject *scale(PyObject *module, PyObject *args)
{
    struct core_state *state = PyModule_GetState(module);
    struct roast_page pages[2] = {{NULL, 0}, {NULL, 0}};
    struct several several = {.count = 0};
    PyObject *pairs = NULL;
    PyObject *result = NULL;
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "O!", &PyTuple_Type, &pairs))
        return NULL;
    if (take_pairs(&several, pairs, state->run_type) == 0) {
        Py_BEGIN_ALLOW_THREADS;
        status = make_scaled(pages, &several, &err);
        let_go(several.held, several.count);
        Py_END_ALLOW_THREADS;
        result = give_pages(state, pages, status, &err);
    }
    free(several.held);
    free(several.summaries);
    free(several.names);
    return result;
}

/* ---- the same, larger ---------------------------------------------------------- */

static int make_foretold(struct roast_page pages[2], struct held *held,
                         const struct roast_plan *plan, roast_error *err)
{
    struct roast_forecast forecast;
    int status = hold(held, err);

    if (status == ROAST_OK)
        status = roast_make_forecast(&forecast, &held->side, plan, err);
    if (status == ROAST_OK)
        status = roast_report_forecast(&pages[0], &forecast, plan, err);
    if (status == ROAST_OK)
        status = roast_report_forecast_json(&pages[1], &forecast, plan, err);
    return status;
}

static PyObject *forecast(PyObject *module, PyObject *args)
{
    struct core_state *state = PyModule_GetState(module);
    struct held held = {.run = NULL};
    struct roast_page pages[2] = {{NULL, 0}, {NULL, 0}};
    struct roast_plan plan = {0};
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "O!ddd", state->run_type, &held.run, &plan.events,
                          &plan.workers, &plan.chunksize))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = make_foretold(pages, &held, &plan, &err);
    let_go(&held, 1);
    Py_END_ALLOW_THREADS;
    return give_pages(state, pages, status, &err);
}

PyMethodDef compare_methods[] = {
    {"compare", compare, METH_VARARGS,
     "The pages, text and JSON, of two runs with their names."},
    {"scale", scale, METH_VARARGS,
     "The same of several runs: a tuple of (run, its name)."},
    {"forecast", forecast, METH_VARARGS,
     "The same of a run with so many events, workers and events per chunk (0: as in "
     "the run)."},
    {NULL, NULL, 0, NULL},
};
