/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - the program `roast`: finds the command and runs it.
 *
 * Nothing is done before the command is known, so that `roast report` is fast. */
#include <signal.h>
#include <string.h>

#include "out.h"
#include "roast/version.h"

#define C(name) extern const struct command cmd_##name;
#include "commands.def"
#undef C

const struct command *const commands[] = {
#define C(name) &cmd_##name,
#include "commands.def"
#undef C
};
const size_t command_count = sizeof(commands) / sizeof(commands[0]);

void (*sigpipe_at_start)(int);

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < command_count; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[sizeof(commands) / sizeof(commands[0])];

    for (size_t i = 0; i < command_count; i++)
        names[i] = commands[i]->name;
    return fail_unknown("command", name, names, command_count, "see roast --help");
}

static int help_of(const struct arguments *args)
{
    const struct command *command = NULL;

    if (args->operand_count > 0) {
        command = find_command(args->operands[0]);
        if (!command)
            return unknown_command(args->operands[0]);
    }
    show_help(command);
    return CODE_OK;
}

const struct command cmd_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "what a command does",
    .max_operands = 1,
    .run = help_of,
};

static int run_program(int argc, char **argv)
{
    struct arguments args;

    if (argc < 2) {
        show_help(NULL);
        return CODE_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        show_help(NULL);
        return CODE_OK;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        out_text("roast " ROAST_VERSION "\n");
        return CODE_OK;
    }
    if (argv[1][0] == '-')
        return fail(CODE_USAGE, argv[1], "no such option; see roast --help");
    const struct command *command = find_command(argv[1]);
    if (!command)
        return unknown_command(argv[1]);
    int code = args_parse(&args, command, argc - 2, argv + 2);
    if (code == CODE_OK && args.help)
        show_help(command);
    else if (code == CODE_OK)
        code = command->run(&args);
    args_release(&args);
    return code;
}

int main(int argc, char **argv)
{
    /* children of Python inherit that it is ignored */
    sigpipe_at_start = signal(SIGPIPE, SIG_DFL);
    int code = run_program(argc, argv);
    int written = out_finish();

    return code == CODE_OK ? written : code;
}
