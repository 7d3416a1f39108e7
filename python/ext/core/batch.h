/* SPDX-License-Identifier: BSD-3-Clause */
/* batch.h - what Dask's scheduler saw, into a Run. */
#ifndef ROAST_CORE_BATCH_H
#define ROAST_CORE_BATCH_H

#include "state.h"

/* What is kept of each scheduler from one batch to the next. */
void batches_free(struct batches *batches); /* NULL is fine */

/* Methods of Run. */
PyObject *run_add_batch(PyObject *self, PyObject *args);
PyObject *run_set_activities(PyObject *self, PyObject *mapping);
PyObject *run_add_hot_lines(PyObject *self, PyObject *rows);
PyObject *run_tasks_seen(PyObject *self, PyObject *unused);

extern PyMethodDef batch_methods[];

#endif
