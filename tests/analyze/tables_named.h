/* SPDX-License-Identifier: BSD-3-Clause */
/* tables_named.h - tables and columns of a summary by the names that users see, and
 * lists of texts. */
#ifndef ROAST_TESTS_ANALYZE_TABLES_NAMED_H
#define ROAST_TESTS_ANALYZE_TABLES_NAMED_H

#include "roast/analyze.h"
#include "support.h"

/* The table of a summary under a key of get_metrics(); NULL: the summary has none. */
static inline const roast_table *table_named(const roast_summary *summary,
                                             const char *key)
{
    for (int id = 0; id < ROAST_TABLE_COUNT; id++) {
        const char *own = roast_table_key((enum roast_table_id)id);
        if (own && strcmp(own, key) == 0)
            return roast_summary_table(summary, (enum roast_table_id)id);
    }
    fail_msg("there is no table %s", key);
    return NULL;
}

static inline int col_of(const roast_table *table, const char *column)
{
    for (size_t i = 0; i < roast_table_width(table); i++) {
        if (strcmp(roast_col_key(roast_table_col(table, i)), column) == 0)
            return roast_table_col(table, i);
    }
    fail_msg("no column %s", column);
    return 0;
}

/* A text of a list, and how many there are. */
static inline struct roast_str item_at(const roast_summary *summary, const char *name,
                                       size_t row, const char *column, size_t number)
{
    const roast_table *table = table_named(summary, name);
    struct roast_str list = roast_table_text(table, row, col_of(table, column));
    struct roast_str item = {NULL, 0};

    assert_non_null(list.data);
    for (size_t i = 0; i <= number; i++) {
        if (!roast_table_item(&item, &list))
            return (struct roast_str){NULL, 0};
    }
    return item;
}

static inline size_t items_at(const roast_summary *summary, const char *name,
                              size_t row, const char *column)
{
    size_t count = 0;

    while (item_at(summary, name, row, column, count).data)
        count++;
    return count;
}

#endif
