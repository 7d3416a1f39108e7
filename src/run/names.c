/* SPDX-License-Identifier: BSD-3-Clause */
/* names.c - names of datasets and files by the 32-bit ids of begin frames. */
#include "run/names.h"

#include "base/array.h"
#include "base/mem.h"
#include "roast/record.h"

static uint64_t hash_of(const void *table, uint32_t item)
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

bool roast__names_learn(struct roast_names *names,
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
    if (!roast__hash_room(&names->slots, names->count, hash_of, names))
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
