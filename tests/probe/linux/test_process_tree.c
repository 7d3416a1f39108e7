/* SPDX-License-Identifier: BSD-3-Clause */
/* test_process_tree.c - the process tree in folders that look like /proc.
 *
 * Every case is a folder of tests/fixtures/proc_tree; time steps are its sub-folders,
 * and a symbolic link is moved from one to the next. The expected result of a step is a
 * table. The cases of `scan` have no children files. */
#include <stdio.h>
#include <unistd.h>

#include "heap.h"
#include "probe/linux/process_tree.h"
#include "probe/linux/usage.h"
#include "support.h"

enum { MOST_USES = 16, ROOT_PID = 100 };

static void pids_are_kept_once_and_in_order(void **state)
{
    struct roast_pid_set pids = {0};
    (void)state;

    assert_false(roast__pid_set_has(&pids, 7));
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(roast__pid_set_add(&pids, i * 128), 1);
        assert_int_equal(roast__pid_set_add(&pids, i * 128), 0);
    }
    assert_int_equal(pids.count, 1000);
    for (uint64_t i = 0; i < 1000; i++) {
        assert_true(pids.items[i] == i * 128);
        assert_true(roast__pid_set_has(&pids, i * 128));
        assert_false(roast__pid_set_has(&pids, i * 128 + 1));
    }
    roast__pid_set_clear(&pids);
    assert_false(roast__pid_set_has(&pids, 0));
    assert_int_equal(roast__pid_set_add(&pids, 128), 1);
    roast__pid_set_release(&pids);
}

static void pids_end_at_the_limit(void **state)
{
    struct roast_pid_set pids = {0};
    (void)state;

    for (uint64_t pid = 1; pid <= ROAST_PROCESS_TREE_MAX; pid++)
        assert_int_equal(roast__pid_set_add(&pids, pid), 1);
    assert_int_equal(roast__pid_set_add(&pids, UINT64_MAX), 0);
    assert_int_equal(pids.count, ROAST_PROCESS_TREE_MAX);
    assert_false(roast__pid_set_has(&pids, UINT64_MAX));
    roast__pid_set_release(&pids);
}

static void pids_outlive_a_failed_allocation(void **state)
{
    struct roast_pid_set pids = {0};
    uint64_t next = 1;
    (void)state;

    for (size_t n = 1; n <= 8; n++) {
        test_heap_fail(1 + n % 2, false);
        while (roast__pid_set_add(&pids, next) == 1)
            next++;
        assert_true(test_heap_failed());
        test_heap_fail(0, false);
        assert_int_equal(pids.count, next - 1);
        for (uint64_t pid = 1; pid < next; pid++)
            assert_true(roast__pid_set_has(&pids, pid));
        assert_int_equal(roast__pid_set_add(&pids, next++), 1);
    }
    roast__pid_set_release(&pids);
    assert_int_equal(test_heap.live_blocks, 0);
}

static void a_line_is_read_after_its_last_parenthesis(void **state)
{
    static const char text[] = "7 () 1 (x) R 55 7 5 0 -1 4 1 0 0 0 2 3 40 50 20 0 9 0 "
                               "777 1 12 3\n";
    struct roast_process_stat line;
    (void)state;

    assert_true(roast__process_stat_parse(&line, roast_str_of(text)));
    assert_str_is(line.command, ") 1 (x");
    assert_int_equal(line.state, 'R');
    assert_int_equal(line.parent_pid, 55);
    assert_int_equal(line.cpu_ticks, 5);
    assert_int_equal(line.reaped_ticks, 90);
    assert_int_equal(line.threads, 9);
    assert_int_equal(line.started_ticks, 777);
    assert_int_equal(line.rss_pages, 12);
}

static void a_line_cut_before_its_last_number_is_refused(void **state)
{
    static const char text[] = "7 (x) R 55 7 5 0 -1 4 1 0 0 0 2 3 40 50 20 0 9 0 777 1 "
                               "12 3\n";
    struct roast_process_stat line;
    (void)state;

    for (size_t size = 0; size <= sizeof(text) - sizeof("12 3\n"); size++) {
        char *copy = tight_copy(text, size);
        assert_false(roast__process_stat_parse(&line, str_from(copy, size)));
        free(copy);
    }
    assert_true(roast__process_stat_parse(&line, roast_str_of(text)));
}

static void cpu_used_is_that_of_getrusage(void **state)
{
    uint64_t first_ns, then_ns, children_ns;
    (void)state;

    roast_cpu_used(&first_ns, &children_ns);
    do /* until a microsecond more was used */
        roast_cpu_used(&then_ns, &children_ns);
    while (then_ns == first_ns);
    assert_true(then_ns > first_ns);
}

#if ROAST_PROCFS

/* ---- trees -------------------------------------------------------------------- */

struct tree_snapshot {
    size_t count;
    struct roast_process_use uses[MOST_USES];
};

static void keep(void *context, const struct roast_process_use *use)
{
    struct tree_snapshot *snapshot = context;

    assert_true(snapshot->count < MOST_USES);
    snapshot->uses[snapshot->count++] = *use;
}

static int sample(roast_process_tree *tree, struct tree_snapshot *snapshot)
{
    const struct roast_use_sink sink = {keep, snapshot};

    memset(snapshot, 0, sizeof(*snapshot));
    return roast_process_tree_sample(tree, &sink, NULL);
}

static const char *fixture(const char *name)
{
    static char path[512];

    (void)snprintf(path, sizeof(path), "%s/proc_tree/%s", ROAST_FIXTURES, name);
    return path;
}

static roast_process_tree *new_tree(const char *root)
{
    roast_process_tree *tree = NULL;
    roast_error err = {0};

    if (roast_process_tree_new(&tree, root, ROOT_PID, &err) < 0)
        fail_msg("%s", err.message);
    return tree;
}

struct expected_run {
    uint64_t pid, parent_pid, started_ticks;
    const char *command;
    uint64_t cpu_ticks, reaped_ticks, rss_pages, threads;
    bool io_known;
    uint64_t read_bytes, write_bytes;
};

static const struct expected_run first[] = {
    {100, 1, 1000, "python", 530, 77, 25000, 2, true, 4096, 8192},
    {110, 100, 1100, "loky worker", 123, 0, 9000, 1, true, 0, 512},
    {120, 100, 1200, "a) (b", 42, 6, 8000, 1, false, 0, 0},
    {130, 120, 1300, "sh", 1, 0, 200, 1, true, 1, 2},
};

/* 110 has ended and was waited for, 120 ended and was not, 130 is init's now. */
static const struct expected_run second[] = {
    {100, 1, 1000, "python", 541, 204, 25001, 2, true, 5000, 9000},
    {120, 100, 1200, "a) (b", 48, 7, 0, 1, false, 0, 0},
    {140, 100, 2000, "new", 3, 0, 300, 1, true, 7, 7},
};

static void check_use(const struct roast_process_use *use,
                      const struct expected_run *row)
{
    const uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);

    assert_int_equal(use->pid, row->pid);
    assert_int_equal(use->parent_pid, row->parent_pid);
    assert_int_equal(use->started_ticks, row->started_ticks);
    assert_string_equal(use->command, row->command);
    assert_int_equal(use->cpu_ns, row->cpu_ticks * tick_ns);
    assert_int_equal(use->reaped_cpu_ns, row->reaped_ticks * tick_ns);
    assert_int_equal(use->rss_bytes, row->rss_pages * page_bytes);
    assert_int_equal(use->threads, row->threads);
    assert_int_equal(use->io_known, row->io_known);
    assert_int_equal(use->read_bytes, row->read_bytes);
    assert_int_equal(use->write_bytes, row->write_bytes);
    assert_true(use->time_ns > INT64_C(1500000000000000000));
}

static void check_snapshot(roast_process_tree *tree, const struct expected_run *rows,
                           size_t count)
{
    struct tree_snapshot snapshot;

    assert_int_equal(sample(tree, &snapshot), count);
    assert_int_equal(snapshot.count, count);
    for (size_t i = 0; i < count; i++)
        check_use(&snapshot.uses[i], &rows[i]);
}

/* A folder with a link to the current step. */
static char folder[] = "/tmp/roast-test-XXXXXX";
static char now[sizeof(folder) + 8];

static void turn_to(const char *step)
{
    (void)unlink(now);
    assert_int_equal(symlink(fixture(step), now), 0);
}

static void check_steps(const char *first_step, const char *second_step, bool by_scan)
{
    turn_to(first_step);
    roast_process_tree *tree = new_tree(now);
    assert_int_equal(tree->scans_all, by_scan);
    check_snapshot(tree, first, COUNT_OF(first));
    check_snapshot(tree, first, COUNT_OF(first));
    turn_to(second_step);
    check_snapshot(tree, second, COUNT_OF(second));
    turn_to(first_step); /* in this order, because 120 is already known */
    struct tree_snapshot snapshot;
    assert_int_equal(sample(tree, &snapshot), COUNT_OF(first));
    roast_process_tree_free(tree);
}

static void children_of_every_thread_are_found(void **state)
{
    (void)state;
    check_steps("typical/first", "typical/second", false);
}

static void without_children_files_all_processes_are_read(void **state)
{
    (void)state;
    check_steps("scan/first", "scan/second", true);
}

static void a_root_that_ended_gives_nothing_and_may_come_back(void **state)
{
    struct tree_snapshot snapshot;
    (void)state;

    turn_to("typical/first");
    roast_process_tree *tree = new_tree(now);
    turn_to("memory_none");
    assert_int_equal(sample(tree, &snapshot), 0);
    turn_to("typical/first");
    check_snapshot(tree, first, COUNT_OF(first));
    roast_process_tree_free(tree);
}

/* A list that is cut because a process ended: known processes are kept. */
static void who_is_missing_in_a_list_is_not_lost(void **state)
{
    struct tree_snapshot snapshot;
    (void)state;

    turn_to("typical/first");
    roast_process_tree *tree = new_tree(now);
    assert_int_equal(sample(tree, &snapshot), 4);
    turn_to("scan/first"); /* the same processes, without any list */
    check_snapshot(tree, first, COUNT_OF(first));
    roast_process_tree_free(tree);
}

static void absurd_data_ends_and_gives_what_makes_sense(void **state)
{
    roast_process_tree *tree = new_tree(fixture("absurd"));
    struct tree_snapshot snapshot;
    (void)state;

    assert_int_equal(sample(tree, &snapshot), 4);
    assert_int_equal(snapshot.uses[0].pid, 100);
    assert_int_equal(snapshot.uses[1].pid, 110);
    assert_true(snapshot.uses[1].cpu_ns == UINT64_MAX);
    assert_true(snapshot.uses[1].reaped_cpu_ns == UINT64_MAX);
    assert_true(snapshot.uses[1].rss_bytes == UINT64_MAX);
    assert_false(snapshot.uses[1].io_known);
    assert_int_equal(snapshot.uses[2].pid, 160);
    assert_string_equal(snapshot.uses[2].command, "");
    assert_int_equal(snapshot.uses[3].pid, 777);
    assert_string_equal(snapshot.uses[3].command, "a name that is ");
    assert_int_equal(sample(tree, &snapshot), 4);
    roast_process_tree_free(tree);
}

static void a_cycle_of_parents_is_walked_once(void **state)
{
    roast_process_tree *tree = new_tree(fixture("scan_cycle"));
    struct tree_snapshot snapshot;
    (void)state;

    assert_int_equal(sample(tree, &snapshot), 3);
    assert_int_equal(snapshot.uses[2].pid, 120);
    roast_process_tree_free(tree);
}

static void what_cannot_be_seen_is_refused(void **state)
{
    roast_process_tree *tree = NULL;
    roast_error err = {0};
    char root[2000];
    (void)state;

    assert_int_equal(roast_process_tree_new(&tree, fixture("typical/first"), 555, &err),
                     ROAST_UNAVAILABLE);
    assert_non_null(strstr(err.message, "555"));
    assert_int_equal(roast_process_tree_new(&tree, fixture("nowhere"), 0, &err),
                     ROAST_UNAVAILABLE);
    memset(root, '/', sizeof(root) - 1);
    root[sizeof(root) - 1] = '\0';
    assert_int_equal(roast_process_tree_new(&tree, root, 0, &err), ROAST_LIMIT);
    assert_null(tree);
    roast_process_tree_free(NULL);
}

/* True when it succeeded without a failure. */
static bool try_with_failure(const char *root, size_t n, bool from_then_on)
{
    roast_process_tree *tree = NULL;
    struct tree_snapshot snapshot;

    test_heap_fail(n, from_then_on);
    int status = roast_process_tree_new(&tree, root, ROOT_PID, NULL);
    if (status == ROAST_OK)
        status = sample(tree, &snapshot);
    bool failed = test_heap_failed();
    test_heap_fail(0, false);
    assert_int_equal(status, failed ? ROAST_NO_MEMORY : (int)COUNT_OF(first));
    if (tree)
        check_snapshot(tree, first, COUNT_OF(first)); /* no process is lost */
    roast_process_tree_free(tree);
    assert_int_equal(test_heap.live_blocks, 0);
    return !failed;
}

static void out_of_memory_is_reported_and_recovers(void **state)
{
    (void)state;

    for (int way = 0; way < 4; way++) {
        const char *root = fixture(way < 2 ? "typical/first" : "scan/first");
        size_t n = 1;
        while (!try_with_failure(root, n, way % 2 == 0))
            assert_true(++n < 50);
        assert_true(n > 4);
    }
}

/* ---- memory ------------------------------------------------------------------ */

static void memory_is_of_the_machine_or_of_a_lower_limit(void **state)
{
    static const struct {
        const char *name;
        double percent; /* < 0: not known */
    } cases[] = {
        {"memory_machine", 25},      {"memory_group", 25},
        {"memory_group_v1", 50},     {"memory_group_full", 100},
        {"memory_group_larger", 25}, {"memory_group_unreadable", -1},
        {"memory_old_kernel", -1},   {"memory_absurd", -1},
        {"memory_none", -1},         {"memory_nowhere", -1},
    };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char proc[512], sys[512];
        double percent = -1;
        (void)snprintf(proc, sizeof(proc), "%s/proc_tree/%s/proc", ROAST_FIXTURES,
                       cases[i].name);
        (void)snprintf(sys, sizeof(sys), "%s/proc_tree/%s/sys", ROAST_FIXTURES,
                       cases[i].name);
        bool known = roast__memory_used_percent(proc, sys, &percent);
        if (known != (cases[i].percent >= 0) || percent != cases[i].percent)
            fail_msg("%s: %f", cases[i].name, percent);
    }
}

static int make_folder(void **state)
{
    (void)state;
    test_heap_install();
    assert_non_null(mkdtemp(folder));
    (void)snprintf(now, sizeof(now), "%s/now", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(now);
    return rmdir(folder);
}

#else

static void there_is_no_tree_without_procfs(void **state)
{
    roast_process_tree *tree = NULL;
    double percent;
    (void)state;

    assert_int_equal(roast_process_tree_new(&tree, NULL, 0, NULL), ROAST_UNAVAILABLE);
    assert_null(tree);
    assert_false(roast_memory_used_percent(NULL, &percent));
}

static int make_folder(void **state)
{
    (void)state;
    test_heap_install();
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return 0;
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pids_are_kept_once_and_in_order),
        cmocka_unit_test(pids_end_at_the_limit),
        cmocka_unit_test(pids_outlive_a_failed_allocation),
        cmocka_unit_test(a_line_is_read_after_its_last_parenthesis),
        cmocka_unit_test(a_line_cut_before_its_last_number_is_refused),
        cmocka_unit_test(cpu_used_is_that_of_getrusage),
#if ROAST_PROCFS
        cmocka_unit_test(children_of_every_thread_are_found),
        cmocka_unit_test(without_children_files_all_processes_are_read),
        cmocka_unit_test(a_root_that_ended_gives_nothing_and_may_come_back),
        cmocka_unit_test(who_is_missing_in_a_list_is_not_lost),
        cmocka_unit_test(absurd_data_ends_and_gives_what_makes_sense),
        cmocka_unit_test(a_cycle_of_parents_is_walked_once),
        cmocka_unit_test(what_cannot_be_seen_is_refused),
        cmocka_unit_test(out_of_memory_is_reported_and_recovers),
        cmocka_unit_test(memory_is_of_the_machine_or_of_a_lower_limit),
#else
        cmocka_unit_test(there_is_no_tree_without_procfs),
#endif
    };
    return cmocka_run_group_tests_name("probe/process_tree", tests, make_folder,
                                       remove_folder);
}
