/* SPDX-License-Identifier: BSD-3-Clause */
/* test_oom_ladder.c - fails the n-th allocation of attempts that are looked into. */
#include <stdio.h>

#include "attempt_frames.h"
#include "roast/probe_ladder.h"
#include "sweep.h"

enum { BRANCHES = 300 };

static const struct roast_chunk_end ended_well = {.status = ROAST_CHUNK_OK};

/* Reads so much that every table has to grow; how many branches were not kept. */
static uint64_t read_branches(roast_thread *thread)
{
    const struct roast_file_facts facts = {.kind = ROAST_FILE_TTREE};
    const struct roast_endpoint endpoint = {.name = {"root://host", 11}, .requests = 1};
    const struct roast_branch once = {.reads = 1, .bytes = 1000};
    static const char all[4000];
    uint64_t lost = 0;
    char name[60];

    for (int i = 0; i < BRANCHES; i++) {
        (void)snprintf(name, sizeof(name), "a branch with a long name, number %d", i);
        int32_t branch = roast_ladder_branch(thread, roast_str_of(name));
        roast_ladder_branch_add(thread, branch, &once);
        lost += branch < 0;
    }
    roast_ladder_endpoint_add(thread, &endpoint);
    roast_ladder_file(thread, &facts, str_from(all, sizeof(all)));
    return lost;
}

static bool has_or_says_why(const roast_record *rec, enum roast_field field)
{
    uint64_t why = pair_of(rec, ROAST_FIELD_absences, roast_field_info(field)->number);

    return roast_record_has(rec, field) ? why == 0 : why == ROAST_WHY_NO_MEMORY;
}

/* All that was read is in the record, or it says what is not. */
static bool is_whole(struct roast_str frame, uint64_t lost)
{
    struct roast_branch told[1];
    roast_record rec;

    if (roast_record_decode(&rec, NULL, frame, NULL) < 0 ||
        pair_of(&rec, ROAST_FIELD_losses, ROAST_LOSS_branches) != lost)
        return false;
    if (roast_record_has(&rec, ROAST_FIELD_branches) &&
        roast_branches_read(told, 1, rec.values[ROAST_FIELD_branches].str, NULL) !=
            BRANCHES - (int64_t)lost)
        return false;
    return has_or_says_why(&rec, ROAST_FIELD_branches) &&
           has_or_says_why(&rec, ROAST_FIELD_endpoints) &&
           has_or_says_why(&rec, ROAST_FIELD_file_facts) &&
           has_or_says_why(&rec, ROAST_FIELD_file_branches);
}

/* A chunk that claims the attempt. True if it has a whole record, or no memory. */
static bool run_chunk(roast_thread *thread, uint64_t lost)
{
    const struct roast_chunk_options options = ROAST_CHUNK_OPTIONS_INIT;
    struct roast_str frame = {NULL, 0};

    roast_chunk_begin(thread, &options);
    roast_chunk_start(thread);
    roast_chunk_stop(thread);
    int status = roast_chunk_finish(thread, &ended_well, &frame, NULL);
    return status == ROAST_OK ? is_whole(frame, lost) : status == ROAST_NO_MEMORY;
}

/* All of its frames, or NO_MEMORY with less, but whole. */
static bool end_swept_attempt(roast_thread *thread, uint64_t lost, bool decorated)
{
    struct roast_str frames = {NULL, 0};
    int status = attempt_end(thread, &ended_well, &frames, NULL);
    uint64_t count = count_frames(frames);
    roast_record first = {.present = 0};

    if (status == ROAST_OK ? count != (decorated ? 1 : 2) : !test_heap_failed())
        return false;
    if (count > 0 && roast_record_decode(&first, NULL, frames, NULL) < 0)
        return false;
    if (first.kind == ROAST_FRAME_CHUNK && !is_whole(frames, lost))
        return false;
    return count_frames(roast_attempt_packed(thread, 0)) == 1;
}

/* Three attempts: when memory lacked for the first only, the others are as good as
 * new. */
static bool run_armed(bool decorated)
{
    const struct roast_attempt_item item = {.dataset = {"TTbar", 5}};
    roast_thread *thread = roast_thread_get(NULL);

    for (int i = 0; thread && i < 3; i++) {
        if (!roast_attempt_begin(thread, NULL, &item).data)
            return false;
        roast_ladder_arm(thread, 0);
        uint64_t lost = read_branches(thread);
        roast_ladder_phase(thread, ROAST_ITEM_compute);
        if (lost > 0 && !test_heap_failed())
            return false;
        if (lost > 0 && i > 0 && !test_heap.from_then_on)
            return false;
        if (decorated && !run_chunk(thread, lost))
            return false;
        if (!end_swept_attempt(thread, lost, decorated))
            return false;
    }
    return thread || test_heap_failed();
}

static bool run_decorated(void)
{
    return run_armed(true);
}

static bool run_undecorated(void)
{
    return run_armed(false);
}

/* ---- the sweep --------------------------------------------------------------- */

/* State, texts, tables (three arrays, names, branches of the file), blobs, frames. */
static void armed_attempts_survive(void **state)
{
    (void)state;
    sweep_both(run_decorated, 12);
    sweep_both(run_undecorated, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(armed_attempts_survive),
    };
    return cmocka_run_group_tests_name("oom/ladder", tests, NULL, NULL);
}
