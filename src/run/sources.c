/* SPDX-License-Identifier: BSD-3-Clause */
/* sources.c - the files of datasets that attempts read, each once; names by id.
 *
 * The hash of a source uses dataset and file only, so that a source by ids finds the
 * one that records of the same file have. */
#include "run/sources.h"

#include "base/array.h"
#include "base/mem.h"
#include "roast/record.h"
#include "run/attempts.h"

static uint64_t hash_pair(bool by_id, uint32_t dataset, uint32_t file)
{
    return roast__hash_number(((uint64_t)dataset << 32 | file) + by_id);
}

static uint64_t hash_source(const struct roast_source *source)
{
    if (source->by_id)
        return hash_pair(true, source->dataset_id, source->file_id);
    return hash_pair(false, (uint32_t)source->dataset, (uint32_t)source->file);
}

static uint64_t hash_of_source(const void *table, uint32_t item)
{
    const struct roast_attempts *attempts = table;
    return hash_source(&attempts->sources[item]);
}

static bool is_same(const struct roast_source *a, const struct roast_source *b)
{
    if (a->by_id || b->by_id)
        return a->by_id == b->by_id && a->dataset_id == b->dataset_id &&
               a->file_id == b->file_id;
    return a->dataset == b->dataset && a->file == b->file && a->tree == b->tree &&
           a->uuid == b->uuid;
}

static int32_t find_source(const struct roast_attempts *attempts,
                           const struct roast_source *wanted)
{
    const struct roast_hash_table *slots = &attempts->source_slots;

    for (size_t at = roast__hash_first(slots, hash_source(wanted));
         roast__hash_holds(slots, at); at = roast__hash_next(slots, at)) {
        uint32_t item = roast__hash_item(slots, at);
        if (is_same(&attempts->sources[item], wanted))
            return (int32_t)item;
    }
    return ROAST_NO_SOURCE;
}

/* Adds a new source. */
static int32_t add_source(struct roast_attempts *attempts,
                          const struct roast_source *source)
{
    struct roast_source *sources =
        roast__array_room(attempts->sources, &attempts->source_cap,
                          attempts->source_count, sizeof(*sources));

    if (!sources)
        return ROAST_SOURCE_NO_MEMORY;
    attempts->sources = sources;
    if (attempts->source_count >= INT32_MAX ||
        !roast__hash_room(&attempts->source_slots, attempts->source_count,
                          hash_of_source, attempts))
        return ROAST_SOURCE_NO_MEMORY;
    size_t index = attempts->source_count++;
    sources[index] = *source;
    roast__hash_put(&attempts->source_slots, hash_source(source), (uint32_t)index);
    return (int32_t)index;
}

/* The number of a text of the record; absent is fine. On entry *id is a likely
 * number. */
static bool intern(int32_t *id, struct roast_string_table *strings,
                   const roast_record *rec, enum roast_field field)
{
    int32_t likely = *id;

    *id = ROAST_NO_STRING;
    if (roast_record_has(rec, field))
        *id = roast__strings_put_again(strings, rec->values[field].str, likely);
    return *id != ROAST_STRING_NO_MEMORY;
}

int32_t roast__sources_of_record(struct roast_attempts *attempts,
                                 struct roast_string_table *strings,
                                 struct roast_names *names, const roast_record *rec)
{
    size_t last = (size_t)attempts->last.source;
    struct roast_source source = {ROAST_NO_STRING,
                                  ROAST_NO_STRING,
                                  ROAST_NO_STRING,
                                  ROAST_NO_STRING,
                                  false,
                                  0,
                                  0};

    if (last < attempts->source_count)
        source = attempts->sources[last];
    source.by_id = false;
    source.dataset_id = source.file_id = 0;
    if (!intern(&source.dataset, strings, rec, ROAST_FIELD_dataset) ||
        !intern(&source.file, strings, rec, ROAST_FIELD_file) ||
        !intern(&source.tree, strings, rec, ROAST_FIELD_treename) ||
        !intern(&source.uuid, strings, rec, ROAST_FIELD_uuid))
        return ROAST_SOURCE_NO_MEMORY;
    if (source.dataset < 0 && source.file < 0 && source.tree < 0 && source.uuid < 0)
        return ROAST_NO_SOURCE;
    int32_t index = find_source(attempts, &source);
    if (index >= 0) {
        attempts->last.source = index;
        return index;
    }
    if (!roast__names_add(names, strings, source.dataset) ||
        !roast__names_add(names, strings, source.file))
        return ROAST_SOURCE_NO_MEMORY;
    return add_source(attempts, &source);
}

int32_t roast__sources_of_ids(struct roast_attempts *attempts, uint32_t dataset_id,
                              uint32_t file_id)
{
    struct roast_source source = {
        .dataset = ROAST_NO_STRING,
        .file = ROAST_NO_STRING,
        .tree = ROAST_NO_STRING,
        .uuid = ROAST_NO_STRING,
        .by_id = true,
        .dataset_id = dataset_id,
        .file_id = file_id,
    };

    if (dataset_id == 0 && file_id == 0)
        return ROAST_NO_SOURCE;
    int32_t index = find_source(attempts, &source);
    return index >= 0 ? index : add_source(attempts, &source);
}

static bool is_by_id(const struct roast_attempts *attempts, int32_t source)
{
    return source >= 0 && attempts->sources[source].by_id;
}

void roast__sources_set(struct roast_attempts *attempts, size_t row, int32_t source)
{
    attempts->rows_by_id -= is_by_id(attempts, attempts->source[row]);
    attempts->rows_by_id += is_by_id(attempts, source);
    attempts->source[row] = source;
}

/* The first source that records of this dataset and file have; -1: none. */
static int32_t find_named(const struct roast_attempts *attempts, int32_t dataset,
                          int32_t file)
{
    const struct roast_hash_table *slots = &attempts->source_slots;
    size_t at =
        roast__hash_first(slots, hash_pair(false, (uint32_t)dataset, (uint32_t)file));

    for (; roast__hash_holds(slots, at); at = roast__hash_next(slots, at)) {
        uint32_t item = roast__hash_item(slots, at);
        const struct roast_source *source = &attempts->sources[item];
        if (!source->by_id && source->dataset == dataset && source->file == file)
            return (int32_t)item;
    }
    return ROAST_NO_SOURCE;
}

void roast__sources_resolve(struct roast_attempts *attempts,
                            const struct roast_names *names)
{
    for (size_t i = 0; i < attempts->source_count; i++) {
        struct roast_source *source = &attempts->sources[i];
        if (!source->by_id)
            continue;
        source->dataset = roast__names_find(names, source->dataset_id);
        source->file = roast__names_find(names, source->file_id);
    }
    for (size_t row = 0; attempts->rows_by_id > 0 && row < attempts->count; row++) {
        if (attempts->source[row] < 0)
            continue;
        const struct roast_source *source = &attempts->sources[attempts->source[row]];
        bool named_set = source->dataset >= 0 || source->dataset_id == 0;
        if (!source->by_id || !named_set || source->file < 0)
            continue;
        int32_t named = find_named(attempts, source->dataset, source->file);
        if (named >= 0)
            roast__sources_set(attempts, row, named);
    }
}

/* ---- names by id ----------------------------------------------------------------- */

static uint64_t hash_of_name(const void *table, uint32_t item)
{
    const struct roast_names *names = table;
    return roast__hash_number(names->items[item].id);
}

static bool is_known(const struct roast_names *names, struct roast_name name)
{
    const struct roast_hash_table *slots = &names->slots;
    size_t at = roast__hash_first(slots, roast__hash_number(name.id));

    for (; roast__hash_holds(slots, at); at = roast__hash_next(slots, at)) {
        if (names->items[roast__hash_item(slots, at)].text == name.text)
            return true;
    }
    return false;
}

bool roast__names_has(const struct roast_names *names,
                      const struct roast_string_table *strings, int32_t text)
{
    return is_known(names, (struct roast_name){
                               roast_name_id(roast__strings_get(strings, text)), text});
}

bool roast__names_add(struct roast_names *names,
                      const struct roast_string_table *strings, int32_t text)
{
    if (text < 0)
        return true;
    struct roast_name name = {roast_name_id(roast__strings_get(strings, text)), text};
    if (is_known(names, name))
        return true;
    struct roast_name *items =
        roast__array_room(names->items, &names->cap, names->count, sizeof(*items));
    if (!items)
        return false;
    names->items = items;
    if (!roast__hash_room(&names->slots, names->count, hash_of_name, names))
        return false;
    items[names->count] = name;
    roast__hash_put(&names->slots, roast__hash_number(name.id), (uint32_t)names->count);
    names->count++;
    return true;
}

int32_t roast__names_find(const struct roast_names *names, uint32_t id)
{
    const struct roast_hash_table *slots = &names->slots;
    int32_t found = ROAST_NO_STRING;

    if (id == 0)
        return ROAST_NO_STRING;
    for (size_t at = roast__hash_first(slots, roast__hash_number(id));
         roast__hash_holds(slots, at); at = roast__hash_next(slots, at)) {
        const struct roast_name *name = &names->items[roast__hash_item(slots, at)];
        if (name->id == id && found != ROAST_NO_STRING)
            return ROAST_NO_STRING; /* a second one */
        if (name->id == id)
            found = name->text;
    }
    return found;
}

void roast__names_release(struct roast_names *names)
{
    roast__free(names->items);
    roast__hash_release(&names->slots);
    memset(names, 0, sizeof(*names));
}
