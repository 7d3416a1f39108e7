/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd.h - a command of the program.
 *
 * A command is one file, cmd_<name>.c, with one `const struct command`, and one row in
 * commands.def. Help and the parsing of options come from it. */
#ifndef ROAST_CLI_CMD_H
#define ROAST_CLI_CMD_H

#include "args.h"

/* Stable; docs/man/roast.1.md has them. */
enum exit_code {
    CODE_OK = 0,
    CODE_NO = 1,         /* a check found problems, or a run is worse */
    CODE_USAGE = 2,      /* the command line is wrong */
    CODE_UNREADABLE = 3, /* missing, no run file, damaged, newer */
    CODE_FAILED = 4,     /* anything else: no memory, cannot write */
    CODE_UNKNOWN = 5,    /* no result: not enough data to compare */
};

struct option {
    const char *name;
    char letter;       /* 0: none */
    const char *value; /* as the help shows it; "a|b": one of these; NULL: a flag */
    const char *text;
};

#define FORMAT_OPTION(formats) \
    { \
        "format", 'f', formats, "output format; text if not given" \
    }

/* All formats of rows, as the value of that option: "text|csv|json". */
static const char row_formats[] =
#define F(NAME, name) "|" #name
#include "roast/row_formats.def"
#undef F
    ;
#define ROW_FORMATS (&row_formats[1])

struct command {
    const char *name;
    const char *operands;         /* as the usage line has them */
    const char *summary;          /* one line */
    const char *help;             /* more lines; NULL: none */
    const struct option *options; /* up to a row without a name; NULL: none */
    size_t min_operands, max_operands;
    bool verbatim; /* everything after its first operand is an operand */
    int (*run)(const struct arguments *args);
};

/* The word closest to a mistyped one, NULL if none is close. */
const char *closest_word(const char *word, const char *const *words, size_t count);

/* Prints "no such KIND", with the closest name or `help`; returns CODE_USAGE. */
int fail_unknown(const char *kind, const char *name, const char *const *names,
                 size_t count, const char *help);

/* What SIGPIPE did when the program began; commands that are started have it again. */
extern void (*sigpipe_at_start)(int);

extern const struct command *const commands[];
extern const size_t command_count;
void show_help(const struct command *command); /* NULL: of the program */

#endif
