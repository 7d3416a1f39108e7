/* SPDX-License-Identifier: BSD-3-Clause */
/* run_methods.h - methods of Run that have a file of their own. */
#ifndef ROAST_CORE_RUN_METHODS_H
#define ROAST_CORE_RUN_METHODS_H

#include <unistd.h>

#include "state.h"

/* False in a forked child: it has no threads, and the lock may be held by one of them. */
static inline bool run_is_ours(const struct run_object *self)
{
    return self->pid == (long)getpid();
}

/* Takes the lock of the run object, and releases the GIL first: a holder of the lock may
 * wait for a disk. The result is for run_unlock(). */
static inline PyThreadState *run_lock(struct run_object *self)
{
    PyThreadState *thread = PyEval_SaveThread();

    (void)pthread_mutex_lock(&self->lock);
    return thread;
}

static inline void run_unlock(struct run_object *self, PyThreadState *thread)
{
    (void)pthread_mutex_unlock(&self->lock);
    PyEval_RestoreThread(thread);
}

/* None, or the exception of a status. */
PyObject *run_result(const struct run_object *self, int status, const roast_error *err);

/* run_records.c; run_id_of() returns the only argument, 16 bytes, borrowed; NULL with an
 * exception. */
const unsigned char *run_id_of(PyObject *args);
PyObject *run_chunks(PyObject *self, PyObject *unused);
PyObject *run_rows(PyObject *self, PyObject *args);
PyObject *run_frame(PyObject *self, PyObject *args);
PyObject *run_tracking(PyObject *self, PyObject *unused);

/* run_dask.c */
PyObject *run_add_batch(PyObject *self, PyObject *args);
PyObject *run_set_activities(PyObject *self, PyObject *mapping);
PyObject *run_add_hot_lines(PyObject *self, PyObject *rows);
PyObject *run_tasks_seen(PyObject *self, PyObject *unused);

/* live.c; run_live_end() closes the file if there is one. */
int run_live_end(struct run_object *self, bool remove, roast_error *err);
PyObject *run_live_open(PyObject *self, PyObject *args);
PyObject *run_live_state(PyObject *self, PyObject *unused);
PyObject *run_live_flush(PyObject *self, PyObject *unused);
PyObject *run_live_sync(PyObject *self, PyObject *unused);
PyObject *run_live_close(PyObject *self, PyObject *args);

#endif
