/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_branches.c - the branches of a chunk record that is being read.
 *
 * Lists are kept as they come, in few bytes, and joined by name at the end:
 *     list (1 byte), name length, name; of `branches` also reads, bytes, uncompressed
 *     bytes and ns, all varints
 * Records tell the uncompressed sizes of branches as a sum only. It stands with the
 * first branch: nobody reads it singly. */
#include "collect/measurement_branches.h"

#include <string.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "collect/json_bytes.h"

enum { COSTS = 4 };

static const struct {
    const char *key;
    double scale;
} cost_keys[COSTS] = {
    {"reads", 1}, {"bytes", 1}, {"uncompressed_bytes", 1}, {"seconds", 1e9}};

/* One entry of a list. */
struct entry {
    enum roast_branch_list list;
    struct roast_str name;
    uint64_t costs[COSTS];
};

void roast__branch_draft_clear(struct roast_branch_draft *draft)
{
    roast__buf_clear(&draft->entries);
    draft->count = 0;
    memset(draft->has_list, 0, sizeof(draft->has_list));
    draft->has_sizes = false;
    roast__rows_clear(&draft->sizes);
    roast__rows_clear(&draft->rows);
}

void roast__branch_draft_release(struct roast_branch_draft *draft)
{
    roast__buf_release(&draft->entries);
    roast__buf_release(&draft->sizes.bytes);
    roast__buf_release(&draft->rows.bytes);
}

/* ---- entries --------------------------------------------------------------------- */

static void put_entry(struct roast_branch_draft *draft, const struct entry *entry)
{
    struct roast_buf *out = &draft->entries;
    unsigned char list = (unsigned char)entry->list;

    roast__json_room(out, 64 + entry->name.size_bytes);
    roast__buf_put(out, &list, 1);
    roast__buf_put_varint(out, entry->name.size_bytes);
    roast__buf_put(out, entry->name.data, entry->name.size_bytes);
    for (int i = 0; i < COSTS && entry->list == ROAST_BRANCHES_READ; i++)
        roast__buf_put_varint(out, entry->costs[i]);
    draft->count++;
}

static struct entry next_entry(struct roast_cursor *cur)
{
    const unsigned char *list = roast__cursor_bytes(cur, 1);
    struct entry entry = {.list = list ? (enum roast_branch_list) * list
                                       : ROAST_BRANCHES_READ};

    entry.name.size_bytes = (size_t)roast__cursor_varint(cur);
    entry.name.data = (const char *)roast__cursor_bytes(cur, entry.name.size_bytes);
    for (int i = 0; i < COSTS && entry.list == ROAST_BRANCHES_READ; i++)
        entry.costs[i] = roast__cursor_varint(cur);
    return entry;
}

static struct roast_cursor entries_from(const struct roast_branch_draft *draft,
                                        size_t at)
{
    if (draft->count == 0)
        return roast__cursor(NULL, 0);
    return roast__cursor(draft->entries.data + at, draft->entries.size_bytes - at);
}

static struct entry entry_at(const struct roast_branch_draft *draft, uint32_t at)
{
    struct roast_cursor cur = entries_from(draft, at);

    return next_entry(&cur);
}

/* Of equal keys the last one counts: takes out what an earlier one said. */
static void begin_list(struct roast_branch_draft *draft, enum roast_branch_list list)
{
    struct roast_cursor cur = entries_from(draft, 0);
    unsigned char *kept = draft->entries.data;

    while (draft->has_list[list] && roast__cursor_left(&cur) > 0) {
        const unsigned char *from = cur.at;
        if (next_entry(&cur).list == list) {
            draft->count--;
            continue;
        }
        memmove(kept, from, (size_t)(cur.at - from));
        kept += cur.at - from;
    }
    if (draft->has_list[list] && draft->entries.data)
        draft->entries.size_bytes = (size_t)(kept - draft->entries.data);
    draft->has_list[list] = true;
}

/* ---- reading --------------------------------------------------------------------- */

static int read_costs(struct entry *entry, const struct roast_part *part)
{
    struct roast_json_token value;
    struct roast_str key;
    double number;
    int got;

    while ((got = roast__part_entry(part, &key, &value)) == 1) {
        for (int i = 0; i < COSTS; i++) {
            if (roast__str_is(key, cost_keys[i].key) &&
                roast__value_number(&value, &number))
                entry->costs[i] = roast__whole_of(number, cost_keys[i].scale);
        }
        int status = roast__part_skip(part, &value);
        if (status < 0)
            return status;
    }
    return got;
}

int roast__branch_draft_costs(struct roast_branch_draft *draft,
                              const struct roast_part *part)
{
    struct roast_json_token cost;
    struct roast_str key;
    int got;

    if (part->value->kind != ROAST_JSON_DICT)
        return roast__part_skip(part, part->value);
    begin_list(draft, ROAST_BRANCHES_READ);
    while ((got = roast__part_entry(part, &key, &cost)) == 1) {
        struct entry entry = {.list = ROAST_BRANCHES_READ};
        struct roast_kept name = roast__texts_keep(part->texts, key);
        int status = cost.kind == ROAST_JSON_DICT ? read_costs(&entry, part)
                                                  : roast__part_skip(part, &cost);
        if (status < 0)
            return status;
        entry.name = roast__texts_get(part->texts, name);
        if (entry.name.data) {
            put_entry(draft, &entry);
            part->texts->bytes.size_bytes = name.at; /* it has its place now */
        }
    }
    return got;
}

static int read_names(struct roast_branch_draft *draft, enum roast_branch_list list,
                      const struct roast_part *part)
{
    struct roast_json_token name;
    int got;

    begin_list(draft, list);
    while ((got = roast__part_item(part, &name)) == 1) {
        struct entry entry = {.list = list};
        if (name.kind == ROAST_JSON_TEXT)
            entry.name = roast__texts_clean(part->texts, name.text);
        if (entry.name.data)
            put_entry(draft, &entry);
        int status = roast__part_skip(part, &name);
        if (status < 0)
            return status;
    }
    return got;
}

/* A set is written as a dict with the list under a tag. */
int roast__branch_draft_names(struct roast_branch_draft *draft,
                              enum roast_branch_list list,
                              const struct roast_part *part)
{
    struct roast_json_token tagged;
    struct roast_str key;
    int got;

    if (part->value->kind == ROAST_JSON_LIST)
        return read_names(draft, list, part);
    if (part->value->kind != ROAST_JSON_DICT)
        return ROAST_OK;
    while ((got = roast__part_entry(part, &key, &tagged)) == 1) {
        bool is_tag = key.size_bytes > 2 && memcmp(key.data, "__", 2) == 0;
        int status = is_tag && tagged.kind == ROAST_JSON_LIST
                         ? read_names(draft, list, part)
                         : roast__part_skip(part, &tagged);
        if (status < 0)
            return status;
    }
    return got;
}

int roast__branch_draft_sizes(struct roast_branch_draft *draft,
                              const struct roast_part *part)
{
    struct roast_json_token size;
    struct roast_str key;
    double number;
    int got;

    if (part->value->kind != ROAST_JSON_DICT)
        return roast__part_skip(part, part->value);
    draft->has_sizes = true;
    roast__rows_clear(&draft->sizes);
    while ((got = roast__part_entry(part, &key, &size)) == 1) {
        struct roast_branch row = {.name = roast__texts_clean(part->texts, key)};
        row.sizes_known = roast__value_number(&size, &number);
        row.file_bytes = row.sizes_known ? roast__whole_of(number, 1) : 0;
        if (row.name.data)
            roast__rows_branch(&draft->sizes, &row);
        int status = roast__part_skip(part, &size);
        if (status < 0)
            return status;
    }
    return got;
}

uint64_t roast__branch_draft_hash(const struct roast_branch_draft *draft)
{
    struct roast_cursor cur = entries_from(draft, 0);
    uint64_t hash = 1;

    while (roast__cursor_left(&cur) > 0) {
        struct entry entry = next_entry(&cur);
        if (entry.list == ROAST_BRANCHES_ACCESSED)
            hash += roast__hash64(entry.name.data, entry.name.size_bytes) | 1;
    }
    return hash;
}

/* ---- joining --------------------------------------------------------------------- */

static int by_name(const void *context, uint32_t a, uint32_t b)
{
    const struct roast_branch_draft *draft = context;
    struct entry left = entry_at(draft, a);
    struct entry right = entry_at(draft, b);
    int order = roast__compare_str(left.name, right.name);

    if (order == 0)
        order = (int)left.list - (int)right.list;
    return order != 0 ? order : (a > b) - (a < b);
}

/* Where the entries begin, by name, list and order; owned. NULL: out of memory. */
static uint32_t *sort_entries(const struct roast_branch_draft *draft)
{
    uint32_t *sorted = roast__realloc(NULL, draft->count * sizeof(*sorted));
    struct roast_cursor cur = entries_from(draft, 0);

    for (size_t i = 0; sorted && i < draft->count; i++) {
        sorted[i] = (uint32_t)(cur.at - draft->entries.data);
        (void)next_entry(&cur);
    }
    if (sorted)
        roast__sort_u32(sorted, draft->count, by_name, draft);
    return sorted;
}

/* The first of the entries with this name. */
static size_t find_first(const struct roast_branch_draft *draft, const uint32_t *sorted,
                         struct roast_str name)
{
    size_t low = 0;
    size_t high = draft->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (roast__compare_str(entry_at(draft, sorted[middle]).name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* All entries of one name in one row; the last of `branches` counts. */
static struct roast_branch join(const struct roast_branch_draft *draft,
                                const uint32_t *sorted, size_t first)
{
    static const unsigned flags[ROAST_BRANCH_LISTS] = {
        [ROAST_BRANCHES_ACCESSED] = ROAST_BRANCH_DATA,
        [ROAST_BRANCHES_OFFSETS] = ROAST_BRANCH_OFFSETS,
    };
    struct roast_branch row = {.name = entry_at(draft, sorted[first]).name};

    for (size_t i = first; i < draft->count; i++) {
        struct entry entry = entry_at(draft, sorted[i]);
        if (!roast__str_equal(entry.name, row.name))
            break;
        row.flags |= flags[entry.list];
        if (entry.list != ROAST_BRANCHES_READ)
            continue;
        row.reads = entry.costs[0];
        row.bytes = entry.costs[1];
        row.uncompressed_bytes = entry.costs[2];
        row.ns = entry.costs[3];
    }
    return row;
}

/* What is still to be given to rows of branches that were looked at. */
struct sums {
    bool from_table; /* each has its own size there, and they add up */
    uint64_t file_bytes;
    uint64_t file_uncompressed_bytes;
};

static void set_sizes(struct roast_branch *row, const struct roast_branch_sizes *sizes,
                      struct sums *left)
{
    bool known = roast__sizes_find(&sizes->table, row->name, &row->file_bytes);

    if (!sizes->by_sums) {
        row->sizes_known = known;
        return;
    }
    row->sizes_known = sizes->sums_known && roast_branch_is_accessed(row) &&
                       (known || !left->from_table);
    if (!row->sizes_known)
        return;
    if (!left->from_table) {
        row->file_bytes = left->file_bytes;
        left->file_bytes = 0;
    }
    row->file_uncompressed_bytes = left->file_uncompressed_bytes;
    left->file_uncompressed_bytes = 0;
}

/* Branches in the order of the lists they are first in. */
struct walk {
    const struct roast_branch_draft *draft;
    const uint32_t *sorted;
    int list;
    struct roast_cursor cur;
};

static struct walk walk_from(const struct roast_branch_draft *draft,
                             const uint32_t *sorted)
{
    return (struct walk){draft, sorted, 0, entries_from(draft, 0)};
}

/* The next branch, each of them once; false at the end. */
static bool next_row(struct walk *walk, struct roast_branch *row)
{
    const struct roast_branch_draft *draft = walk->draft;

    for (; walk->list < ROAST_BRANCH_LISTS; walk->list++) {
        while (roast__cursor_left(&walk->cur) > 0) {
            uint32_t at = (uint32_t)(walk->cur.at - draft->entries.data);
            struct entry entry = next_entry(&walk->cur);
            if ((int)entry.list != walk->list)
                continue;
            size_t first = find_first(draft, walk->sorted, entry.name);
            if (walk->sorted[first] != at)
                continue;
            *row = join(draft, walk->sorted, first);
            return true;
        }
        walk->cur = entries_from(draft, 0);
    }
    return false;
}

/* Whether the sizes in the table add up to what the record says. */
static bool add_up(const struct roast_branch_draft *draft, const uint32_t *sorted,
                   const struct roast_branch_sizes *sizes)
{
    struct walk walk = walk_from(draft, sorted);
    struct roast_branch row;
    uint64_t sum = 0;

    while (next_row(&walk, &row)) {
        if (roast_branch_is_accessed(&row) &&
            roast__sizes_find(&sizes->table, row.name, &row.file_bytes))
            sum += row.file_bytes;
    }
    return sum == sizes->file_bytes;
}

static void put_rows(struct roast_branch_draft *draft, const uint32_t *sorted,
                     const struct roast_branch_sizes *sizes)
{
    struct walk walk = walk_from(draft, sorted);
    struct sums left = {
        .from_table = sizes->table.count > 0 && add_up(draft, sorted, sizes),
        .file_bytes = sizes->file_bytes,
        .file_uncompressed_bytes = sizes->file_uncompressed_bytes,
    };
    struct roast_branch row;

    while (next_row(&walk, &row)) {
        set_sizes(&row, sizes, &left);
        roast__rows_branch(&draft->rows, &row);
    }
}

bool roast__branch_draft_put(struct roast_branch_draft *draft,
                             const struct roast_branch_sizes *sizes, roast_record *rec)
{
    bool has_rows = draft->has_list[ROAST_BRANCHES_READ] ||
                    draft->has_list[ROAST_BRANCHES_ACCESSED];

    if (!roast__buf_ok(&draft->entries) || draft->entries.size_bytes > UINT32_MAX)
        return false;
    if (has_rows) {
        uint32_t *sorted = sort_entries(draft);
        if (!sorted)
            return false;
        put_rows(draft, sorted, sizes);
        roast__free(sorted);
        roast_record_set_str(rec, ROAST_FIELD_branches, roast__rows_blob(&draft->rows));
    }
    if (draft->has_sizes)
        roast_record_set_str(rec, ROAST_FIELD_file_branches,
                             roast__rows_blob(&draft->sizes));
    return roast__buf_ok(&draft->rows.bytes) && roast__buf_ok(&draft->sizes.bytes);
}
