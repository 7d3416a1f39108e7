/* SPDX-License-Identifier: BSD-3-Clause */
/* python_command.c - Python that runs a script, turned into Python that measures it.
 *
 *     python -u -X dev script.py a b
 *     python -u -X dev -m roastcoffea run -o runs script.py a b */
#include "python_command.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "out.h"
#include "python.h"
#include "roast/version.h"

enum { MORE_WORDS = 8 }; /* -m roastcoffea run, -m or -c, NULL */

static char monitor_words[][16] = {"-m", "roastcoffea", "run"};

/* Appends "-m roastcoffea run" and the options that were given; returns the new count. */
static size_t put_monitor(char **argv, size_t count, const struct arguments *args)
{
    static char flags[][3] = {"-o", "-i", "-l", "-p", "-q"};

    for (size_t i = 0; i < 3; i++)
        argv[count++] = monitor_words[i];
    for (size_t i = 0; i < args->given_count; i++) {
        const struct given *given = &args->given[i];
        size_t flag = 0;
        while (flags[flag][1] != given->option->letter)
            flag++;
        argv[count++] = flags[flag];
        if (given->option->value)
            argv[count++] = (char *)given->value;
    }
    return count;
}

static char **new_words(const struct arguments *args)
{
    size_t count = args->operand_count + 2 * args->given_count + MORE_WORDS;

    return need_memory(NULL, count * sizeof(char *));
}

void exec_script(const struct arguments *args)
{
    char **argv = new_words(args);

    argv[0] = NULL;
    size_t count = put_monitor(argv, 1, args);
    memcpy(argv + count, args->operands, (args->operand_count + 1) * sizeof(*argv));
    exec_python(argv);
    free(argv);
}

/* ---- is it Python? --------------------------------------------------------------- */

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* "python", "python3.11", "python3.13t"; not "python3-config". */
static bool is_python_name(const char *name)
{
    if (strncmp(name, "python", 6) != 0)
        return false;
    name += 6;
    name += strspn(name, "0123456789.");
    return *name == '\0' || ((*name == 'd' || *name == 't') && name[1] == '\0');
}

/* Fills the path of a program as execvp() finds it; false: not found. */
static bool find_program(char out[PATH_MAX], const char *name)
{
    const char *path = getenv("PATH");

    if (strchr(name, '/'))
        return snprintf(out, PATH_MAX, "%s", name) < PATH_MAX;
    for (; path && *path; path += strcspn(path, ":"), path += *path == ':') {
        int size =
            snprintf(out, PATH_MAX, "%.*s/%s", (int)strcspn(path, ":"), path, name);
        if (size < PATH_MAX && access(out, X_OK) == 0)
            return true;
    }
    return false;
}

static bool is_python(const char *program)
{
    char path[PATH_MAX], real[PATH_MAX];

    return is_python_name(base_of(program)) ||
           (find_program(path, program) && realpath(path, real) &&
            is_python_name(base_of(real)));
}

/* ---- what does it run? ----------------------------------------------------------- */

/* Where the options of Python end. */
struct work {
    size_t options; /* words that are options, the program included */
    char *flag;     /* "-m" or "-c"; NULL: a script */
    size_t rest;    /* the first word after it */
    char *attached; /* the value of the flag, where it is in the same word */
    char *cut;      /* where that letter was, in a word like "-um" */
};

/* Finds the flag or the script; false: there is none, or Python is to do something else.
 * The word with the flag is cut to the options before it. */
static bool find_work(struct work *work, char **argv)
{
    static char flags[][3] = {"-c", "-m"};

    for (size_t i = 1; argv[i]; i++) {
        char *word = argv[i];
        if (word[0] != '-') {
            *work = (struct work){.options = i, .rest = i};
            return true;
        }
        if (word[1] == '\0' || word[1] == '-')
            return false; /* standard input, --help ... */
        for (char *letter = word + 1; *letter; letter++) {
            if (strchr("hiV?", *letter)) /* -i: a session follows */
                return false;
            if (*letter == 'W' || *letter == 'X') {
                i += letter[1] == '\0';
                if (!argv[i])
                    return false;
                break;
            }
            if (*letter != 'c' && *letter != 'm')
                continue;
            *work = (struct work){.options = i + (letter > word + 1),
                                  .flag = flags[*letter == 'm'],
                                  .rest = i + 1,
                                  .attached = letter[1] ? letter + 1 : NULL,
                                  .cut = letter};
            if (!work->attached && !argv[work->rest])
                return false;
            *letter = '\0';
            return true;
        }
    }
    return false;
}

/* Whether Python, started with these options, has this very roastcoffea. */
static bool has_package(char **argv, const struct work *work, char **room)
{
    static char flag[] = "-c";
    static char text[] = "import roastcoffea, sys; "
                         "sys.exit(roastcoffea.__version__ != '" ROAST_VERSION "')";

    memcpy(room, argv, work->options * sizeof(*room));
    room[work->options] = flag;
    room[work->options + 1] = text;
    room[work->options + 2] = NULL;
    return run_python(room, STDERR_FILENO) == 0;
}

void exec_python_command(const struct arguments *args)
{
    char **operands = args->operands;
    struct work work;

    if (!is_python(operands[0]) || !find_work(&work, operands))
        return;
    char **argv = new_words(args);
    if (!has_package(operands, &work, argv)) {
        note(operands[0],
             "it has no roastcoffea " ROAST_VERSION ": measured as any other program");
        if (work.cut)
            *work.cut = work.flag[1];
    } else {
        memcpy(argv, operands, work.options * sizeof(*argv));
        size_t count = put_monitor(argv, work.options, args);
        if (work.flag)
            argv[count++] = work.flag;
        if (work.attached)
            argv[count++] = work.attached;
        memcpy(argv + count, operands + work.rest,
               (args->operand_count - work.rest + 1) * sizeof(*argv));
        exec_python(argv);
    }
    free(argv);
}
