/* SPDX-License-Identifier: BSD-3-Clause */
/* file.h - runs that last: what the files of the extension need of file.c.
 *
 * A run that was opened reads its bulk when somebody asks for it. Whoever needs attempts
 * or samples calls run_load() first; whoever needs the summary takes the saved one. */
#ifndef ROAST_CORE_FILE_H
#define ROAST_CORE_FILE_H

#include "state.h"

/* Loads attempts and samples of an opened run, once; nothing to do for one that is
 * collected here. -1 with an exception. */
int run_load(struct run_object *self);

/* The summary that was saved, or one made now. Borrowed from the file where *owned stays
 * NULL; else *owned is to be freed. To be called without the GIL. */
int run_summary(struct run_object *self, const roast_summary **summary,
                roast_summary **owned, roast_error *err);

void run_close_file(struct run_object *self);

extern PyMethodDef file_methods[]; /* of the module */
extern PyMethodDef compare_methods[];

/* Methods of Run. */
PyObject *run_save(PyObject *self, PyObject *args);
PyObject *run_info(PyObject *self, PyObject *unused);
PyObject *run_failed_fileset(PyObject *self, PyObject *unused);
PyObject *run_set_note(PyObject *self, PyObject *args);
PyObject *run_note(PyObject *self, PyObject *args);
PyObject *run_notes(PyObject *self, PyObject *args);
PyObject *run_span(PyObject *self, PyObject *unused);

#endif
