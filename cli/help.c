/* SPDX-License-Identifier: BSD-3-Clause */
/* help.c - help, made from the structs of the commands. */
#include <string.h>

#include "out.h"

enum { NAME_COLUMNS = 10, OPTION_COLUMNS = 26 };

static void put_padded(const char *text, size_t columns)
{
    size_t size = strlen(text);

    out_text(text);
    out_blanks(size < columns ? columns - size : 1);
}

static void show_program(void)
{
    out_bold("usage: roast COMMAND ...\n");
    out_text(
        "\nWhere the time, the memory and the bytes of a coffea analysis went.\n\n");
    for (size_t i = 0; i < command_count; i++) {
        out_text("  ");
        put_padded(commands[i]->name, NAME_COLUMNS);
        out_text(commands[i]->summary);
        out_text("\n");
    }
    out_text("\nRUN is a .roast or .roast-live file, or a folder that holds one.\n"
             "roast help COMMAND says more; roast --version tells the version.\n");
}

static void show_option(const struct option *option)
{
    size_t used = strlen(option->name) + 2;

    out_text("  ");
    if (option->letter)
        out_format("-%c, ", option->letter);
    else
        out_text("    ");
    out_format("--%s", option->name);
    if (option->value) {
        out_format(" %s", option->value);
        used += 1 + strlen(option->value);
    }
    if (used >= OPTION_COLUMNS) {
        out_text("\n      ");
        used = 0;
    }
    out_blanks(OPTION_COLUMNS - used);
    out_text(option->text);
    out_text("\n");
}

void show_help(const struct command *command)
{
    if (!command) {
        show_program();
        return;
    }
    out_format("usage: roast %s%s%s%s\n\n", command->name,
               command->options ? " [OPTIONS]" : "", *command->operands ? " " : "",
               command->operands);
    out_text(command->summary);
    out_text("\n");
    if (command->help) {
        out_text("\n");
        out_text(command->help);
    }
    if (command->options)
        out_text("\n");
    for (const struct option *o = command->options; o && o->name; o++)
        show_option(o);
}
