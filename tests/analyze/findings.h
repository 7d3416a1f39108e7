/* SPDX-License-Identifier: BSD-3-Clause */
/* findings.h - findings of made-up runs. */
#ifndef ROAST_TESTS_ANALYZE_FINDINGS_H
#define ROAST_TESTS_ANALYZE_FINDINGS_H

#include "patients.h"

/* The row of a finding, or -1. */
static inline int64_t finding_row(const roast_summary *summary, const char *id)
{
    size_t rows = rows_of(summary, "findings");

    for (size_t i = 0; i < rows; i++) {
        if (str_is(text_at(summary, "findings", i, "id"), id))
            return (int64_t)i;
    }
    return -1;
}

static inline void print_findings(const roast_summary *summary)
{
    static const char *const columns[] = {"id", "title", "evidence", "advice"};

    for (size_t i = 0; i < rows_of(summary, "findings"); i++) {
        for (size_t k = 0; k < 4; k++) {
            struct roast_str text = text_at(summary, "findings", i, columns[k]);
            print_message("%.*s | ", (int)text.size_bytes, text.data);
        }
        print_message("\n");
    }
}

static inline bool contains(struct roast_str text, const char *words)
{
    return memmem(text.data, text.size_bytes, words, strlen(words)) != NULL;
}

#define assert_says(summary, id, column, words) \
    check_says((summary), (id), (column), (words), __FILE__, __LINE__)

static inline void check_says(const roast_summary *summary, const char *id,
                              const char *column, const char *words, const char *file,
                              int line)
{
    int64_t row = finding_row(summary, id);

    if (row >= 0 && contains(text_at(summary, "findings", (size_t)row, column), words))
        return;
    print_error("%s does not say '%s'\n", id, words);
    print_findings(summary);
    _fail(file, line);
}

#endif
