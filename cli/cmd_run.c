/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_run.c - roast run: runs a script in Python, or any command, measured. */
#include "out.h"
#include "python_command.h"
#include "run_command.h"

static int run(const struct arguments *args)
{
    if (args->dashes) {
        exec_python_command(args);
        return run_command(args);
    }
    exec_script(args);
    return fail(CODE_FAILED, "run",
                "no Python found; install roastcoffea, or set ROAST_PYTHON");
}

static const struct option options[] = {
    {"output-dir", 'o', "DIR", "write the run there"},
    {"interval", 'i', "SECONDS", "of sampling; 1 if not given"},
    {"label", 'l', "KEY=VALUE", "a label of the run; may be repeated"},
    {"progress", 'p', NULL, "show a live line (Python scripts)"},
    {"quiet", 'q', NULL, "print no summary"},
    {0},
};

const struct command cmd_run = {
    .name = "run",
    .operands = "SCRIPT ... | -- COMMAND ...",
    .summary = "run a Python script or any command and measure it, unchanged",
    .help =
        "A script is started by \"python -m roastcoffea run\" with the Python that "
        "this\n"
        "program was installed for: of a coffea analysis all is measured. So is one "
        "of\n"
        "\"-- python SCRIPT\", with that Python. Of any other command CPU, memory, "
        "I/O\n"
        "and what the system counted are measured, without Python. The exit code is\n"
        "that of the script or command; a signal that ended it ends roast too.\n",
    .options = options,
    .min_operands = 1,
    .max_operands = (size_t)-1,
    .verbatim = true,
    .run = run,
};
