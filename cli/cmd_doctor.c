/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_doctor.c - roast doctor: what can be measured on this machine.
 *
 * C code checks the machine; the Python that has coffea and uproot checks their entry
 * points (python/roastcoffea/doctor.py) and writes its own lines. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "out.h"
#include "python.h"
#include "roast/doctor.h"
#include "roast/runfile.h"
#include "roast/version.h"

enum { NAME_COLUMNS = 28 };

static void put_line(void *context, const struct roast_doctor_line *line)
{
    static const char *const marks[] = {[ROAST_DOCTOR_FACT] = "    ",
                                        [ROAST_DOCTOR_YES] = "yes ",
                                        [ROAST_DOCTOR_NO] = "NO  "};
    size_t size = strlen(line->name);

    (void)context;
    out_text("  ");
    out_text(marks[line->kind]);
    out_text(line->name);
    out_blanks(size < NAME_COLUMNS ? NAME_COLUMNS - size : 1);
    out_data(roast_str_of(line->found));
    if (*line->lost)
        out_format("; not known: %s", line->lost);
    out_text("\n");
}

static int doctor(const struct arguments *args)
{
    const char *scratch = getenv("TMPDIR");
    struct roast_doctor_roots roots = {.scratch = scratch && *scratch ? scratch : NULL};
    const struct roast_doctor_line versions[] = {
        {ROAST_DOCTOR_FACT, "roast", ROAST_VERSION, ""},
        {ROAST_DOCTOR_FACT, "SQLite", roast_runfile_sqlite_version(), ""},
    };
    static char words[][24] = {"", "-P", "-m", "roastcoffea.doctor"};
    char *argv[] = {NULL, words[1], words[2], words[3], NULL};

    (void)args;
    out_bold("This machine");
    out_text("\n");
    put_line(NULL, &versions[0]);
    put_line(NULL, &versions[1]);
    roast_doctor(&roots, put_line, NULL);
    out_text("\n");
    out_bold("Python");
    out_text("\n");
    if (run_python(argv, STDERR_FILENO) != 0)
        out_text("  hooks: not checked, no Python with roastcoffea next to this "
                 "program\n");
    return CODE_OK;
}

const struct command cmd_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = "what can be measured on this machine",
    .help = "Checks the kernel, control groups, clocks and limits, and with Python\n"
            "which entry points of coffea and uproot are there (docs/hooks.md).\n",
    .run = doctor,
};
