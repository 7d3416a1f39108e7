/* SPDX-License-Identifier: BSD-3-Clause */
/* test_linux_cpu_meter.c - the CPU of real children, seen in the process tree, against
 * wait4() at their end.
 *
 * Children get orders over a pipe, and return the CPU time of their own clock. The tree
 * has ticks of 10 ms, separate for user and system, so a sum may be off by 3 % or by 30
 * ms for each running process. */
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "forks.h"
#include "roast/cpu_meter.h"
#include "roast/process_tree.h"
#include "support.h"

static roast_cpu_meter *meter;
static roast_process_tree *tree;

/* ---- children ---------------------------------------------------------------- */

enum order { BURN, BURN_IN_A_CHILD, LEAVE };
enum { BURN_MS = 300 };

struct child {
    pid_t pid;
    int orders;
    int answers; /* CPU seconds of itself and of children it waited for */
};

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double used_of(int who)
{
    struct rusage usage;

    (void)getrusage(who, &usage);
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

static void burn(void)
{
    double until_s = used_of(RUSAGE_SELF) + BURN_MS / 1e3;

    while (used_of(RUSAGE_SELF) < until_s)
        ;
}

static void burn_in_a_child(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        burn();
        _exit(0);
    }
    (void)waitpid(pid, NULL, 0);
}

static void obey(int orders, int answers)
{
    unsigned char order;

    while (read(orders, &order, 1) == 1 && order != LEAVE) {
        if (order == BURN)
            burn();
        else
            burn_in_a_child();
        double used_s = used_of(RUSAGE_SELF) + used_of(RUSAGE_CHILDREN);
        if (write(answers, &used_s, sizeof(used_s)) != sizeof(used_s))
            break;
    }
    _exit(0);
}

static struct child start_child(void)
{
    int orders[2], answers[2];

    assert_int_equal(pipe(orders), 0);
    assert_int_equal(pipe(answers), 0);
    struct child child = {fork(), orders[1], answers[0]};
    if (child.pid == 0) {
        (void)close(orders[1]);
        (void)close(answers[0]);
        obey(orders[0], answers[1]);
    }
    assert_true(child.pid > 0);
    (void)close(orders[0]);
    (void)close(answers[1]);
    return child;
}

static void send_order(struct child child, enum order order)
{
    unsigned char byte = (unsigned char)order;
    assert_int_equal(write(child.orders, &byte, 1), 1);
}

static double answer_of(struct child child)
{
    double used_s = 0;

    assert_int_equal(read(child.answers, &used_s, sizeof(used_s)), sizeof(used_s));
    return used_s;
}

/* Its total CPU time, by wait4(). */
static double wait_for(struct child child)
{
    struct rusage usage;

    assert_int_equal(wait4(child.pid, NULL, 0, &usage), child.pid);
    (void)close(child.orders);
    (void)close(child.answers);
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

static double end_child(struct child child)
{
    send_order(child, LEAVE);
    return wait_for(child);
}

/* ---- the meter --------------------------------------------------------------- */

static void take_use(void *context, const struct roast_process_use *use)
{
    (void)context;
    assert_int_equal(roast_cpu_meter_use(meter, use, NULL), ROAST_OK);
}

static double measure(void)
{
    const struct roast_use_sink sink = {take_use, NULL};
    double own_s, children_s;

    roast_cpu_meter_round(meter);
    assert_true(roast_process_tree_sample(tree, &sink, NULL) >= 1);
    roast_cpu_meter_read(meter, &own_s, &children_s);
    return children_s;
}

static void assert_close_of(int processes, double value_s, double exact_s)
{
    double allowed_s = fmax(0.03 * exact_s, 0.03 * processes);

    if (fabs(value_s - exact_s) > allowed_s)
        fail_msg("%.3f s, not %.3f s", value_s, exact_s);
}

static void assert_close(double value_s, double exact_s)
{
    assert_close_of(1, value_s, exact_s);
}

static void start_meter(void)
{
    assert_int_equal(roast_cpu_meter_new(&meter, NULL), ROAST_OK);
    assert_int_equal(roast_process_tree_new(&tree, NULL, 0, NULL), ROAST_OK);
    assert_close(measure(), 0);
}

static int stop_meter(void **state)
{
    (void)state;
    roast_cpu_meter_free(meter);
    roast_process_tree_free(tree);
    meter = NULL;
    tree = NULL;
    return 0;
}

/* ---- tests ------------------------------------------------------------------- */

static void a_child_alive_at_the_start_counts_from_then(void **state)
{
    struct child child = start_child();
    (void)state;

    send_order(child, BURN);
    double before_s = answer_of(child);
    start_meter();
    send_order(child, BURN);
    double now_s = answer_of(child);
    assert_close(measure(), now_s - before_s);
    send_order(child, BURN);
    (void)answer_of(child);
    double all_s = end_child(child);
    assert_close(measure(), all_s - before_s);
    assert_close(measure(), all_s - before_s);
}

static void children_begun_later_count_whole_alive_and_dead(void **state)
{
    struct child children[3];
    double alive_s = 0, dead_s = 0;
    (void)state;

    start_meter();
    for (size_t i = 0; i < COUNT_OF(children); i++)
        children[i] = start_child();
    for (size_t i = 0; i < COUNT_OF(children); i++)
        send_order(children[i], BURN);
    (void)measure(); /* while they work */
    for (size_t i = 0; i < COUNT_OF(children); i++)
        alive_s += answer_of(children[i]);
    assert_close_of(COUNT_OF(children), measure(), alive_s);
    for (size_t i = 0; i < COUNT_OF(children); i++) {
        dead_s += end_child(children[i]);
        double sum_s = measure(); /* some dead, some alive */
        assert_true(sum_s > dead_s - 0.001 && sum_s < alive_s + 0.09);
    }
    assert_close(measure(), dead_s);
}

static void a_child_between_samples_counts(void **state)
{
    (void)state;

    start_meter();
    struct child child = start_child();
    send_order(child, BURN);
    (void)answer_of(child);
    double all_s = end_child(child);
    assert_close(measure(), all_s);
}

static void children_of_children_count_once(void **state)
{
    struct child child = start_child();
    (void)state;

    send_order(child, BURN_IN_A_CHILD);
    double before_s = answer_of(child);
    start_meter();
    send_order(child, BURN_IN_A_CHILD);
    (void)measure(); /* while the grandchild works */
    (void)measure();
    double now_s = answer_of(child);
    assert_close(measure(), now_s - before_s);
    double all_s = end_child(child);
    assert_close(measure(), all_s - before_s);
}

/* A zombie: it is in the tree only. */
static void a_zombie_counts(void **state)
{
    siginfo_t about;
    (void)state;

    start_meter();
    struct child child = start_child();
    send_order(child, BURN);
    double used_s = answer_of(child);
    send_order(child, LEAVE);
    assert_int_equal(waitid(P_PID, (id_t)child.pid, &about, WEXITED | WNOWAIT), 0);
    assert_close(measure(), used_s);
    double all_s = wait_for(child);
    assert_close(measure(), all_s);
}

/* A subreaper is the machine's init: an orphan may disappear, but its sampled CPU time
 * is kept. */
static void cpu_of_an_orphan_is_kept(void **state)
{
    int pids[2];
    pid_t orphan = -1;
    (void)state;

    start_meter();
    assert_int_equal(pipe(pids), 0);
    pid_t parent = fork();
    if (parent == 0) {
        struct child grandchild = start_child();
        send_order(grandchild, BURN);
        (void)answer_of(grandchild);
        (void)!write(pids[1], &grandchild.pid, sizeof(pid_t));
        (void)pause(); /* until it is killed; the grandchild's pipe ends with it */
        _exit(0);
    }
    assert_int_equal(read(pids[0], &orphan, sizeof(orphan)), sizeof(orphan));
    (void)close(pids[0]);
    (void)close(pids[1]);
    double seen_s = measure();
    assert_close(seen_s, BURN_MS / 1e3);
    assert_int_equal(kill(parent, SIGKILL), 0);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    assert_true(measure() >= seen_s - 0.001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_child_alive_at_the_start_counts_from_then,
                                  stop_meter),
        cmocka_unit_test_teardown(children_begun_later_count_whole_alive_and_dead,
                                  stop_meter),
        cmocka_unit_test_teardown(a_child_between_samples_counts, stop_meter),
        cmocka_unit_test_teardown(children_of_children_count_once, stop_meter),
        cmocka_unit_test_teardown(a_zombie_counts, stop_meter),
        cmocka_unit_test_teardown(cpu_of_an_orphan_is_kept, stop_meter),
    };
    return cmocka_run_group_tests_name("probe/linux_cpu_meter", tests, NULL, NULL);
}
