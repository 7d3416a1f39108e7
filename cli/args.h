/* SPDX-License-Identifier: BSD-3-Clause */
/* args.h - the arguments of a command. */
#ifndef ROAST_CLI_ARGS_H
#define ROAST_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>

struct command;
struct option;

enum format {
#define F(NAME, name) FORMAT_##NAME,
#include "formats.def"
#undef F
};

/* The parsed command line. Borrows argv. */
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

#endif
