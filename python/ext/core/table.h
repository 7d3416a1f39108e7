/* SPDX-License-Identifier: BSD-3-Clause */
/* table.h - tables of a run for Python: _core.Table and _core.Column. */
#ifndef ROAST_CORE_TABLE_H
#define ROAST_CORE_TABLE_H

#include "state.h"

extern PyType_Spec table_spec;
extern PyType_Spec column_spec;

/* Takes the reference to columns. */
PyObject *table_new(const struct core_state *state, roast_table *columns);

/* Holds the columns for itself. */
PyObject *column_new(const struct core_state *state, roast_table *columns,
                     size_t column);

/* Calls a function of roastcoffea.table. */
PyObject *call_table_function(const char *function, PyObject *argument);

/* One value of a column, None where not known. */
PyObject *column_value(const struct roast_table_column *column, size_t row);

/* The values of a column from one row to before another, None where not known. */
PyObject *column_values(const struct roast_table_column *column, size_t from,
                        size_t to);

/* A table of tables.def; called without the GIL. */
int run_columns(struct run_object *self, int table, roast_table **out,
                roast_error *err);

/* Methods of Run. */
PyObject *run_table(PyObject *self, PyObject *args);
PyObject *run_table_parts(PyObject *self, PyObject *args);
PyObject *run_samples(PyObject *self, PyObject *args);

#endif
