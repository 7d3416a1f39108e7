/* SPDX-License-Identifier: BSD-3-Clause */
/* args.h - the arguments of a command. */
#ifndef ROAST_CLI_ARGS_H
#define ROAST_CLI_ARGS_H

#include "roast/row_writer.h"

struct command;
struct option;

/* The parsed command line. Borrows argv. */
struct arguments {
    const struct command *command;
    char **operands; /* ended by NULL */
    size_t operand_count;
    struct given *given; /* owned; in order */
    size_t given_count;
    bool dashes; /* "--" ended the options */
    bool help;
};

struct given {
    const struct option *option;
    const char *value; /* "": a flag */
};

/* Fills args; returns 0, or an exit code after printing the reason. */
int args_parse(struct arguments *args, const struct command *command, int argc,
               char **argv);
void args_release(struct arguments *args);

/* The last value of an option; NULL: not given. */
const char *args_value(const struct arguments *args, const char *name);
enum roast_format args_format(const struct arguments *args);

enum least { ABOVE_0, FROM_0 };

/* A numeric option: 5, 0.5, 1e9. Fills *value, with `otherwise` where it is not given.
 * Returns false after printing the reason: not a number, or too small. */
bool args_number(const struct arguments *args, const char *name, enum least least,
                 double otherwise, double *value);

#endif
