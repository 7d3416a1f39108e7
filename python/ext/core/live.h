/* SPDX-License-Identifier: BSD-3-Clause */
/* live.h - the live file of a Run. */
#ifndef ROAST_CORE_LIVE_H
#define ROAST_CORE_LIVE_H

#include "state.h"

/* Closes the file if there is one; the run must still be there. */
int run_live_end(struct run_object *self, bool remove, roast_error *err);

/* Methods of Run. */
PyObject *run_live_open(PyObject *self, PyObject *args);
PyObject *run_live_state(PyObject *self, PyObject *unused);
PyObject *run_live_sync(PyObject *self, PyObject *unused);
PyObject *run_live_close(PyObject *self, PyObject *args);

#endif
