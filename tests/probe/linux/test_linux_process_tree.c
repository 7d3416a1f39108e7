/* SPDX-License-Identifier: BSD-3-Clause */
/* test_linux_process_tree.c - the process tree against processes that the test starts.
 *
 * Each child reports over a pipe that it is ready, and its CPU time by its own clock.
 * Then it waits for the end of another pipe, whose only writer is the test, so no child
 * outlives it. Everything is checked both ways, with the children files of the kernel
 * and by scanning all processes. */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "forks.h"
#include "heap.h"
#include "probe/linux/process_tree.h"
#include "probe/linux_help.h"
#include "support.h"

enum { MOST_USES = 64, BURN_NS = 300 * 1000 * 1000 };

static int hold[2]; /* children wait for its end */

/* ---- children ---------------------------------------------------------------- */

struct child {
    pid_t pid;
    uint64_t cpu_ns; /* by its own clock, when it was ready */
};

static uint64_t own_cpu_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void burn(void)
{
    while (own_cpu_ns() < BURN_NS)
        continue;
}

static void nothing(void)
{
}

static void wait_for_the_end(void)
{
    char byte;
    (void)read(hold[0], &byte, 1);
}

/* Starts a child that does `work`, and returns when it is done. */
static struct child start(void (*work)(void), bool keep_running_child)
{
    struct child child = {-1, 0};
    int ready[2];

    if (pipe(ready) != 0)
        return child;
    child.pid = fork();
    if (child.pid == 0) {
        (void)close(hold[1]);
        (void)close(ready[0]);
        work();
        uint64_t cpu_ns = own_cpu_ns();
        (void)!write(ready[1], &cpu_ns, sizeof(cpu_ns));
        (void)close(ready[1]);
        if (keep_running_child)
            wait_for_the_end();
        _exit(0);
    }
    (void)close(ready[1]);
    if (read(ready[0], &child.cpu_ns, sizeof(child.cpu_ns)) != sizeof(child.cpu_ns))
        child.pid = -1;
    (void)close(ready[0]);
    return child;
}

static void end(struct child child)
{
    (void)kill(child.pid, SIGKILL);
    assert_int_equal(waitpid(child.pid, NULL, 0), child.pid);
}

/* ---- snapshots ---------------------------------------------------------------- */

struct tree_snapshot {
    size_t count;
    struct roast_process_use uses[MOST_USES];
};

static void keep(void *context, const struct roast_process_use *use)
{
    struct tree_snapshot *snapshot = context;

    if (snapshot->count < MOST_USES)
        snapshot->uses[snapshot->count++] = *use;
}

static void sample(roast_process_tree *tree, struct tree_snapshot *snapshot)
{
    const struct roast_use_sink sink = {keep, snapshot};

    memset(snapshot, 0, sizeof(*snapshot));
    int count = roast_process_tree_sample(tree, &sink, NULL);
    assert_int_equal(count, snapshot->count);
}

static const struct roast_process_use *find(const struct tree_snapshot *snapshot,
                                            pid_t pid)
{
    for (size_t i = 0; i < snapshot->count; i++) {
        if (snapshot->uses[i].pid == (uint64_t)pid)
            return &snapshot->uses[i];
    }
    return NULL;
}

static roast_process_tree *new_tree(void **state)
{
    roast_process_tree *tree = NULL;

    assert_int_equal(roast_process_tree_new(&tree, NULL, 0, NULL), ROAST_OK);
    tree->scans_all |= *(const bool *)*state;
    return tree;
}

static void assert_close(uint64_t a_ns, uint64_t b_ns)
{
    uint64_t apart_ns = a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns;

    if (apart_ns > 30 * 1000 * 1000 && apart_ns > b_ns / 100 * 3)
        fail_msg("%llu ns are not %llu ns", (unsigned long long)a_ns,
                 (unsigned long long)b_ns);
}

/* ---- tests ------------------------------------------------------------------- */

static void this_process_alone_is_one(void **state)
{
    roast_process_tree *tree = new_tree(state);
    struct tree_snapshot snapshot;
    struct timespec before, after;

    (void)clock_gettime(CLOCK_REALTIME, &before);
    sample(tree, &snapshot);
    (void)clock_gettime(CLOCK_REALTIME, &after);
    assert_int_equal(snapshot.count, 1);
    assert_int_equal(snapshot.uses[0].pid, getpid());
    assert_int_equal(snapshot.uses[0].parent_pid, getppid());
    assert_close(snapshot.uses[0].cpu_ns, own_cpu_ns());
    assert_true(snapshot.uses[0].rss_bytes > 100000);
    assert_true(snapshot.uses[0].threads >= 1);
    assert_in_range(snapshot.uses[0].time_ns / 1000000000, before.tv_sec, after.tv_sec);
    roast_process_tree_free(tree);
}

static void start_two(void)
{
    (void)start(nothing, true);
    (void)start(nothing, true);
}

static void children_and_grandchildren_come_and_go(void **state)
{
    roast_process_tree *tree = new_tree(state);
    struct tree_snapshot snapshot;

    sample(tree, &snapshot);
    assert_int_equal(snapshot.count, 1);
    for (int round = 0; round < 3; round++) {
        struct child parent = start(start_two, true);
        sample(tree, &snapshot);
        assert_int_equal(snapshot.count, 4);
        for (int i = 0; i < 40; i++) /* with a search and without */
            sample(tree, &snapshot);
        assert_int_equal(snapshot.count, 4);
        size_t of_parent = 0;
        for (size_t i = 0; i < snapshot.count; i++)
            of_parent += snapshot.uses[i].parent_pid == (uint64_t)parent.pid;
        assert_int_equal(of_parent, 2);
        end(parent);
        sample(tree, &snapshot); /* its children belong to init now */
        assert_int_equal(snapshot.count, 1);
    }
    roast_process_tree_free(tree);
}

static void cpu_equals_the_clock_of_the_child(void **state)
{
    roast_process_tree *tree = new_tree(state);
    struct child busy = start(burn, true);
    struct child idle = start(nothing, true);
    struct tree_snapshot snapshot;

    sample(tree, &snapshot);
    assert_true(busy.cpu_ns >= BURN_NS);
    assert_non_null(find(&snapshot, busy.pid));
    assert_close(find(&snapshot, busy.pid)->cpu_ns, busy.cpu_ns);
    assert_non_null(find(&snapshot, idle.pid));
    assert_close(find(&snapshot, idle.pid)->cpu_ns, idle.cpu_ns);
    end(busy);
    end(idle);
    roast_process_tree_free(tree);
}

static void cpu_never_runs_back_while_it_is_used(void **state)
{
    roast_process_tree *tree = new_tree(state);
    struct tree_snapshot snapshot;
    uint64_t last_ns = 0;

    for (int i = 0; i < 300; i++) {
        sample(tree, &snapshot);
        assert_true(snapshot.uses[0].cpu_ns >= last_ns);
        last_ns = snapshot.uses[0].cpu_ns;
    }
    roast_process_tree_free(tree);
}

static void cpu_of_ended_children_is_seen_before_and_after_the_wait(void **state)
{
    roast_process_tree *tree = new_tree(state);
    struct child child = start(burn, false);
    uint64_t own_ns, before_ns, after_ns;
    siginfo_t ended;
    struct tree_snapshot snapshot;

    assert_int_equal(waitid(P_PID, (id_t)child.pid, &ended, WEXITED | WNOWAIT), 0);
    roast_cpu_used(&own_ns, &before_ns);
    sample(tree, &snapshot);
    const struct roast_process_use *zombie = find(&snapshot, child.pid);
    assert_non_null(zombie);
    assert_close(zombie->cpu_ns, child.cpu_ns);
    assert_true(zombie->ended);
    assert_int_equal(zombie->rss_bytes, 0);
    uint64_t reaped_ns = snapshot.uses[0].reaped_cpu_ns;
    assert_int_equal(waitpid(child.pid, NULL, 0), child.pid);
    sample(tree, &snapshot);
    assert_null(find(&snapshot, child.pid));
    assert_close(snapshot.uses[0].reaped_cpu_ns - reaped_ns, child.cpu_ns);
    roast_cpu_used(&own_ns, &after_ns);
    assert_close(after_ns - before_ns, child.cpu_ns);
    roast_process_tree_free(tree);
}

static void *start_from_thread(void *child)
{
    *(struct child *)child = start(nothing, true);
    wait_for_the_end(); /* a child of an ended thread moves to another */
    return NULL;
}

static void a_child_of_another_thread_is_found(void **state)
{
    roast_process_tree *tree = new_tree(state);
    struct child child = {-1, 0};
    pthread_t thread;
    struct tree_snapshot snapshot;
    int keep_running[2] = {hold[0], hold[1]};

    assert_int_equal(pipe(hold), 0);
    assert_int_equal(pthread_create(&thread, NULL, start_from_thread, &child), 0);
    do
        sample(tree, &snapshot);
    while (snapshot.count < 2);
    assert_int_equal(snapshot.uses[1].parent_pid, getpid());
    (void)close(hold[1]);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(snapshot.uses[1].pid, child.pid);
    assert_int_equal(waitpid(child.pid, NULL, 0), child.pid);
    (void)close(hold[0]);
    hold[0] = keep_running[0];
    hold[1] = keep_running[1];
    roast_process_tree_free(tree);
}

static void take_a_hard_name(void)
{
    (void)prctl(PR_SET_NAME, "x) R 1 (y) (");
}

static void a_name_with_parentheses_is_a_name(void **state)
{
    roast_process_tree *tree = new_tree(state);
    struct child child = start(take_a_hard_name, true);
    struct tree_snapshot snapshot;

    sample(tree, &snapshot);
    const struct roast_process_use *use = find(&snapshot, child.pid);
    assert_non_null(use);
    assert_string_equal(use->command, "x) R 1 (y) (");
    assert_int_equal(use->parent_pid, getpid());
    end(child);
    roast_process_tree_free(tree);
}

static void *memory;

static void take_memory(void)
{
    memory = map_resident();
}

static void memory_of_a_child_is_its_own(void **state)
{
    roast_process_tree *tree = new_tree(state);
    struct child large = start(take_memory, true);
    struct child small = start(nothing, true);
    struct tree_snapshot snapshot;

    sample(tree, &snapshot);
    assert_non_null(find(&snapshot, large.pid));
    assert_non_null(find(&snapshot, small.pid));
    assert_true(find(&snapshot, large.pid)->rss_bytes > MAPPED_BYTES);
    assert_true(is_mapped_growth(find(&snapshot, small.pid)->rss_bytes,
                                 find(&snapshot, large.pid)->rss_bytes));
    end(large);
    end(small);
    roast_process_tree_free(tree);
}

static void the_tree_may_start_at_another_process(void **state)
{
    struct child parent = start(start_two, true);
    roast_process_tree *tree = NULL;
    struct tree_snapshot snapshot;

    assert_int_equal(roast_process_tree_new(&tree, NULL, (uint64_t)parent.pid, NULL),
                     ROAST_OK);
    tree->scans_all |= *(const bool *)*state;
    sample(tree, &snapshot);
    assert_int_equal(snapshot.count, 3);
    assert_int_equal(snapshot.uses[0].pid, parent.pid);
    end(parent);
    sample(tree, &snapshot);
    assert_int_equal(snapshot.count, 0);
    roast_process_tree_free(tree);
}

static void memory_of_the_machine_is_between_0_and_100(void **state)
{
    double percent = -1;
    (void)state;

    if (!roast_memory_used_percent(NULL, &percent))
        skip();
    assert_true(percent > 0 && percent <= 100);
}

static int open_hold(void **state)
{
    (void)state;
    test_heap_install();
    return pipe(hold);
}

static int close_hold(void **state)
{
    (void)state;
    (void)close(hold[0]);
    (void)close(hold[1]);
    return test_heap.live_blocks == 0 ? 0 : -1;
}

#define BOTH_WAYS(test) \
    cmocka_unit_test_prestate((test), &by_children), \
        cmocka_unit_test_prestate((test), &by_scan)

int main(void)
{
    static bool by_children = false;
    static bool by_scan = true;
    const struct CMUnitTest tests[] = {
        BOTH_WAYS(this_process_alone_is_one),
        BOTH_WAYS(children_and_grandchildren_come_and_go),
        BOTH_WAYS(cpu_equals_the_clock_of_the_child),
        BOTH_WAYS(cpu_never_runs_back_while_it_is_used),
        BOTH_WAYS(cpu_of_ended_children_is_seen_before_and_after_the_wait),
        BOTH_WAYS(a_child_of_another_thread_is_found),
        BOTH_WAYS(a_name_with_parentheses_is_a_name),
        BOTH_WAYS(memory_of_a_child_is_its_own),
        BOTH_WAYS(the_tree_may_start_at_another_process),
        cmocka_unit_test(memory_of_the_machine_is_between_0_and_100),
    };
    return cmocka_run_group_tests_name("probe/linux_process_tree", tests, open_hold,
                                       close_hold);
}
