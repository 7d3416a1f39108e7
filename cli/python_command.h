/* SPDX-License-Identifier: BSD-3-Clause */
/* python_command.h - Python that runs a script, turned into Python that measures it. */
#ifndef ROAST_CLI_PYTHON_COMMAND_H
#define ROAST_CLI_PYTHON_COMMAND_H

#include "args.h"

/* Replaces this process by "python -m roastcoffea run OPTIONS SCRIPT ...", with the Python
 * that belongs to this program. Returns only where there is none. */
void exec_script(const struct arguments *args);

/* The same for the operands "python [OPTIONS] SCRIPT ...", "... -m MODULE" and "... -c
 * TEXT", with that Python. Returns where they are something else, or where it has not
 * this very roastcoffea, which is noted. */
void exec_python_command(const struct arguments *args);

#endif
