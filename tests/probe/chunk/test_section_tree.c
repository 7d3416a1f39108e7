/* SPDX-License-Identifier: BSD-3-Clause */
/* test_section_tree.c - sections added up per (parent, name, kind), and behaviour above
 * the limits: times and passes are kept, names and depth are counted as lost. */
#include <stdio.h>

#include "probe/chunk/thread.h"
#include "probe/section_help.h"

enum { NODES = ROAST_SECTION_MAX_NODES, DEPTH = ROAST_SECTION_MAX_DEPTH };

static struct sections sections; /* large, so not on the stack */

static struct roast_section_token open_section(roast_thread *thread, const char *name)
{
    return roast_section_begin(thread, roast_str_of(name), ROAST_SECTION_TIME);
}

static void fill_names(roast_thread *thread, unsigned count)
{
    char name[32];

    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(name, sizeof(name), "name %u", i);
        pass(thread, name);
    }
}

static void passes_of_one_name_add_up(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    for (int i = 0; i < 100; i++)
        pass(thread, "jets");
    pass(thread, "muons");
    roast_record rec = end_chunk(thread);
    read_sections(&sections, &rec);
    assert_int_equal(sections.count, 2);
    assert_int_equal(SECTION(&sections, "jets")->count, 100);
    assert_int_equal(SECTION(&sections, "muons")->count, 1);
}

static void one_name_under_two_parents_is_two_sections(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    for (int i = 0; i < 3; i++) {
        struct roast_section_token outer = open_section(thread, "jets");
        pass(thread, "clean");
        roast_section_end(thread, outer, 0);
    }
    struct roast_section_token outer = open_section(thread, "muons");
    pass(thread, "clean");
    roast_section_end(thread, outer, 0);
    pass(thread, "clean");
    roast_record rec = end_chunk(thread);
    read_sections(&sections, &rec);
    assert_int_equal(sections.count, 5);
    assert_int_equal(SECTION(&sections, "jets", "clean")->count, 3);
    assert_int_equal(SECTION(&sections, "muons", "clean")->count, 1);
    assert_int_equal(SECTION(&sections, "clean")->count, 1);
}

static void a_section_may_hold_itself(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    struct roast_section_token outer = open_section(thread, "f");
    pass(thread, "f");
    roast_section_end(thread, outer, 0);
    roast_record rec = end_chunk(thread);
    read_sections(&sections, &rec);
    assert_true(SECTION(&sections, "f")->total_ns >=
                SECTION(&sections, "f", "f")->total_ns);
}

static uint64_t count_passes(void)
{
    uint64_t passes = 0;

    for (size_t i = 0; i < sections.count; i++)
        passes += sections.all[i].count;
    return passes;
}

static void a_million_names_keep_every_pass(void **state)
{
    enum { MILLION = 1000000 };
    roast_thread *thread = begin_chunk();
    (void)state;

    fill_names(thread, MILLION);
    roast_record rec = end_chunk(thread);
    read_sections(&sections, &rec);
    assert_int_equal(sections.count, NODES);
    assert_int_equal(count_passes(), MILLION);
    assert_int_equal(SECTION(&sections, "(other)")->count, MILLION - (NODES - 1));
    assert_int_equal(loss_of(&rec, ROAST_LOSS_section_names), MILLION - (NODES - 1));
    assert_int_equal(loss_of(&rec, ROAST_LOSS_intervals),
                     MILLION - ROAST_SECTION_MAX_INTERVALS);
}

static void names_known_before_the_cap_go_on_adding_up(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    fill_names(thread, 1000);
    pass(thread, "name 7");
    roast_record rec = end_chunk(thread);
    read_sections(&sections, &rec);
    assert_int_equal(SECTION(&sections, "name 7")->count, 2);
}

static void long_names_use_up_their_memory_before_the_nodes(void **state)
{
    roast_thread *thread = begin_chunk();
    char name[ROAST_SECTION_MAX_NAME_BYTES + 1];
    (void)state;

    for (int i = 0; i < 200; i++) {
        (void)snprintf(name, sizeof(name), "%0200d", i);
        pass(thread, name);
    }
    pass(thread, "x"); /* there is room for a short one */
    roast_record rec = end_chunk(thread);
    read_sections(&sections, &rec);
    assert_int_equal(count_passes(), 201);
    assert_int_equal(SECTION(&sections, "x")->count, 1);
    assert_int_equal(SECTION(&sections, "(other)")->count,
                     loss_of(&rec, ROAST_LOSS_section_names));
    assert_true(sections.count > 80 && sections.count < 85);
}

/* Time under "(other)" is already counted: sections inside it must not count again, not
 * even under a name that exists under process(). */
static void what_is_inside_other_is_counted_once(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    fill_names(thread, 1000);
    struct roast_section_token one = open_section(thread, "new one");
    struct roast_section_token two = open_section(thread, "new two");
    pass(thread, "name 7");
    pass(thread, "new three");
    roast_section_end(thread, two, 0);
    roast_section_end(thread, one, 0);
    roast_record rec = end_chunk(thread);
    read_sections(&sections, &rec);
    assert_int_equal(SECTION(&sections, "name 7")->count, 1);
    assert_int_equal(SECTION(&sections, "(other)")->count, 1000 - (NODES - 1) + 1);
    assert_int_equal(loss_of(&rec, ROAST_LOSS_section_names), 1000 - (NODES - 1) + 4);
}

static void an_exception_inside_other_names_it_once(void **state)
{
    static const int error;
    roast_thread *thread = begin_chunk();
    (void)state;

    fill_names(thread, 1000);
    (void)open_section(thread, "name 7");
    (void)open_section(thread, "new one");
    (void)open_section(thread, "new two");
    roast_section_failed(thread, &error);
    roast_chunk_stop(thread);
    roast_record rec =
        finish_chunk(thread, (struct roast_chunk_end){.status = ROAST_CHUNK_FAILED,
                                                      .error_token = &error});
    assert_str_is(rec.values[ROAST_FIELD_error_section].str, "name 7/(other)");
}

static void sections_too_deep_are_left_to_their_parent(void **state)
{
    struct roast_section_token tokens[DEPTH + 6];
    roast_thread *thread = begin_chunk();
    (void)state;

    for (size_t i = 0; i < COUNT_OF(tokens); i++)
        tokens[i] = open_section(thread, "deeper");
    for (size_t i = COUNT_OF(tokens); i-- > 0;)
        roast_section_end(thread, tokens[i], 0);
    roast_record rec = end_chunk(thread);
    read_sections(&sections, &rec);
    assert_int_equal(sections.count, DEPTH);
    assert_int_equal(sections.all[DEPTH - 1].depth, DEPTH - 1);
    assert_int_equal(loss_of(&rec, ROAST_LOSS_section_depth), 6);
    assert_int_equal(loss_of(&rec, ROAST_LOSS_section_misuse), 0);
}

static void a_long_name_is_cut_between_characters(void **state)
{
    char name[ROAST_SECTION_MAX_NAME_BYTES + 60];
    roast_thread *thread = begin_chunk();
    (void)state;

    memset(name, 'n', sizeof(name));
    memcpy(name + ROAST_SECTION_MAX_NAME_BYTES - 1, "\xe2\x82\xac", 3);
    struct roast_section_token token =
        roast_section_begin(thread, str_from(name, sizeof(name)), ROAST_SECTION_TIME);
    memset(name, 'x', sizeof(name)); /* names are copied */
    roast_section_end(thread, token, 0);
    roast_record rec = end_chunk(thread);
    read_sections(&sections, &rec);
    assert_int_equal(sections.count, 1);
    assert_int_equal(sections.all[0].name.size_bytes, ROAST_SECTION_MAX_NAME_BYTES - 1);
    assert_int_equal(sections.all[0].name.data[5], 'n');
    assert_int_equal(loss_of(&rec, ROAST_LOSS_text_cut), 1);
}

static void a_section_without_a_name_has_an_empty_one(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    pass(thread, "");
    pass(thread, NULL);
    roast_record rec = end_chunk(thread);
    read_sections(&sections, &rec);
    assert_int_equal(sections.count, 1);
    assert_int_equal(SECTION(&sections, "")->count, 2);
}

static void an_emptied_tree_finds_nothing_of_before(void **state)
{
    roast_thread *thread = begin_chunk();
    (void)state;

    fill_names(thread, 1000);
    (void)open_section(thread, "left open");
    (void)end_chunk(thread);
    thread = begin_chunk();
    for (size_t i = 0; i < ROAST_SECTION_TREE_SLOTS; i++)
        assert_int_equal(thread->sections.slots[i], 0);
    pass(thread, "name 7");
    roast_record rec = end_chunk(thread);
    read_sections(&sections, &rec);
    assert_int_equal(sections.count, 1);
    assert_int_equal(SECTION(&sections, "name 7")->count, 1);
    assert_false(roast_record_has(&rec, ROAST_FIELD_losses));
}

static void the_writer_has_the_documented_bytes(void **state)
{
    static const char expected[] = "\x01\x00\x01\x04jets\x02\xac\x02";
    static struct roast_section_tree tree;
    struct roast_buf out = {0};
    (void)state;

    roast__section_tree_put_sections(&out, &tree);
    roast__section_tree_put_intervals(&out, &tree);
    assert_int_equal(out.size_bytes, 0); /* no loss */
    struct roast_section *sum =
        &tree.nodes[roast__section_tree_node(&tree, roast_str_of("jets"),
                                             ROAST_SECTION_TIME)]
             .sum;
    sum->kinds = ROAST_SECTION_TIME;
    sum->count = 2;
    sum->total_ns = 300;
    roast__section_tree_put_sections(&out, &tree);
    assert_int_equal(out.size_bytes, sizeof(expected) - 1);
    assert_memory_equal(out.data, expected, sizeof(expected) - 1);
    roast__buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_of_one_name_add_up),
        cmocka_unit_test(one_name_under_two_parents_is_two_sections),
        cmocka_unit_test(a_section_may_hold_itself),
        cmocka_unit_test(a_million_names_keep_every_pass),
        cmocka_unit_test(names_known_before_the_cap_go_on_adding_up),
        cmocka_unit_test(long_names_use_up_their_memory_before_the_nodes),
        cmocka_unit_test(what_is_inside_other_is_counted_once),
        cmocka_unit_test(an_exception_inside_other_names_it_once),
        cmocka_unit_test(sections_too_deep_are_left_to_their_parent),
        cmocka_unit_test(a_long_name_is_cut_between_characters),
        cmocka_unit_test(a_section_without_a_name_has_an_empty_one),
        cmocka_unit_test(an_emptied_tree_finds_nothing_of_before),
        cmocka_unit_test(the_writer_has_the_documented_bytes),
    };
    return cmocka_run_group_tests_name("probe/tree", tests, NULL, NULL);
}
