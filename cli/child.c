/* SPDX-License-Identifier: BSD-3-Clause */
/* child.c - a command as a child process, which sees no difference.
 *
 * There is no signal handler: the signals are blocked in all threads, and taken one by
 * one while the command runs. */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"

static const int passed_on[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};

/* What would end this program, or hide the ends of children, is changed; the command has
 * it as it was. */
static const struct {
    int number;
    void (*here)(int);
} changed[CHILD_CHANGED] = {
    {SIGCHLD, SIG_DFL}, /* if ignored, children could not be waited for */
    {SIGPIPE, SIG_IGN}, /* nothing reads the summary */
    {SIGXFSZ, SIG_IGN}, /* a file becomes larger than is allowed */
};

void child_prepare(struct child *child)
{
    (void)sigemptyset(&child->taken);
    (void)sigaddset(&child->taken, SIGCHLD);
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
        (void)sigaddset(&child->taken, passed_on[i]);
    (void)sigprocmask(SIG_BLOCK, &child->taken, &child->mask);
    for (int i = 0; i < CHILD_CHANGED; i++) {
        const struct sigaction here = {.sa_handler = changed[i].here};
        (void)sigaction(changed[i].number, &here, &child->before[i]);
        if (changed[i].number == SIGPIPE) /* main() has changed it */
            child->before[i].sa_handler = sigpipe_at_start;
    }
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* since Linux 3.4 */
}

/* In the child: becomes the command, or reports why it cannot. */
static _Noreturn void become(const struct child *child, char **argv, int report)
{
    for (int i = 0; i < CHILD_CHANGED; i++)
        (void)sigaction(changed[i].number, &child->before[i], NULL);
    (void)sigprocmask(SIG_SETMASK, &child->mask, NULL);
    (void)execvp(argv[0], argv);
    int error = errno;
    _exit(write(report, &error, sizeof(error)) == sizeof(error) ? 127 : 126);
}

int child_start(struct child *child, char **argv)
{
    int report[2];
    int error = 0;

    if (pipe2(report, O_CLOEXEC) != 0)
        return errno;
    child->pid = fork();
    if (child->pid < 0)
        error = errno;
    if (child->pid == 0)
        become(child, argv, report[1]);
    (void)close(report[1]);
    /* ends with the pipe when the command begins */
    if (child->pid > 0 && read(report[0], &error, sizeof(error)) == sizeof(error))
        (void)waitpid(child->pid, NULL, 0);
    (void)close(report[0]);
    return error;
}

/* Takes the end of every child; returns whether it was that of the command. */
static bool has_ended(const struct child *child, int *status)
{
    bool found = false;
    int ended;
    pid_t pid;

    while ((pid = waitpid(-1, &ended, WNOHANG)) > 0) {
        if (pid != child->pid)
            continue;
        *status = ended;
        found = true;
    }
    return found;
}

/* The terminal sends its signals to the whole process group: si_code is that of the
 * kernel then, and 0 or less for those that a process has sent to this one. */
static bool has_reached_command(const siginfo_t *info)
{
    return info->si_code > 0 && (info->si_signo == SIGINT ||
                                 info->si_signo == SIGQUIT || info->si_signo == SIGHUP);
}

int child_wait(const struct child *child)
{
    siginfo_t info;
    int status = 0;

    while (!has_ended(child, &status)) {
        int number = sigwaitinfo(&child->taken, &info); /* -1: continued after a stop */
        if (number > 0 && number != SIGCHLD && !has_reached_command(&info))
            (void)kill(child->pid, number);
    }
    return status;
}

int child_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void child_end_alike(int status)
{
    const struct rlimit no_core = {0, 0};
    const struct sigaction normal = {.sa_handler = SIG_DFL};
    sigset_t one;

    if (!WIFSIGNALED(status))
        return;
    (void)setrlimit(RLIMIT_CORE, &no_core); /* that of the command is enough */
    (void)sigaction(WTERMSIG(status), &normal, NULL);
    (void)sigemptyset(&one);
    (void)sigaddset(&one, WTERMSIG(status));
    (void)sigprocmask(SIG_UNBLOCK, &one, NULL);
    (void)raise(WTERMSIG(status));
}
