/* SPDX-License-Identifier: BSD-3-Clause */
/* state.h - the state of the module roastcoffea._core, and what its files share. */
#ifndef ROAST_CORE_STATE_H
#define ROAST_CORE_STATE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pthread.h>
#include <stdint.h>

#include "roast/collect.h"
#include "roast/dask_batch.h"
#include "roast/live.h"
#include "roast/runfile.h"

struct core_state {
    PyTypeObject *run_type;
    PyTypeObject *table_type;
    PyTypeObject *column_type;
    PyObject *roast_error; /* exception types of roastcoffea._probe */
    PyObject *format_error;
    PyObject *store_error;    /* an error of the operating system */
    PyObject *from_timestamp; /* datetime.fromtimestamp */
    PyObject *utc;
};

struct run_object {
    PyObject_HEAD
    roast_run *run;       /* belongs to `file` if there is one */
    roast_runfile *file;  /* NULL: the run is collected or imported here; see file.h */
    bool is_whole;        /* attempts and samples are loaded, and none will come */
    pthread_mutex_t lock; /* guards file, live and sampler; taken without the GIL */
    roast_live *live;     /* NULL: no live file is written */
    roast_sampler *sampler;      /* NULL: not sampled */
    roast_dask_batches *batches; /* NULL: not collected here */
    struct core_state *state;
    long pid; /* of the process that created it: a forked child must not use it */
};

extern PyType_Spec run_spec;

static inline struct run_object *run_of(PyObject *self)
{
    return (struct run_object *)self;
}

/* One call of libroast without the GIL: it may wait for the lock of the roast_run, which
 * saving holds for long. Texts that it borrows must belong to objects that the caller
 * holds. */
#define WITHOUT_GIL(call) \
    do { \
        Py_BEGIN_ALLOW_THREADS; \
        call; \
        Py_END_ALLOW_THREADS; \
    } while (0)

/* ---- module.c ----------------------------------------------------------------- */

/* Raises the exception of a libroast error; returns NULL. */
PyObject *raise_error(const struct core_state *state, const roast_error *err);

/* The same with the path in front, unless the message has it. */
PyObject *raise_error_of(const struct core_state *state, const char *path,
                         const roast_error *err);

PyObject *text_new(struct roast_str text); /* undecodable bytes are replaced */

/* Sets dict[key] = value and takes the reference; value NULL is an earlier failure. */
int dict_set(PyObject *dict, const char *key, PyObject *value);

/* Appends item and takes both references; returns list, or NULL after a failure, which an
 * item of NULL is. */
PyObject *list_append(PyObject *list, PyObject *item);

/* The text of a page, or the exception of a status; releases the page. */
PyObject *page_result(const struct core_state *state, int status,
                      struct roast_page *page, const roast_error *err);

/* UTF-8 of a str, borrowed from it; absent for None. -1 with an exception. */
int text_borrow(PyObject *object, struct roast_str *text);

/* ---- of other files ------------------------------------------------------------- */

PyObject *run_metrics(PyObject *self, PyObject *args);
PyObject *run_page(PyObject *self, PyObject *args);

/* A run object without a run; NULL with an exception. (run_type.c) */
struct run_object *run_alloc(PyTypeObject *type, struct core_state *state);

/* The number of a series by its name or its key in tracking_data; -1: none. (lists.c) */
int series_number(const char *name);

/* Functions of the module. */
extern PyMethodDef show_methods[];
extern PyMethodDef formula_methods[];
extern PyMethodDef list_methods[];

#endif
