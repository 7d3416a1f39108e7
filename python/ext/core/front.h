/* SPDX-License-Identifier: BSD-3-Clause */
/* front.h - what scripts written for 0.1.2 compute, as functions of roastcoffea._core.
 *
 * Plain Python objects in and out. A value that is None counts as not given: our own
 * records say so where 0.1.2 always had a number. Numbers that are only added keep
 * their type (an int stays an exact int); derived ones are C doubles. */
#ifndef ROAST_EXT_FRONT_H
#define ROAST_EXT_FRONT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stddef.h>

/* The functions of each file, ended by a NULL row. */
extern PyMethodDef front_workflow_methods[];
extern PyMethodDef front_chunk_methods[];
extern PyMethodDef front_branch_methods[];
extern PyMethodDef front_fine_methods[];
extern PyMethodDef front_worker_methods[];
extern PyMethodDef front_name_methods[];

/* ---- front_support.c ---------------------------------------------------------- */

/* mapping[key] as a new reference: 1; 0 with *out NULL when it is absent; -1 with an
 * exception. */
int front_find(PyObject **out, PyObject *mapping, const char *key);

/* The same, but None is absent too. */
int front_get(PyObject **out, PyObject *mapping, const char *key);

/* The same as a double; *out keeps what it held when there is no value. */
int front_get_double(double *out, PyObject *mapping, const char *key);

/* dict[key] = value, taking the reference; value NULL is an earlier failure. */
int front_set(PyObject *dict, const char *key, PyObject *value);

/* *total += value, as Python adds. *total NULL is an earlier failure. */
int front_add(PyObject **total, PyObject *value);

/* Adds mapping[key], if it is there. */
int front_add_from(PyObject **total, PyObject *mapping, const char *key);

int front_double(double *out, PyObject *number);

/* value / by where by is a positive number, else 0 (so did 0.1.2). */
double front_ratio(double value, double by);

/* ---- tally: statistics of numbers as they come ------------------------------- */

/* Zeroed = empty. The sum is compensated, so that a million chunks add up. */
struct tally {
    size_t count;
    double sum;
    double lost;    /* what rounding took from sum */
    double mean;    /* of Welford's method, for squares only */
    double squares; /* sum of squared differences from the mean */
    PyObject *low;  /* owned, as it was given; NULL while empty */
    PyObject *high;
    double low_value;
    double high_value;
};

int tally_add(struct tally *tally, PyObject *number);
int tally_add_from(struct tally *tally, PyObject *mapping, const char *key);
double tally_sum(const struct tally *tally);
double tally_mean(const struct tally *tally); /* 0 while empty */
double tally_std(const struct tally *tally);  /* n - 1; 0 below two values */
void tally_release(struct tally *tally);

#endif
