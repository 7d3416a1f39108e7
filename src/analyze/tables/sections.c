/* SPDX-License-Identifier: BSD-3-Clause */
/* sections.c - the tables `sections` and `chunk_sections`.
 *
 * Sections of the same name are kept apart by their parent, so that the totals of one
 * level can be added. */
#include "analyze/record_iter.h"
#include "analyze/tables/job.h"
#include "analyze/totals/groups.h"
#include "base/array.h"

#define AT(name) ROAST_COL_sections_##name

/* For example "time+memory". */
static struct roast_str kind_text(unsigned kinds, char room[32])
{
    static const struct {
        unsigned kind;
        const char *name;
    } all[] = {
        {ROAST_SECTION_TIME, "+time"},
        {ROAST_SECTION_MEMORY, "+memory"},
        {ROAST_SECTION_BYTES, "+bytes"},
        {ROAST_SECTION_CALL, "+call"},
    };
    size_t used = 0;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (!(kinds & all[i].kind))
            continue;
        memcpy(room + used, all[i].name, strlen(all[i].name));
        used += strlen(all[i].name);
    }
    if (used == 0)
        return (struct roast_str){NULL, 0};
    return (struct roast_str){room + 1, used - 1};
}

/* ---- sums ------------------------------------------------------------------------ */

/* A section within its parent within a file. */
struct node {
    int32_t file; /* number of its key */
    int64_t parent;
    unsigned depth;
    unsigned kinds;
    uint64_t chunks;
    uint64_t count;
    bool has_time;
    double total_ns;
    double self_ns;
    double memory_bytes;
    uint64_t peak_bytes;
    double bytes;
};

/* Adds the sections of a chunk; false when out of memory. Parents come before their
 * children. */
static bool add_chunk(struct roast_key_table *nodes, struct roast_section_list *list,
                      int32_t file)
{
    int64_t number = ROAST_NO_HINT;

    for (size_t i = 0; i < list->count; i++) {
        const struct roast_section *section = &list->all[i];
        int64_t parent =
            section->parent < 0 ? -1 : (int64_t)list->numbers[section->parent];
        struct roast_key key = {section->name, (uint32_t)file, (uint64_t)(parent + 1)};
        number = roast__key_number(nodes, key, number + 1);
        if (number < 0)
            return false;
        list->numbers[i] = (uint32_t)number;
        struct node *node = (struct node *)nodes->values + number;
        node->file = file;
        node->parent = parent;
        node->depth = section->depth;
        node->kinds |= section->kinds;
        node->chunks++;
        node->count = roast__sat_count(node->count, section->count);
        node->has_time |= roast__section_has_time(section);
        node->total_ns += (double)section->total_ns;
        node->self_ns += (double)section->self_ns;
        if (section->kinds & ROAST_SECTION_MEMORY)
            node->memory_bytes += (double)section->memory_delta_bytes;
        if (section->kinds & ROAST_SECTION_BYTES)
            node->bytes += (double)section->bytes;
        if (section->memory_peak_bytes > node->peak_bytes)
            node->peak_bytes = section->memory_peak_bytes;
    }
    return true;
}

static void put_node(const struct roast_table_job *job, const struct roast_keys *files,
                     const struct roast_key_table *nodes, size_t number)
{
    const struct node *node = (const struct node *)nodes->values + number;
    roast_table *to = job->to;
    char room[32];

    roast__table_row(to);
    roast__put_dataset_file(job, AT(dataset), AT(file),
                            files->first_item[node->file] - 1);
    roast__fill_text(to, AT(name), nodes->keys[number].name);
    if (node->parent >= 0)
        roast__fill_text(to, AT(parent), nodes->keys[node->parent].name);
    roast__fill_int(to, AT(depth), node->depth);
    roast__fill_text(to, AT(kind), kind_text(node->kinds, room));
    roast__fill_count(to, AT(chunks), node->chunks);
    roast__fill_count(to, AT(count), node->count);
    if (node->has_time) {
        roast__fill_number(to, AT(total), node->total_ns / 1e9);
        roast__fill_number(to, AT(self), node->self_ns / 1e9);
    }
    if (node->kinds & ROAST_SECTION_MEMORY)
        roast__fill_sum(to, AT(memory_delta_bytes), node->memory_bytes);
    if (node->kinds & ROAST_SECTION_BYTES)
        roast__fill_sum(to, AT(bytes), node->bytes);
    if (node->kinds & ROAST_SECTION_PEAK)
        roast__fill_count(to, AT(memory_peak_bytes), node->peak_bytes);
}

void roast__make_sections(const struct roast_table_job *job)
{
    struct roast_record_iter iter = {.ctx = job->ctx,
                                     .fields = ROAST_FIELD_BIT(sections),
                                     .roles = ROAST_ROLES_COUNT};
    struct roast_key_table nodes = {.value_bytes = sizeof(struct node)};
    struct roast_section_list list = {0};
    struct roast_keys files = {0};
    bool done = roast__join_sources(&files, job->ctx, roast__key_of_dataset_file);

    while (done && roast__record_iter_next(&iter)) {
        int32_t source = job->run->attempts.source[iter.row];
        done = roast__record_sections(&list, &iter.rec) &&
               add_chunk(&nodes, &list, files.key_of[source + 1]);
    }
    if (!done)
        roast__table_fail(job->to);
    for (size_t i = 0; i < nodes.count && roast__table_ok(job->to); i++)
        put_node(job, &files, &nodes, i);
    roast__keys_release(&files);
    roast__key_table_release(&nodes);
    roast__section_list_release(&list);
}

/* ---- by chunk -------------------------------------------------------------------- */

#undef AT
#define AT(name) ROAST_COL_chunk_sections_##name

void roast__make_chunk_sections(const struct roast_table_job *job)
{
    struct roast_chunk_iter iter = {.job = job};
    unsigned char identity[ROAST_IDENTITY_BYTES];
    struct roast_section_list list = {0};
    roast_record rec;

    if (!(job->run->attempts.fields & ROAST_FIELD_BIT(sections)))
        return;
    while (roast__table_ok(job->to) && roast__chunk_iter_next(&iter)) {
        (void)roast__attempt_record(job->run, iter.row, &rec, identity);
        if (!roast__record_sections(&list, &rec))
            roast__table_fail(job->to);
        for (size_t i = 0; i < list.count; i++) {
            const struct roast_section *section = &list.all[i];
            char room[32];
            roast__table_row(job->to);
            roast__fill_count(job->to, AT(chunk_id), iter.chunk_id);
            roast__fill_text(job->to, AT(name), section->name);
            if (section->parent >= 0)
                roast__fill_text(job->to, AT(parent), list.all[section->parent].name);
            roast__fill_int(job->to, AT(depth), section->depth);
            roast__fill_text(job->to, AT(kind), kind_text(section->kinds, room));
            roast__fill_count(job->to, AT(count), section->count);
            if (roast__section_has_time(section)) {
                roast__fill_number(job->to, AT(total), (double)section->total_ns / 1e9);
                roast__fill_number(job->to, AT(self), (double)section->self_ns / 1e9);
            }
            if (section->kinds & ROAST_SECTION_MEMORY)
                roast__fill_int(job->to, AT(memory_delta_bytes),
                                section->memory_delta_bytes);
            if (section->kinds & ROAST_SECTION_BYTES)
                roast__fill_count(job->to, AT(bytes), section->bytes);
            if (section->kinds & ROAST_SECTION_PEAK)
                roast__fill_count(job->to, AT(memory_peak_bytes),
                                  section->memory_peak_bytes);
        }
    }
    roast__section_list_release(&list);
}
