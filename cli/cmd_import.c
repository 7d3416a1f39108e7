/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_import.c - roast import: makes a run file from a measurement directory. */
#include "out.h"
#include "python.h"

static int import(const struct arguments *args)
{
    return python_import(args->operands[0], args_value(args, "output"), false);
}

static const struct option options[] = {
    {"output", 'o', "FILE", "run file; DIR/<name of DIR>.roast if not given"},
    {0},
};

const struct command cmd_import = {
    .name = "import",
    .operands = "DIR",
    .summary = "make a run file from a measurement directory",
    .help =
        "Takes directories of roastcoffea 0.1.2 too; a directory with a run.roast\n"
        "needs no import. An existing file is never overwritten. Prints the name of\n"
        "the new file. Starts the Python that this program was installed for.\n",
    .options = options,
    .min_operands = 1,
    .max_operands = 1,
    .run = import,
};
