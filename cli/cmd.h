/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd.h - a command of the program, and its arguments.
 *
 * A command is one file, cmd_<name>.c, with one `const struct command`, and one row in
 * commands.def. Help and the parsing of options come from it. */
#ifndef ROAST_CLI_CMD_H
#define ROAST_CLI_CMD_H

#include <stdbool.h>
#include <stddef.h>

/* Stable; docs/man/roast.1.md has them. */
enum exit_code {
    CODE_OK = 0,
    CODE_NO = 1,         /* the answer is no: a check found problems */
    CODE_USAGE = 2,      /* the command line is wrong */
    CODE_UNREADABLE = 3, /* missing, no run file, damaged, newer */
    CODE_FAILED = 4,     /* anything else: no memory, cannot write */
    CODE_UNKNOWN = 5,    /* the answer is not known: a gate without enough data */
};

enum format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON };

struct option {
    const char *name;
    char letter;       /* 0: none */
    const char *value; /* as the help shows it; "a|b": one of these; NULL: a flag */
    const char *text;
};

#define FORMAT_OPTION(formats) \
    { \
        "format", 'f', formats, "how to write it; text if not given" \
    }

struct arguments;

struct command {
    const char *name;
    const char *operands;         /* as the usage line has them */
    const char *summary;          /* one line */
    const char *help;             /* more lines; NULL: none */
    const struct option *options; /* ended by a row without a name; NULL: none */
    size_t min_operands, max_operands;
    bool verbatim; /* everything after its name is an operand */
    int (*run)(const struct arguments *args);
};

/* What the user gave. Borrows argv. */
struct arguments {
    const struct command *command;
    char **operands;
    size_t operand_count;
    struct given *given; /* owned; in order */
    size_t given_count;
    bool help;
};

struct given {
    const struct option *option;
    const char *value; /* "" of a flag */
};

/* Fills args; 0, or an exit code after the reason was printed. */
int args_parse(struct arguments *args, const struct command *command, int argc,
               char **argv);
void args_release(struct arguments *args);

/* The value given last, NULL for none. */
const char *args_value(const struct arguments *args, const char *name);
enum format args_format(const struct arguments *args);

enum least { ABOVE_0, FROM_0 };

/* An option that is a number: 5, 0.5, 1e9. Fills *value, with `otherwise` where it was not
 * given. False after the reason was printed: not a number, or too small. */
bool args_number(const struct arguments *args, const char *name, enum least least,
                 double otherwise, double *value);

/* The word closest to a mistyped one, NULL if none is close. */
const char *nearest(const char *word, const char *const *words, size_t count);

extern const struct command *const commands[];
extern const size_t command_count;
void show_help(const struct command *command); /* NULL: of the program */

#endif
