/* SPDX-License-Identifier: BSD-3-Clause */
/* python.h - the Python that belongs to this program. */
#ifndef ROAST_CLI_PYTHON_H
#define ROAST_CLI_PYTHON_H

#include <stdbool.h>

/* Becomes Python with these arguments, ended by NULL (the first one is replaced by its
 * name). Returns only where there is none. */
void become_python(char **argv);

/* Runs it so, with one of its standard streams closed to the user; its exit code, or -1
 * where it could not be run. */
int run_python(char **argv, int silent_fd);

/* Makes a run file of a measurement directory, beside it if output is NULL; 0, or an exit
 * code after the reason was told. Prints the name of the file unless it is quiet. */
int python_import(const char *dir, const char *output, bool quiet);

#endif
