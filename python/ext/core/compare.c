/* SPDX-License-Identifier: BSD-3-Clause */
/* compare.c - runs compared, scaled and forecast.
 *
 * Each function returns two pages of libroast: text and JSON. */
#include <stdlib.h>

#include "file.h"
#include "roast/report.h"
#include "table.h"

/* A run and what is loaded from it. */
struct loaded {
    struct run_object *run;
    struct roast_side side;
    roast_summary *summary; /* owned; NULL: borrowed from the file */
    roast_table *chunks;    /* owned */
};

/* Called without the GIL. */
static int load(struct loaded *loaded, roast_error *err)
{
    int status = run_summary(loaded->run, &loaded->side.summary, &loaded->summary, err);

    if (status == ROAST_OK)
        status = run_columns(loaded->run, ROAST_TABLE_chunks, &loaded->chunks, err);
    loaded->side.chunks = loaded->chunks;
    loaded->side.run = loaded->run->run;
    return status;
}

static void release(struct loaded *loaded, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        roast_table_free(loaded[i].chunks);
        roast_summary_free(loaded[i].summary);
    }
}

/* (text, JSON), or the exception of a status; releases the pages. */
static PyObject *pages_result(const struct core_state *state, int status,
                              struct roast_page pages[2], const roast_error *err)
{
    PyObject *text = page_result(state, status, &pages[0], err);

    if (text)
        return Py_BuildValue("NN", text, page_result(state, status, &pages[1], err));
    roast_page_release(&pages[1]);
    return NULL;
}

/* ---- two runs ------------------------------------------------------------------ */

static int make_comparison(struct roast_page pages[2], struct loaded loaded[2],
                           const struct roast_str names[2], roast_error *err)
{
    struct roast_comparison comparison;
    int status = load(&loaded[0], err);

    if (status == ROAST_OK)
        status = load(&loaded[1], err);
    if (status == ROAST_OK)
        status = roast_compare(&comparison, &loaded[0].side, &loaded[1].side, err);
    if (status == ROAST_OK)
        status = roast_report_compare(&pages[0], &comparison, names, err);
    if (status == ROAST_OK)
        status = roast_report_compare_json(&pages[1], &comparison, names, err);
    return status;
}

static PyObject *compare(PyObject *module, PyObject *args)
{
    struct core_state *state = PyModule_GetState(module);
    struct loaded loaded[2] = {{.run = NULL}, {.run = NULL}};
    struct roast_page pages[2] = {{NULL, 0}, {NULL, 0}};
    PyObject *texts[2] = {NULL, NULL};
    struct roast_str names[2];
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "O!UO!U", state->run_type, &loaded[0].run, &texts[0],
                          state->run_type, &loaded[1].run, &texts[1]) ||
        text_borrow(texts[0], &names[0]) < 0 || text_borrow(texts[1], &names[1]) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = make_comparison(pages, loaded, names, &err);
    release(loaded, 2);
    Py_END_ALLOW_THREADS;
    return pages_result(state, status, pages, &err);
}

/* ---- several runs -------------------------------------------------------------- */

/* Arguments of roast_scale(); the arrays are owned and have `count` items. */
struct scaled_runs {
    size_t count;
    struct loaded *loaded;
    struct roast_side *sides;
    struct roast_str *names;
    bool mix;
};

/* Borrows runs and names from the tuple of (run, name); -1 with an exception. */
static int take_pairs(struct scaled_runs *runs, PyObject *pairs, PyTypeObject *run_type)
{
    runs->count = (size_t)PyTuple_Size(pairs);
    runs->loaded = calloc(runs->count + 1, sizeof(runs->loaded[0]));
    runs->sides = calloc(runs->count + 1, sizeof(runs->sides[0]));
    runs->names = calloc(runs->count + 1, sizeof(runs->names[0]));
    if (!runs->loaded || !runs->sides || !runs->names) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < runs->count; i++) {
        PyObject *pair = PyTuple_GetItem(pairs, (Py_ssize_t)i);
        PyObject *name = NULL;
        if (!PyArg_ParseTuple(pair, "O!U", run_type, &runs->loaded[i].run, &name) ||
            text_borrow(name, &runs->names[i]) < 0)
            return -1;
    }
    return 0;
}

static int make_scaling(struct roast_page pages[2], struct scaled_runs *runs,
                        roast_error *err)
{
    struct roast_scaling scaling = {0};
    int status = ROAST_OK;

    for (size_t i = 0; i < runs->count && status == ROAST_OK; i++) {
        runs->sides[i].run = runs->loaded[i].run->run;
        status = run_summary(runs->loaded[i].run, &runs->sides[i].summary,
                             &runs->loaded[i].summary, err);
    }
    if (status == ROAST_OK)
        status = roast_scale(&scaling, runs->sides, runs->count, runs->mix, err);
    if (status == ROAST_OK)
        status = roast_report_scale(&pages[0], &scaling, runs->names, err);
    if (status == ROAST_OK)
        status = roast_report_scale_json(&pages[1], &scaling, runs->names, err);
    roast_scaling_release(&scaling);
    return status;
}

static PyObject *scale(PyObject *module, PyObject *args)
{
    struct core_state *state = PyModule_GetState(module);
    struct roast_page pages[2] = {{NULL, 0}, {NULL, 0}};
    struct scaled_runs runs = {.count = 0};
    PyObject *pairs = NULL;
    PyObject *result = NULL;
    roast_error err = {0};
    int status, mix = 0;

    if (!PyArg_ParseTuple(args, "O!|p", &PyTuple_Type, &pairs, &mix))
        return NULL;
    runs.mix = mix;
    if (take_pairs(&runs, pairs, state->run_type) == 0) {
        Py_BEGIN_ALLOW_THREADS;
        status = make_scaling(pages, &runs, &err);
        release(runs.loaded, runs.count);
        Py_END_ALLOW_THREADS;
        result = pages_result(state, status, pages, &err);
    }
    free(runs.loaded);
    free(runs.sides);
    free(runs.names);
    return result;
}

/* ---- forecast ------------------------------------------------------------------ */

static int make_forecast(struct roast_page pages[2], struct loaded *loaded,
                         const struct roast_plan *plan, roast_error *err)
{
    struct roast_forecast forecast;
    int status = load(loaded, err);

    if (status == ROAST_OK)
        status = roast_make_forecast(&forecast, &loaded->side, plan, err);
    if (status == ROAST_OK)
        status = roast_report_forecast(&pages[0], &forecast, plan, err);
    if (status == ROAST_OK)
        status = roast_report_forecast_json(&pages[1], &forecast, plan, err);
    return status;
}

static PyObject *forecast(PyObject *module, PyObject *args)
{
    struct core_state *state = PyModule_GetState(module);
    struct loaded loaded = {.run = NULL};
    struct roast_page pages[2] = {{NULL, 0}, {NULL, 0}};
    struct roast_plan plan = {0};
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "O!ddd", state->run_type, &loaded.run, &plan.events,
                          &plan.workers, &plan.chunksize))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = make_forecast(pages, &loaded, &plan, &err);
    release(&loaded, 1);
    Py_END_ALLOW_THREADS;
    return pages_result(state, status, pages, &err);
}

PyMethodDef compare_methods[] = {
    {"compare", compare, METH_VARARGS,
     "The pages, text and JSON, of two runs with their names."},
    {"scale", scale, METH_VARARGS,
     "The same for several runs: a tuple of (run, name), and whether they may be of "
     "different processors."},
    {"forecast", forecast, METH_VARARGS,
     "The same for a run with these events, workers and events per chunk (0: as in "
     "the run)."},
    {NULL, NULL, 0, NULL},
};
