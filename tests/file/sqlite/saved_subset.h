/* SPDX-License-Identifier: BSD-3-Clause */
/* saved_subset.h - what is read of a damaged file must have been saved. */
#ifndef ROAST_TESTS_FILE_SQLITE_SAVED_SUBSET_H
#define ROAST_TESTS_FILE_SQLITE_SAVED_SUBSET_H

#include "expected_run.h"

static inline struct roast_str frame_at(const struct roast_chunk_list *list, size_t i)
{
    return str_from(list->frames + list->items[i].offset, list->items[i].size_bytes);
}

/* Whether they are equal but for the start: without the offsets of clocks, which may be
 * damaged, it is shown by the clock of the worker. */
static inline bool is_same_record(struct roast_str saved, struct roast_str frame)
{
    unsigned char bytes[1 << 16];
    roast_record a, b;

    assert_int_equal(roast_record_decode(&a, NULL, saved, NULL), ROAST_OK);
    assert_int_equal(roast_record_decode(&b, NULL, frame, NULL), ROAST_OK);
    b.values[ROAST_FIELD_start_epoch_ns] = a.values[ROAST_FIELD_start_epoch_ns];
    int64_t size = roast_record_encode(bytes, sizeof(bytes), &b, NULL);
    assert_true(size > 0);
    return str_equal(str_from(bytes, (size_t)size), saved);
}

static inline bool has_frame(const struct roast_chunk_list *list,
                             struct roast_str frame)
{
    for (size_t i = 0; i < list->count; i++) {
        if (is_same_record(frame_at(list, i), frame))
            return true;
    }
    return false;
}

static inline void assert_saved_records(const struct expected_run *expected,
                                        roast_run *run)
{
    struct roast_chunk_list list;

    assert_int_equal(roast_run_chunks(run, &list, NULL), ROAST_OK);
    for (size_t i = 0; i < list.count; i++)
        assert_true(has_frame(&expected->chunks, frame_at(&list, i)));
    roast_chunk_list_release(&list);
}

static inline void assert_saved_facts(const struct expected_run *expected,
                                      roast_run *run)
{
    for (int i = 0; i < ROAST_FACT_COUNT; i++) {
        double value, known;
        if (!roast_run_fact(run, (enum roast_fact)i, &value))
            continue;
        assert_true(roast_run_fact(expected->run, (enum roast_fact)i, &known));
        assert_true(value == known);
    }
}

static inline void assert_saved_note(void *context, struct roast_str name,
                                     struct roast_str text)
{
    const struct roast_notes *notes = context;

    for (size_t i = 0; i < notes->count; i++) {
        if (str_equal(roast__note_name(&notes->items[i]), name) &&
            str_equal(roast__note_text(&notes->items[i]), text))
            return;
    }
    fail_msg("a note that was never set");
}

/* Series are unchanged or absent. */
static inline void assert_saved_samples(const struct expected_run *expected,
                                        const roast_run *run)
{
    const struct roast_samples *all = &expected->run->samples;

    for (size_t i = 0; i < run->samples.count; i++) {
        const struct roast_worker_samples *worker = &run->samples.workers[i];
        struct roast_str name = roast__strings_get(&run->strings, worker->name);
        const struct roast_worker_samples *own = roast__samples_find(
            all, roast__strings_find(&expected->run->strings, name));
        assert_non_null(own);
        assert_true(worker->times.size_bytes == 0 ||
                    str_equal(buf_str(&worker->times), buf_str(&own->times)));
        for (int k = 0; k < ROAST_SERIES_COUNT; k++)
            assert_true(
                roast__series_of(worker, (enum roast_series)k)->changes.size_bytes ==
                    0 ||
                str_equal(
                    buf_str(&roast__series_of(worker, (enum roast_series)k)->changes),
                    buf_str(&roast__series_of(own, (enum roast_series)k)->changes)));
    }
}

#endif
