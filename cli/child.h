/* SPDX-License-Identifier: BSD-3-Clause */
/* child.h - a command as a child process, which sees no difference.
 *
 * It stays in the process group and at the terminal of this program: keys such as Ctrl-C
 * and Ctrl-Z reach it directly. */
#ifndef ROAST_CLI_CHILD_H
#define ROAST_CLI_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

enum { CHILD_CHANGED = 3 };

struct child {
    pid_t pid;
    sigset_t taken; /* signals that child_wait() takes */
    sigset_t mask;  /* blocked before */
    struct sigaction before[CHILD_CHANGED];
};

/* Before anything else: signals that would end this program wait from now on, and
 * processes whose parent has ended become its children. */
void child_prepare(struct child *child);

/* Returns 0, or the errno with which the command could not be started. */
int child_start(struct child *child, char **argv);

/* Waits until the command has ended, and for every other child meanwhile. A signal that
 * was sent to this program is sent to the command; one of the terminal has reached it
 * already. Returns its wait status. */
int child_wait(const struct child *child);

/* Its exit code; 128 + n where signal n ended it. */
int child_code(int status);

/* Where a signal ended the command, ends this program by the same one. */
void child_end_alike(int status);

#endif
