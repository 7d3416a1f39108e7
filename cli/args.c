/* SPDX-License-Identifier: BSD-3-Clause */
/* args.c - options and operands, in any order.
 *
 *     --name value   --name=value   -n value   -nvalue   --   ends the options
 *
 * Not getopt_long: it prints its own messages, accepts abbreviations that a later option
 * would break, and cannot check values that are one of a few words. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "out.h"

enum { MAX_WORDS = 24 };

static const struct option *find_option(const struct command *command, const char *name,
                                        size_t size, bool is_long)
{
    for (const struct option *o = command->options; o && o->name; o++) {
        if (is_long ? strlen(o->name) == size && memcmp(o->name, name, size) == 0
                    : o->letter == name[0])
            return o;
    }
    return NULL;
}

static int unknown_option(const struct command *command, const char *text)
{
    const char *names[MAX_WORDS] = {"help"};
    char name[64];
    size_t count = 1;
    size_t size = strcspn(text, "=");

    for (const struct option *o = command->options; o && o->name; o++)
        if (count < MAX_WORDS)
            names[count++] = o->name;
    size = size < sizeof(name) - 1 ? size : sizeof(name) - 1;
    memcpy(name, text, size);
    name[size] = '\0';
    const char *closest = closest_word(name + strspn(name, "-"), names, count);
    if (closest)
        return fail(CODE_USAGE, command->name, "no option %s; did you mean --%s?", name,
                    closest);
    return fail(CODE_USAGE, command->name, "no option %s; see roast %s --help", name,
                command->name);
}

/* Whether value is one of the words of "a|b|c". */
static bool is_one_of(const char *words, const char *value)
{
    size_t size = strlen(value);

    for (const char *word = words; word; word = strchr(word, '|')) {
        word += *word == '|';
        if (size > 0 && strcspn(word, "|") == size && memcmp(word, value, size) == 0)
            return true;
    }
    return false;
}

/* Parses the option at argv[*index], and its value. */
static int parse_option(struct arguments *args, int argc, char **argv, int *index)
{
    const char *text = argv[*index];
    bool is_long = text[1] == '-';
    const char *name = text + (is_long ? 2 : 1);
    size_t size = is_long ? strcspn(name, "=") : 1;
    const struct option *option = find_option(args->command, name, size, is_long);
    const char *value = name[size] ? name + size + (is_long ? 1 : 0) : NULL;

    if (!option)
        return unknown_option(args->command, text);
    if (!option->value && value)
        return fail(CODE_USAGE, args->command->name, "--%s takes no value",
                    option->name);
    if (option->value && !value) {
        if (*index + 1 >= argc)
            return fail(CODE_USAGE, args->command->name, "--%s needs a value: %s",
                        option->name, option->value);
        value = argv[++*index];
    }
    value = value ? value : "";
    if (option->value && strchr(option->value, '|') && !is_one_of(option->value, value))
        return fail(CODE_USAGE, args->command->name, "--%s cannot be \"%s\"; one of %s",
                    option->name, value, option->value);
    args->given[args->given_count++] = (struct given){option, value};
    return CODE_OK;
}

int args_parse(struct arguments *args, const struct command *command, int argc,
               char **argv)
{
    bool options_end = false;
    int status = CODE_OK;

    *args = (struct arguments){.command = command, .operands = argv};
    args->given = need_memory(NULL, ((size_t)argc + 1) * sizeof(*args->given));
    for (int i = 0; i < argc && status == CODE_OK; i++) {
        const char *text = argv[i];
        bool is_operand = options_end || text[0] != '-' || text[1] == '\0';
        if (!is_operand && (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0))
            args->help = true;
        else if (is_operand) {
            args->operands[args->operand_count++] = argv[i]; /* never ahead of i */
            options_end = options_end || command->verbatim;
        } else if (strcmp(text, "--") == 0)
            options_end = args->dashes = true;
        else
            status = parse_option(args, argc, argv, &i);
    }
    args->operands[args->operand_count] = NULL; /* argv ends with one, too */
    if (status != CODE_OK || args->help)
        return status;
    if (args->operand_count < command->min_operands)
        return fail(CODE_USAGE, command->name,
                    "an operand is missing; usage: roast %s %s", command->name,
                    command->operands);
    if (args->operand_count > command->max_operands)
        return fail(
            CODE_USAGE, command->name, "unexpected operand \"%s\"; usage: roast %s %s",
            args->operands[command->max_operands], command->name, command->operands);
    return CODE_OK;
}

void args_release(struct arguments *args)
{
    free(args->given);
    args->given = NULL;
}

const char *args_value(const struct arguments *args, const char *name)
{
    for (size_t i = args->given_count; i-- > 0;)
        if (strcmp(args->given[i].option->name, name) == 0)
            return args->given[i].value;
    return NULL;
}

enum roast_format args_format(const struct arguments *args)
{
    const char *value = args_value(args, "format");
    int format = value ? ROAST_FORMAT_COUNT : 1;

    while (--format > 0) {
        if (strcmp(value, roast_format_name((enum roast_format)format)) == 0)
            break;
    }
    return (enum roast_format)format;
}

bool args_number(const struct arguments *args, const char *name, enum least least,
                 double otherwise, double *value)
{
    const char *text = args_value(args, name);
    char *end = NULL;

    *value = otherwise;
    if (!text)
        return true;
    *value = strtod(text, &end);
    bool fits = least == FROM_0 ? *value >= 0 : *value > 0;
    if (end != text && *end == '\0' && isfinite(*value) && fits)
        return true;
    (void)fail(CODE_USAGE, args->command->name, "--%s cannot be \"%s\": a number %s",
               name, text, least == FROM_0 ? "of at least 0" : "above 0");
    return false;
}
