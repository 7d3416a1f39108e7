/* SPDX-License-Identifier: BSD-3-Clause */
/* python.c - the Python that belongs to this program.
 *
 * It is ROAST_PYTHON, or the python3 in the folder of the program: a wheel installs the
 * program next to the interpreter that has our package. Otherwise it is the first python3
 * of PATH. */
#include "python.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "out.h"

/* Fills the path of python3 in the folder of the program; false: there is none. */
static bool find_installed_python(char out[PATH_MAX])
{
    static const char name[] = "python3";
    ssize_t size = readlink("/proc/self/exe", out, PATH_MAX - sizeof(name));

    if (size <= 0)
        return false;
    out[size] = '\0';
    char *slash = strrchr(out, '/');
    if (!slash)
        return false;
    memcpy(slash + 1, name, sizeof(name));
    return access(out, X_OK) == 0;
}

void exec_python(char **argv)
{
    char path[PATH_MAX];
    char *named = getenv("ROAST_PYTHON");

    if (argv[0]) {
        (void)execvp(argv[0], argv);
        return;
    }
    if (named && *named) {
        argv[0] = named;
        (void)execvp(named, argv);
    }
    if (find_installed_python(path)) {
        argv[0] = path;
        (void)execv(path, argv);
    }
    argv[0] = (char[]){"python3"};
    (void)execvp(argv[0], argv);
}

int run_python(char **argv, int silent_fd)
{
    int status = 0;
    pid_t child;

    (void)fflush(stdout);
    child = fork();
    if (child < 0)
        return -1;
    if (child == 0) {
        int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (null_fd >= 0 && silent_fd >= 0)
            (void)dup2(null_fd, silent_fd);
        exec_python(argv);
        _exit(127);
    }
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

/* The exit code of Python, which has printed the reason of a failure. */
static int run_command(const char *command, char **argv, int silent_fd)
{
    int code = run_python(argv, silent_fd);

    if (code < 0 || code == 127)
        return fail(CODE_FAILED, command,
                    "no Python found; install roastcoffea, or set ROAST_PYTHON");
    return code == 1 ? CODE_FAILED : code;
}

/* -P: modules in the current folder do not shadow those of Python. */
int python_import(const char *dir, const char *output, bool quiet)
{
    static char words[][16] = {"-P", "-m", "roastcoffea", "import", "-o", "--"};
    char *argv[10] = {NULL, words[0], words[1], words[2], words[3]};
    size_t count = 5;

    if (output) {
        argv[count++] = words[4];
        argv[count++] = (char *)output;
    }
    argv[count++] = words[5];
    argv[count++] = (char *)dir;
    argv[count] = NULL;
    return run_command("import", argv, quiet ? STDOUT_FILENO : -1);
}

int python_export(const char *run, const char *format, const char *folder,
                  bool anonymise)
{
    static char words[][32] = {"-P", "-m", "roastcoffea.export.columns", "--anonymise",
                               "--"};
    char *argv[10] = {NULL, words[0], words[1], words[2]};
    size_t count = 4;

    if (anonymise)
        argv[count++] = words[3];
    argv[count++] = words[4];
    argv[count++] = (char *)run;
    argv[count++] = (char *)format;
    argv[count++] = (char *)folder;
    argv[count] = NULL;
    return run_command("export", argv, -1);
}
