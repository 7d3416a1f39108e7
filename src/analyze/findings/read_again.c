/* SPDX-License-Identifier: BSD-3-Clause */
/* read_again.c - what a chunk read that other chunks of its file read, too.
 *
 * Baskets and columns of parquet are read whole, so the chunks on both sides of a border
 * read the basket that it cuts. Without borders a chunk would read as much of a branch as
 * its entries have of the file. For one chunk that is a guess (baskets differ); over all
 * chunks of a file the rest is what was read more than once. */
#include "analyze/findings/chunksize.h"

double roast__read_again_s(const struct roast_record_iter *iter,
                           const struct roast_ladder *ladder,
                           struct roast_branch_list *list)
{
    const roast_record *rec = &iter->rec;
    struct roast_file_facts facts;
    double all_ns = 0, again_ns = 0;

    if (!roast_record_has(rec, ROAST_FIELD_entry_start) ||
        !roast_record_has(rec, ROAST_FIELD_entry_stop) ||
        !roast__record_iter_facts(iter, &facts) || facts.entries == 0 ||
        !roast__record_iter_branches(iter, list))
        return 0;
    double entries = (double)rec->values[ROAST_FIELD_entry_stop].u64 -
                     (double)rec->values[ROAST_FIELD_entry_start].u64;
    for (size_t i = 0; i < list->count; i++) {
        const struct roast_branch *branch = &list->all[i];
        double ns = (double)branch->ns, bytes = (double)branch->bytes;
        double needed = (double)branch->reads * (double)branch->file_bytes * entries /
                        (double)facts.entries;
        all_ns += ns;
        if (branch->sizes_known && bytes > 0)
            again_ns += ns * (1 - needed / bytes);
    }
    double reading_ns = (double)ladder->values[ROAST_ITEM_fetch] +
                        (double)ladder->values[ROAST_ITEM_decompress] +
                        (double)ladder->values[ROAST_ITEM_interpret];
    return all_ns > 0 ? again_ns / all_ns * reading_ns / 1e9 : 0;
}
