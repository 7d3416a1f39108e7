/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_run.c - roast run: runs a script in Python, measured. */
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "python.h"

static int run(const struct arguments *args)
{
    static char words[][16] = {"-m", "roastcoffea", "run"};
    char **argv = need_memory(NULL, (args->operand_count + 5) * sizeof(*argv));

    argv[0] = NULL;
    for (size_t i = 0; i < 3; i++)
        argv[i + 1] = words[i];
    memcpy(argv + 4, args->operands, args->operand_count * sizeof(*argv));
    argv[args->operand_count + 4] = NULL;
    exec_python(argv);
    free(argv);
    return fail(CODE_FAILED, "run",
                "no Python found; install roastcoffea, or set ROAST_PYTHON");
}

const struct command cmd_run = {
    .name = "run",
    .operands = "[OPTIONS] SCRIPT [ARGUMENTS]",
    .summary = "run a Python script and measure it, unchanged",
    .help =
        "Starts \"python -m roastcoffea run\" with the Python that this program was\n"
        "installed for. Options:\n"
        "  -o, --output-dir DIR     write a measurement directory there\n"
        "  -i, --interval SECONDS   of sampling; 1 if not given\n"
        "  -l, --label KEY=VALUE    a label of the run; may be repeated\n"
        "  -p, --progress           show a live line\n"
        "  -q, --quiet              print no summary\n",
    .min_operands = 1,
    .max_operands = (size_t)-1,
    .verbatim = true,
    .run = run,
};
