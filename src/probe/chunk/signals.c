/* SPDX-License-Identifier: BSD-3-Clause */
/* signals.c - signals wait while the monitor works in the main thread.
 *
 * A handler of ours lies over the handler of the interpreter. It passes signals on at
 * once, except while they are held: then it notes them. It runs in any thread, so what it
 * shares with the main thread is atomic; the rest belongs to the main thread. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "roast/signals.h"

enum { IMPATIENT_TIMES = 3 }; /* that often, Ctrl-C does not wait */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_t main_thread;
static unsigned users;
static bool is_covered[ROAST_SIGNALS];
static struct sigaction covered[ROAST_SIGNALS]; /* kept: another tool may have ours */
static atomic_uint holds;
static atomic_uint came[ROAST_SIGNALS];
static atomic_bool any_came; /* one may be noted */

static void pass_on(int number, siginfo_t *info, void *context)
{
    const struct sigaction *action = &covered[number];

    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(number, info, context);
    else
        action->sa_handler(number);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    if (atomic_load(&holds) == 0) {
        pass_on(number, info, context);
        return;
    }
    unsigned times = atomic_fetch_add(&came[number], 1) + 1;
    atomic_store(&any_came, true); /* before it is known whether they are released */
    bool is_impatient = number == SIGINT && times >= IMPATIENT_TIMES;
    bool is_released = atomic_load(&holds) == 0; /* meanwhile */
    if ((is_impatient || is_released) && atomic_exchange(&came[number], 0) > 0)
        pass_on(number, info, context);
}

static bool is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_signal;
}

/* Whether one of ours may lie over this handler: over one that may call ours, as other
 * tools do, it must not. */
static bool may_cover(const struct sigaction *action, roast_covers covers)
{
    return !(action->sa_flags & SA_SIGINFO) && action->sa_handler != SIG_DFL &&
           action->sa_handler != SIG_IGN && covers(action);
}

static void cover(int number, roast_covers covers)
{
    struct sigaction now;
    struct sigaction ours = {.sa_sigaction = on_signal};

    if (sigaction(number, NULL, &now) != 0 || is_ours(&now) || !may_cover(&now, covers))
        return;
    (void)sigemptyset(&ours.sa_mask);
    ours.sa_flags = SA_SIGINFO | (now.sa_flags & (SA_ONSTACK | SA_RESTART));
    covered[number] = now; /* before ours can be called */
    is_covered[number] = sigaction(number, &ours, NULL) == 0;
}

static void uncover_all(void)
{
    struct sigaction now;

    for (int i = 1; i < ROAST_SIGNALS; i++) {
        if (is_covered[i] && sigaction(i, NULL, &now) == 0 && is_ours(&now)) {
            covered[i].sa_flags &= ~SA_RESTART; /* siginterrupt() may have changed it */
            covered[i].sa_flags |= now.sa_flags & SA_RESTART;
            (void)sigaction(i, &covered[i], NULL);
        }
        is_covered[i] = false;
    }
}

/* The thread that forks is the main thread of the child. */
static void in_child(void)
{
    uncover_all();
    users = 0;
    atomic_store(&holds, 0);
    for (int i = 1; i < ROAST_SIGNALS; i++)
        atomic_store(&came[i], 0);
    atomic_store(&any_came, false);
    main_thread = pthread_self();
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, in_child);
}

void roast_signals_init(uint64_t thread)
{
    (void)pthread_once(&once, watch_forks);
    main_thread = (pthread_t)thread;
}

bool roast_signals_are_here(void)
{
    return pthread_equal(pthread_self(), main_thread) != 0;
}

unsigned roast_signals_enter(void)
{
    return ++users;
}

bool roast_signals_are_entered(void)
{
    return roast_signals_are_here() && users > 0;
}

void roast_signals_cover(const int *numbers, size_t count, roast_covers covers)
{
    for (size_t i = 0; i < count && users > 0; i++) { /* 0: a forked child */
        if (numbers[i] > 0 && numbers[i] < ROAST_SIGNALS)
            cover(numbers[i], covers);
    }
}

void roast_signals_leave(void)
{
    if (users > 0 && --users == 0)
        uncover_all();
}

void roast_signals_hold(void)
{
    atomic_fetch_add(&holds, 1);
}

size_t roast_signals_release(int *numbers)
{
    size_t count = 0;

    if (atomic_load(&holds) == 0) /* a forked child */
        return 0;
    if (atomic_fetch_sub(&holds, 1) > 1 || !atomic_load(&any_came))
        return 0;
    atomic_store(&any_came, false);
    for (int i = 1; i < ROAST_SIGNALS; i++) {
        if (atomic_load(&came[i]) > 0 && atomic_exchange(&came[i], 0) > 0)
            numbers[count++] = i;
    }
    return count;
}

bool roast_signals_ctrl_c_waits(void)
{
    return atomic_load(&came[SIGINT]) > 0;
}
