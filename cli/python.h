/* SPDX-License-Identifier: BSD-3-Clause */
/* python.h - the Python that belongs to this program. */
#ifndef ROAST_CLI_PYTHON_H
#define ROAST_CLI_PYTHON_H

/* Replaces this program by Python with these arguments, ended by NULL (the first one is
 * set to its name). Returns only where there is no Python. */
void become_python(char **argv);

/* Runs it as a child, without standard error; returns its exit code, or -1 where it could
 * not be run. */
int run_python(char **argv);

#endif
