/* SPDX-License-Identifier: BSD-3-Clause */
/* python.h - the Python that belongs to this program. */
#ifndef ROAST_CLI_PYTHON_H
#define ROAST_CLI_PYTHON_H

/* Becomes Python with these arguments, ended by NULL (the first one is replaced by its
 * name). Returns only where there is none. */
void become_python(char **argv);

/* Runs it so, without its errors; its exit code, or -1 where it could not be run. */
int run_python(char **argv);

#endif
