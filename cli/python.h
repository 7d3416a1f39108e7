/* SPDX-License-Identifier: BSD-3-Clause */
/* python.h - the Python that belongs to this program. */
#ifndef ROAST_CLI_PYTHON_H
#define ROAST_CLI_PYTHON_H

#include <stdbool.h>

/* Replaces this process by Python with these arguments, ended by NULL: by argv[0], or, if
 * that is NULL, by the Python that belongs to this program, whose name it is set to.
 * Returns only where it was not found. */
void exec_python(char **argv);

/* Runs Python as a child, with one of its standard streams discarded (-1: none); returns
 * its exit code, or -1 where it could not be run. */
int run_python(char **argv, int silent_fd);

/* Makes a run file from a measurement directory, inside it if output is NULL; returns 0,
 * or an exit code after printing the reason. Prints the name of the file unless quiet. */
int python_import(const char *dir, const char *output, bool quiet);

/* Writes a run to a folder in a format that Python writes; returns the same. */
int python_export(const char *run, const char *format, const char *folder,
                  bool anonymise);

#endif
