/* SPDX-License-Identifier: BSD-3-Clause */
/* state.h - the state of the module roastcoffea._core, and what its files share. */
#ifndef ROAST_CORE_STATE_H
#define ROAST_CORE_STATE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pthread.h>
#include <stdint.h>

#include "roast/live.h"
#include "roast/runfile.h"

struct core_state {
    PyTypeObject *run_type;
    PyTypeObject *table_type;
    PyTypeObject *column_type;
    PyObject *roast_error; /* exception types of roastcoffea._probe */
    PyObject *format_error;
    PyObject *store_error;    /* the operating system refused */
    PyObject *from_timestamp; /* datetime.fromtimestamp */
    PyObject *utc;
};

struct watch;

struct run_object {
    PyObject_HEAD
    roast_run *run;          /* borrows file where there is one */
    roast_runfile *file;     /* NULL: it is collected or imported here; see file.h */
    bool is_whole;           /* attempts and samples of the file were loaded */
    pthread_mutex_t lock;    /* guards file and live while the GIL is free */
    roast_live *live;        /* NULL: nobody writes it while it grows */
    struct watch *watch;     /* NULL: nobody samples */
    struct batches *batches; /* NULL: no scheduler was heard; see batch.h */
    struct core_state *state;
    long pid; /* of the process that made it: a forked child leaves it alone */
};

extern PyType_Spec run_spec;

/* ---- support.c ---------------------------------------------------------------- */

/* Raises the exception of a libroast error; returns NULL. */
PyObject *raise_error(const struct core_state *state, const roast_error *err);

/* The same with the path in front, where the message does not name it. */
PyObject *raise_error_of(const struct core_state *state, const char *path,
                         const roast_error *err);

PyObject *text_new(struct roast_str text); /* undecodable bytes are replaced */

/* Sets dict[key] = value and takes the reference; value NULL is an earlier failure. */
int dict_set(PyObject *dict, const char *key, PyObject *value);

/* UTF-8 of a str, borrowed from it; absent for None. -1 with an exception. */
int text_borrow(PyObject *object, struct roast_str *text);

/* ---- what a run gives, one file each ------------------------------------------- */

PyObject *run_metrics(struct run_object *self, bool quick);
PyObject *run_chunks(struct run_object *self);
PyObject *run_rows(struct run_object *self, const unsigned char *run_id);
PyObject *run_frame(struct run_object *self, uint32_t row);
PyObject *run_tracking(struct run_object *self);
PyObject *run_page(struct run_object *self, const char *kind);

/* ---- watch.c ------------------------------------------------------------------ */

int watch_start(struct run_object *self, double interval_s); /* 0: spool only */
int watch_read_from(struct run_object *self, const char *dir);
void watch_sync(struct run_object *self); /* reads what waits in the spool, now */
void watch_stop(struct run_object *self); /* last sample, last frames; also twice */

/* ---- functions of the module ---------------------------------------------------- */

extern PyMethodDef show_methods[];
extern PyMethodDef json_text_methods[];
#endif
