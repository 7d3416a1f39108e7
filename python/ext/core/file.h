/* SPDX-License-Identifier: BSD-3-Clause */
/* file.h - runs in files.
 *
 * Attempts and samples of an opened run are loaded on first use: code that needs them
 * calls run_load() first. Code that needs the summary uses the saved one. */
#ifndef ROAST_CORE_FILE_H
#define ROAST_CORE_FILE_H

#include "state.h"

/* Loads attempts and samples of an opened run, once; does nothing for a run that is
 * collected here. -1 with an exception. */
int run_load(struct run_object *self);

/* The saved summary, borrowed from the file, or a new one in *owned, which the caller
 * frees. Called without the GIL. */
int run_summary(struct run_object *self, const roast_summary **summary,
                roast_summary **owned, roast_error *err);

void run_close_file(struct run_object *self);

extern PyMethodDef file_methods[]; /* of the module */
extern PyMethodDef compare_methods[];
extern PyMethodDef export_methods[];

/* Methods of Run. */
PyObject *run_save(PyObject *self, PyObject *args);
PyObject *run_info(PyObject *self, PyObject *unused);
PyObject *run_failed_items(PyObject *self, PyObject *args);
PyObject *run_failed_fileset(PyObject *self, PyObject *args);
PyObject *run_set_note(PyObject *self, PyObject *args);
PyObject *run_note(PyObject *self, PyObject *args);
PyObject *run_notes(PyObject *self, PyObject *args);
PyObject *run_span(PyObject *self, PyObject *unused);
PyObject *run_export(PyObject *self, PyObject *args);
PyObject *run_anonymised(PyObject *self, PyObject *unused);
PyObject *run_live_metrics(PyObject *self, PyObject *unused);

#endif
