/* SPDX-License-Identifier: BSD-3-Clause */
/* test_linux_host.c - facts of a host from fixtures, and of this one against the C
 * library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/sysinfo.h>

#include "base/clock.h"
#include "base/str.h"
#include "probe/linux/host.h"
#include "probe/linux_help.h"
#include "record/values.h"

static void assert_text(const struct roast_host *host, enum roast_host_fact fact,
                        const char *text)
{
    assert_true(roast__host_has(host, fact));
    assert_string_equal(host->values[fact].text, text);
}

static void assert_u64(const struct roast_host *host, enum roast_host_fact fact,
                       uint64_t value)
{
    assert_true(roast__host_has(host, fact));
    assert_int_equal(host->values[fact].u64, value);
}

static void reads_the_files_of_a_fixture(void **state)
{
    struct roast_host host;
    uint64_t tick_ns = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
    (void)state;

    assert_int_equal(roast__host_read(&host, ROAST_FIXTURES "/proc/typical"), ROAST_OK);
    assert_text(&host, ROAST_HOST_cpu_model,
                "Intel(R) Xeon(R) Platinum 8358 CPU @ 2.60GHz");
    assert_text(&host, ROAST_HOST_boot_id, "6b8c1a52-6ad5-4f3a-9a2b-0c7de1f00d42");
    assert_u64(&host, ROAST_HOST_memory_total_bytes, UINT64_C(24682416) * 1024);
    assert_u64(&host, ROAST_HOST_parent_pid, 4242);
    assert_u64(&host, ROAST_HOST_start_boot_ns, 123456 * tick_ns);
    assert_false(roast__host_has(&host, ROAST_HOST_executable));
}

static void a_program_may_have_parentheses_in_its_name(void **state)
{
    struct roast_host host;
    (void)state;

    (void)roast__host_read(&host, ROAST_FIXTURES "/proc/parenthesis");
    assert_u64(&host, ROAST_HOST_parent_pid, 55);
}

static void arm_has_a_model_too(void **state)
{
    struct roast_host host;
    (void)state;

    (void)roast__host_read(&host, ROAST_FIXTURES "/proc/arm");
    assert_text(&host, ROAST_HOST_cpu_model, "implementer 0x41 part 0xd0c");
}

static void what_cannot_be_read_is_absent_and_takes_nothing_with_it(void **state)
{
    static const char *const roots[] = {ROAST_FIXTURES "/proc/garbage",
                                        ROAST_FIXTURES "/proc/no such folder"};
    struct roast_host host;
    (void)state;

    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
        assert_int_equal(roast__host_read(&host, roots[i]), ROAST_OK);
        assert_false(roast__host_has(&host, ROAST_HOST_cpu_model));
        assert_false(roast__host_has(&host, ROAST_HOST_memory_total_bytes));
        assert_false(roast__host_has(&host, ROAST_HOST_boot_id));
        assert_false(roast__host_has(&host, ROAST_HOST_parent_pid));
        assert_false(roast__host_has(&host, ROAST_HOST_start_boot_ns));
        assert_true(roast__host_has(&host, ROAST_HOST_host));
    }
}

static void this_host_equals_the_c_library(void **state)
{
    struct roast_host host;
    struct sysinfo info;
    char name[256] = "";
    (void)state;

    assert_int_equal(roast__host_read(&host, NULL), ROAST_OK);
    assert_int_equal(gethostname(name, sizeof(name) - 1), 0);
    assert_text(&host, ROAST_HOST_host, name);
    assert_text(&host, ROAST_HOST_executable, program_invocation_short_name);
    assert_u64(&host, ROAST_HOST_parent_pid, (uint64_t)getppid());
    assert_u64(&host, ROAST_HOST_cpus_online, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    assert_u64(&host, ROAST_HOST_page_bytes, (uint64_t)sysconf(_SC_PAGESIZE));
    assert_int_equal(sysinfo(&info), 0);
    assert_u64(&host, ROAST_HOST_memory_total_bytes,
               (uint64_t)info.totalram * info.mem_unit);
}

static bool sees_one_allowed_cpu(void *context)
{
    struct roast_host host;
    (void)context;

    return pin_to_this_cpu() && roast__host_read(&host, NULL) == ROAST_OK &&
           host.values[ROAST_HOST_cpus_allowed].u64 == 1;
}

static void allowed_cpus_follow_the_affinity(void **state)
{
    (void)state;

    assert_true(holds_in_child(sees_one_allowed_cpu, NULL));
}

/* The kernel rounds the start down to a tick. */
static bool started_since(void *context)
{
    const int64_t *forked_ns = context;
    struct roast_host host;

    if (roast__host_read(&host, NULL) != ROAST_OK)
        return false;
    int64_t now_ns = roast__clock_ns(CLOCK_BOOTTIME);
    int64_t tick_ns = 1000000000 / (int64_t)host.values[ROAST_HOST_clock_tick_hz].u64;
    int64_t start_ns = (int64_t)host.values[ROAST_HOST_start_boot_ns].u64;
    int64_t age_ns =
        roast__clock_epoch_ns() - (int64_t)host.values[ROAST_HOST_start_epoch_ns].u64;
    return start_ns > *forked_ns - tick_ns && start_ns <= now_ns && age_ns >= 0 &&
           age_ns <= roast__clock_ns(CLOCK_BOOTTIME) - *forked_ns + 2 * tick_ns;
}

static void a_child_started_when_it_was_forked(void **state)
{
    int64_t forked_ns = roast__clock_ns(CLOCK_BOOTTIME);
    (void)state;

    assert_true(holds_in_child(started_since, &forked_ns));
}

static bool is_listed(struct roast_str key)
{
    static const char *const names[] = {
#define H(name, type, unit, text) #name,
#include "probe/linux/host_facts.def"
#undef H
        NULL};

    return roast__str_is_one_of(key, names);
}

static void facts_travel_under_the_names_of_the_list(void **state)
{
    struct roast_values values = {0};
    struct roast_value value;
    struct roast_str key;
    int facts = 0;
    (void)state;

    roast__host_put_facts(&values);
    struct roast_str blob = roast_values_blob(&values);
    assert_int_equal(roast_values_check(blob, NULL), ROAST_OK);
    while (roast_value_next_key(&key, &blob, NULL) == 1) {
        assert_true(is_listed(key));
        assert_int_equal(roast_value_next(&value, &blob, NULL), 1);
        facts++;
    }
    assert_in_range(facts, ROAST_HOST_start_epoch_ns, ROAST_HOST_COUNT);
    roast__values_release(&values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_files_of_a_fixture),
        cmocka_unit_test(a_program_may_have_parentheses_in_its_name),
        cmocka_unit_test(arm_has_a_model_too),
        cmocka_unit_test(what_cannot_be_read_is_absent_and_takes_nothing_with_it),
        cmocka_unit_test(this_host_equals_the_c_library),
        cmocka_unit_test(allowed_cpus_follow_the_affinity),
        cmocka_unit_test(a_child_started_when_it_was_forked),
        cmocka_unit_test(facts_travel_under_the_names_of_the_list),
    };
    return cmocka_run_group_tests_name("probe/linux_host", tests, NULL, NULL);
}
