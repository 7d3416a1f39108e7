/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_import.c - roast import: a measurement directory becomes a run file, in Python. */
#include "out.h"
#include "python.h"

static int import(const struct arguments *args)
{
    return python_import(args->operands[0], args_value(args, "output"), false);
}

static const struct option options[] = {
    {"output", 'o', "FILE", "where to; DIR/<name of DIR>.roast if not given"},
    {0},
};

const struct command cmd_import = {
    .name = "import",
    .operands = "DIR",
    .summary = "make a run file of a measurement directory",
    .help =
        "Takes directories of roastcoffea 0.1.2 too; one that has a run.roast needs\n"
        "none. An existing file is never overwritten. Prints the name of what it\n"
        "wrote. Starts the Python that this program was installed for.\n",
    .options = options,
    .min_operands = 1,
    .max_operands = 1,
    .run = import,
};
