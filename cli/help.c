/* SPDX-License-Identifier: BSD-3-Clause */
/* help.c - the help texts, made from the structs of the commands. */
#include <string.h>

#include "out.h"

enum { NAME_COLUMNS = 10, OPTION_COLUMNS = 26 };

static void show_program(void)
{
    out_bold("usage: roast COMMAND ...\n");
    out_text(
        "\nWhere the time, the memory and the bytes of a coffea analysis went.\n\n");
    for (size_t i = 0; i < command_count; i++) {
        out_format("  %-*s%s\n", NAME_COLUMNS, commands[i]->name, commands[i]->summary);
    }
    out_text("\nRUN is a .roast or .roast-live file, or a folder that holds one.\n"
             "roast help COMMAND has more; roast --version prints the version.\n");
}

static void show_option(const struct option *option)
{
    size_t used = strlen(option->name) + 2;

    if (option->letter)
        out_format("  -%c, --%s", option->letter, option->name);
    else
        out_format("      --%s", option->name);
    if (option->value) {
        out_format(" %s", option->value);
        used += 1 + strlen(option->value);
    }
    if (used >= OPTION_COLUMNS) {
        out_text("\n      ");
        used = 0;
    }
    out_blanks(OPTION_COLUMNS - used);
    out_format("%s\n", option->text);
}

void show_help(const struct command *command)
{
    if (!command) {
        show_program();
        return;
    }
    out_format("usage: roast %s%s%s%s\n\n%s\n", command->name,
               command->options ? " [OPTIONS]" : "", *command->operands ? " " : "",
               command->operands, command->summary);
    if (command->help)
        out_format("\n%s", command->help);
    if (command->options)
        out_text("\n");
    for (const struct option *o = command->options; o && o->name; o++)
        show_option(o);
}
