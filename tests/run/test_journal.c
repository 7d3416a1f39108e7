/* SPDX-License-Identifier: BSD-3-Clause */
/* test_journal.c - the queue between a run and its live file: its entries, their order,
 * and what is dropped when it is full. */
#include <stdio.h>

#include "heap.h"
#include "run/journal/apply.h"
#include "run/put.h"
#include "runs.h"

static const size_t PLENTY = (size_t)1 << 20;

struct listening {
    roast_run *run;
    struct roast_journal journal;
    int half_full;
};

static void note_half_full(void *context)
{
    ((struct listening *)context)->half_full++;
}

static void listen(struct listening *to, size_t limit_bytes)
{
    *to = (struct listening){.journal = {.half_full = note_half_full, .context = to}};
    assert_int_equal(roast_run_new(&to->run, MONO_0, EPOCH_0, NULL), ROAST_OK);
    assert_int_equal(roast__journal_open(&to->journal, to->run, limit_bytes, NULL),
                     ROAST_OK);
}

static void end(struct listening *to)
{
    roast__journal_close(&to->journal);
    roast__journal_release(&to->journal);
    roast_run_free(to->run);
}

/* The number of bytes of entries; releases them. */
static size_t free_blocks(struct roast_block *blocks)
{
    size_t size = 0;

    while (blocks) {
        struct roast_block *next = blocks->next;
        size += blocks->size_bytes;
        roast__free(blocks);
        blocks = next;
    }
    return size;
}

/* The kinds of the entries, one letter each: a start, ... */
static void show_kinds(char out[100], const struct roast_block *blocks)
{
    for (; blocks; blocks = blocks->next) {
        struct roast_cursor in =
            roast__cursor(blocks->bytes + ROAST_BLOCK_HEAD_BYTES, blocks->size_bytes);
        while (roast__cursor_remaining(&in) > 0) {
            *out++ = (char)('a' - 1 + roast__cursor_varint(&in));
            uint64_t size = roast__cursor_varint(&in);
            assert_non_null(roast__cursor_bytes(&in, size));
        }
    }
    *out = '\0';
}

static void lose(roast_run *run)
{
    roast_run_lose(run, ROAST_RUN_LOSS_frames_dropped, 1);
}

static void changes_are_in_order_after_a_start(void **state)
{
    struct listening to;
    char kinds[100];
    (void)state;

    listen(&to, PLENTY);
    assert_null(roast__journal_take(&to.journal)); /* nothing changed */
    roast_run_finish(to.run, MONO_0);
    lose(to.run);
    roast_run_set_fact(to.run, ROAST_FACT_report_events, 1);
    roast_run_lose(to.run, ROAST_RUN_LOSS_frames_dropped, 0); /* no loss */
    struct roast_block *blocks = roast__journal_take(&to.journal);
    show_kinds(kinds, blocks);
    assert_string_equal(kinds, "ablk");
    assert_int_equal(blocks->changes, 3);
    assert_int_equal(to.journal.queued, 3);
    assert_int_equal(to.journal.held_bytes, blocks->size_bytes);
    roast__journal_done(&to.journal, free_blocks(blocks));
    assert_int_equal(to.journal.held_bytes, 0);
    end(&to);
}

static void nothing_is_queued_without_a_journal(void **state)
{
    struct listening to;
    (void)state;

    listen(&to, PLENTY);
    roast__journal_close(&to.journal);
    lose(to.run);
    assert_int_equal(to.journal.queued, 0);
    assert_null(to.run->journal);
    end(&to);
}

static void a_full_queue_drops_and_counts(void **state)
{
    struct listening to;
    char kinds[100];
    (void)state;

    listen(&to, 300);
    while (to.journal.dropped == 0)
        lose(to.run);
    uint64_t queued = to.journal.queued;
    assert_true(queued > 5 && queued < 20);
    assert_int_equal(to.half_full, 1);
    lose(to.run);
    assert_int_equal(to.journal.queued, queued);
    assert_int_equal(to.journal.dropped, 2);
    struct roast_block *blocks = roast__journal_take(&to.journal);
    assert_int_equal(blocks->changes, queued);
    show_kinds(kinds, blocks);
    assert_true(kinds[strlen(kinds) - 1] == 'a' - 1 + ROAST_ENTRY_dropped);
    assert_int_equal(to.journal.unreported, 0);
    lose(to.run); /* the writer still holds all of it */
    assert_int_equal(to.journal.dropped, 3);
    roast__journal_done(&to.journal, free_blocks(blocks));
    lose(to.run);
    assert_int_equal(to.journal.queued, queued + 1);
    blocks = roast__journal_take(&to.journal);
    show_kinds(kinds, blocks);
    assert_string_equal(kinds, "ql");
    (void)free_blocks(blocks);
    end(&to);
}

/* The first number of the last entry, which is a sample. */
static uint64_t who_was_sampled(const struct roast_block *block)
{
    struct roast_cursor in =
        roast__cursor(block->bytes + ROAST_BLOCK_HEAD_BYTES, block->size_bytes);
    uint64_t who = UINT64_MAX;

    while (roast__cursor_remaining(&in) > 0) {
        uint64_t kind = roast__cursor_varint(&in);
        uint64_t size = roast__cursor_varint(&in);
        struct roast_cursor payload =
            roast__cursor(roast__cursor_bytes(&in, size), (size_t)size);
        if (kind == ROAST_ENTRY_sample)
            who = roast__cursor_varint(&payload);
    }
    return who;
}

/* Bit 0 of the reference: the name follows. */
static void a_name_that_was_dropped_is_written_again(void **state)
{
    struct listening to;
    roast_sample sample = {.worker = roast_str_of("w"), .time_ns = 1};
    (void)state;

    listen(&to, 300);
    for (uint64_t expected = 3; to.journal.dropped == 0; expected = 2) {
        assert_int_equal(roast_run_add_sample(to.run, &sample, NULL), ROAST_OK);
        if (to.journal.dropped == 0)
            assert_int_equal(who_was_sampled(to.journal.last), expected);
    }
    roast__journal_done(&to.journal, free_blocks(roast__journal_take(&to.journal)));
    assert_int_equal(roast_run_add_sample(to.run, &sample, NULL), ROAST_OK);
    assert_int_equal(who_was_sampled(to.journal.last), 3);
    end(&to);
}

/* The missing count at the end is written too. */
static void taken_blocks_have_the_dropped_count(void **state)
{
    struct listening to;
    char kinds[100];
    char text[300];
    (void)state;

    memset(text, 'x', sizeof(text));
    listen(&to, 200);
    assert_int_equal(roast_run_set_note(to.run, ROAST_NOTES_label, roast_str_of("n"),
                                        str_from(text, sizeof(text)), NULL),
                     ROAST_OK);
    struct roast_block *blocks = roast__journal_take(&to.journal);
    show_kinds(kinds, blocks);
    assert_string_equal(kinds, "q");
    assert_int_equal(blocks->changes, 0);
    (void)free_blocks(blocks);
    end(&to);
}

static void large_entries_go_in_parts(void **state)
{
    struct listening to;
    char kinds[100];
    size_t size = 2 * (size_t)ROAST_ENTRY_MAX_BYTES + 7;
    char *text = calloc(size, 1);
    (void)state;

    assert_non_null(text);
    listen(&to, PLENTY);
    assert_int_equal(roast_run_set_note(to.run, ROAST_NOTES_document, roast_str_of("n"),
                                        str_from(text, size), NULL),
                     ROAST_OK);
    free(text);
    struct roast_block *blocks = roast__journal_take(&to.journal);
    show_kinds(kinds, blocks);
    assert_string_equal(kinds, "aoop");
    assert_int_equal(to.journal.queued, 1);
    for (const struct roast_block *block = blocks; block; block = block->next)
        assert_true(block->size_bytes < (1 << 20));
    (void)free_blocks(blocks);
    end(&to);
}

/* A process use takes some 40 bytes; 1000 of them with the numbers of a long run. */
static void uses_are_small(void **state)
{
    struct listening to;
    const uint64_t count = 1000;
    (void)state;

    listen(&to, PLENTY);
    for (uint64_t i = 0; i < count; i++) {
        struct roast_process_use use = {
            .pid = 1234567 + i % 64,
            .parent_pid = 1234500,
            .started_ticks = 987654321 + i % 64,
            .time_ns = EPOCH_0 + 7200 * SECOND + (int64_t)i,
            .cpu_ns = UINT64_C(7000000000000) + i,
            .rss_bytes = UINT64_C(3000000000) + i,
            .threads = 20,
            .io_known = true,
            .read_bytes = UINT64_C(30000000000) + i,
            .write_bytes = 4000000 + i,
        };
        assert_int_equal(roast_run_add_use(to.run, &use, NULL), ROAST_OK);
    }
    print_message("%zu bytes per use\n", to.journal.held_bytes / count);
    assert_true(to.journal.held_bytes <= 50 * count);
    end(&to);
}

static void only_an_untouched_run_is_listened_to(void **state)
{
    struct listening to;
    struct roast_journal second = {0};
    roast_error err = {0};
    (void)state;

    listen(&to, PLENTY);
    assert_int_equal(roast__journal_open(&second, to.run, PLENTY, &err), ROAST_LIMIT);
    assert_non_null(strstr(err.message, "open the file first"));
    roast__journal_close(&second); /* another journal */
    assert_ptr_equal(to.run->journal, &to.journal);
    end(&to);
}

/* ---- read again ---------------------------------------------------------- */

static void read_block(struct roast_apply *apply, const struct roast_block *block)
{
    struct roast_str entries =
        str_from(block->bytes + ROAST_BLOCK_HEAD_BYTES, block->size_bytes);

    if (!apply->run)
        assert_int_equal(roast__apply_start(apply, MONO_0, EPOCH_0, NULL), ROAST_OK);
    assert_int_equal(roast__apply_block(apply, entries, false, NULL), ROAST_OK);
}

/* Reads what is queued; the writer keeps it. */
static void read_queue(struct roast_apply *apply, struct listening *to)
{
    struct roast_block *blocks = roast__journal_take(&to->journal);

    for (const struct roast_block *block = blocks; block; block = block->next)
        read_block(apply, block);
    (void)free_blocks(blocks);
}

static void add_chunk(roast_run *run, uint32_t sequence, const char *file)
{
    struct test_record record;

    init_record(&record, ROAST_FRAME_CHUNK, 7, sequence);
    set_file(&record, "data", file, sequence, sequence + 1);
    set_text(&record, ROAST_FIELD_host, "h");
    assert_int_equal(roast__run_put_record(run, &record.rec, NULL, NULL), ROAST_OK);
}

/* One that may need parts, or just not. */
static void a_large_record_is_no_difference_to_another_block(void **state)
{
    static const size_t sizes[] = {ROAST_ENTRY_MAX_BYTES - 200,
                                   ROAST_ENTRY_MAX_BYTES - 110, ROAST_ENTRY_MAX_BYTES,
                                   3 * (size_t)ROAST_ENTRY_MAX_BYTES};
    (void)state;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct listening to;
        struct roast_apply apply = {0};
        char *file = malloc(sizes[i] + 1);
        assert_non_null(file);
        memset(file, 'f', sizes[i]);
        file[sizes[i]] = '\0';
        listen(&to, 8 * PLENTY);
        add_chunk(to.run, 1, "small");
        add_chunk(to.run, 2, file);
        add_chunk(to.run, 3, "small");
        add_chunk(to.run, 4, file);
        add_chunk(to.run, 5, file);
        read_queue(&apply, &to);
        assert_int_equal(to.journal.dropped, 0);
        assert_int_equal(apply.unread, 0);
        assert_int_equal(apply.run->attempts.count, 5);
        roast__apply_release(&apply);
        end(&to);
        free(file);
    }
}

/* Each is queued or counted; none that is queued is unreadable. */
static void records_near_the_limit_can_be_read(void **state)
{
    (void)state;

    for (size_t limit = 600; limit < 1200; limit += 20) {
        struct listening to;
        struct roast_apply apply = {0};
        listen(&to, limit);
        for (uint32_t i = 1; to.journal.dropped == 0; i++) {
            add_chunk(to.run, i, "small");
            read_queue(&apply, &to);
        }
        assert_int_equal(apply.unread, 0);
        assert_int_equal(apply.run->attempts.count, to.journal.queued);
        roast__apply_release(&apply);
        end(&to);
    }
}

static void an_empty_block_is_left_out(void **state)
{
    struct listening to;
    char kinds[100];
    char *text = calloc(2, ROAST_LIVE_BLOCK_BYTES);
    (void)state;

    assert_non_null(text);
    listen(&to, PLENTY);
    lose(to.run);
    roast__journal_reserve(&to.journal, ROAST_LIVE_BLOCK_BYTES); /* then nothing */
    assert_int_equal(
        roast_run_set_note(to.run, ROAST_NOTES_document, roast_str_of("n"),
                           str_from(text, 2 * (size_t)ROAST_LIVE_BLOCK_BYTES), NULL),
        ROAST_OK);
    free(text);
    struct roast_block *blocks = roast__journal_take(&to.journal);
    show_kinds(kinds, blocks);
    assert_string_equal(kinds, "aln");
    assert_int_equal(free_blocks(blocks), to.journal.held_bytes);
    end(&to);
}

/* Few notes may be set often; only changes are written. */
static void notes_may_be_set_often(void **state)
{
    struct listening to;
    struct roast_apply apply = {0};
    char text[16] = "";
    (void)state;

    listen(&to, 4 * PLENTY);
    for (int i = 0; i < 40000; i++) {
        (void)snprintf(text, sizeof(text), "%d", i / 2);
        assert_int_equal(roast_run_set_note(to.run, ROAST_NOTES_label,
                                            roast_str_of("n"), roast_str_of(text),
                                            NULL),
                         ROAST_OK);
    }
    assert_int_equal(to.journal.queued, 20000);
    read_queue(&apply, &to);
    assert_int_equal(apply.unread, 0);
    assert_int_equal(
        roast_run_note(apply.run, ROAST_NOTES_label, "n", text, sizeof(text)), 5);
    assert_string_equal(text, "19999");
    roast__apply_release(&apply);
    end(&to);
}

/* After a dropped change the file may not have the note. */
static void a_note_that_was_dropped_is_written_when_it_is_set_again(void **state)
{
    struct listening to;
    struct roast_apply apply = {0};
    struct roast_str name = roast_str_of("n");
    (void)state;

    listen(&to, 300);
    while (to.journal.dropped == 0)
        lose(to.run);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            roast_run_set_note(to.run, ROAST_NOTES_label, name, name, NULL), ROAST_OK);
        read_queue(&apply, &to);
        roast__journal_done(&to.journal, to.journal.held_bytes);
    }
    assert_int_equal(roast_run_note(apply.run, ROAST_NOTES_label, "n", NULL, 0), 1);
    roast__apply_release(&apply);
    end(&to);
}

struct saving {
    roast_run *run;
    struct roast_apply apply;
    int blocks;
};

static int read_and_remove_a_note(void *context, struct roast_block *block,
                                  roast_error *err)
{
    struct saving *saving = context;

    read_block(&saving->apply, block);
    return saving->blocks++ > 0
               ? ROAST_OK
               : roast_run_set_note(saving->run, ROAST_NOTES_document,
                                    roast_str_of("0"), str_from(NULL, 0), err);
}

static void a_list_may_change_while_it_is_saved(void **state)
{
    struct saving saving = {.run = new_run()};
    const int count = 60;
    const size_t size = 40000;
    char *text = calloc(size, 1);
    char name[16];
    (void)state;

    assert_non_null(text);
    for (int i = 0; i < count; i++) {
        (void)snprintf(name, sizeof(name), "%d", i);
        assert_int_equal(roast_run_set_note(saving.run, ROAST_NOTES_document,
                                            roast_str_of(name), str_from(text, size),
                                            NULL),
                         ROAST_OK);
    }
    free(text);
    assert_int_equal(
        roast__journal_dump(saving.run, read_and_remove_a_note, &saving, NULL),
        ROAST_OK);
    assert_true(saving.blocks > 2);
    assert_int_equal(saving.apply.unread, 0);
    assert_int_equal(saving.apply.run->notes.count, count);
    roast__apply_release(&saving.apply);
    roast_run_free(saving.run);
}

/* ---- no memory ----------------------------------------------------------- */

static void add_all(roast_run *run, const char *text)
{
    roast_sample sample = {.worker = roast_str_of("w"), .time_ns = 1};
    struct roast_process_use use = {.pid = 5};

    for (int i = 0; i < 40; i++) {
        (void)roast_run_add_sample(run, &sample, NULL);
        (void)roast_run_add_use(run, &use, NULL);
        lose(run);
        (void)roast_run_set_note(run, ROAST_NOTES_document, roast_str_of("n"),
                                 roast_str_of(text), NULL);
    }
}

/* The run has all changes; the queue has them, or counts the missing ones. */
static void without_memory_changes_are_dropped(void **state)
{
    size_t size = (size_t)ROAST_ENTRY_MAX_BYTES + 10;
    char *text = malloc(size);
    (void)state;

    assert_non_null(text);
    memset(text, 'x', size);
    text[size - 1] = '\0';
    test_heap_install();
    for (size_t n = 1; n < 200; n++) {
        struct listening to;
        listen(&to, (size_t)100 << 20);
        test_heap_fail(n, n % 2 == 0);
        add_all(to.run, text);
        test_heap_fail(0, false);
        uint64_t changes = to.journal.queued + to.journal.dropped;
        assert_true(changes <= 160);
        assert_int_equal(roast_run_lost(to.run, ROAST_RUN_LOSS_frames_dropped), 40);
        lose(to.run); /* with memory again, the missing count comes first */
        assert_int_equal(to.journal.unreported, 0);
        (void)free_blocks(roast__journal_take(&to.journal));
        end(&to);
        assert_int_equal(test_heap.live_blocks, 0);
    }
    roast__heap_set(NULL);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_in_order_after_a_start),
        cmocka_unit_test(nothing_is_queued_without_a_journal),
        cmocka_unit_test(a_full_queue_drops_and_counts),
        cmocka_unit_test(a_name_that_was_dropped_is_written_again),
        cmocka_unit_test(taken_blocks_have_the_dropped_count),
        cmocka_unit_test(large_entries_go_in_parts),
        cmocka_unit_test(uses_are_small),
        cmocka_unit_test(only_an_untouched_run_is_listened_to),
        cmocka_unit_test(a_large_record_is_no_difference_to_another_block),
        cmocka_unit_test(records_near_the_limit_can_be_read),
        cmocka_unit_test(an_empty_block_is_left_out),
        cmocka_unit_test(notes_may_be_set_often),
        cmocka_unit_test(a_note_that_was_dropped_is_written_when_it_is_set_again),
        cmocka_unit_test(a_list_may_change_while_it_is_saved),
        cmocka_unit_test(without_memory_changes_are_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
