/* SPDX-License-Identifier: BSD-3-Clause */
/* diagnosis.h - the findings of a patient, whose texts are as all must be. */
#ifndef ROAST_TESTS_ANALYZE_DIAGNOSIS_H
#define ROAST_TESTS_ANALYZE_DIAGNOSIS_H

#include "findings.h"

/* "memory_limit= per worker" */
static inline bool has_hole(struct roast_str text)
{
    for (size_t i = 1; i < text.size_bytes; i++) {
        bool last = i + 1 == text.size_bytes;
        if (text.data[i] == '=' && text.data[i - 1] != ' ' &&
            (last || text.data[i + 1] == ' '))
            return true;
    }
    return false;
}

/* No blank is left open or empty, and each is told in one line. */
static inline void check_texts(const roast_summary *summary)
{
    static const char *const columns[] = {"title", "evidence", "advice"};

    for (size_t i = 0; i < rows_of(summary, "findings"); i++) {
        for (size_t k = 0; k < 3; k++) {
            struct roast_str text = text_at(summary, "findings", i, columns[k]);
            assert_true(text.size_bytes > 0);
            assert_false(contains(text, "{"));
            assert_false(contains(text, "\n"));
            assert_false(contains(text, "  "));
            assert_false(has_hole(text));
            assert_false(contains(text, " // "));
            assert_false(contains(text, "not known"));
        }
        double saves = cell_at(summary, "findings", i, "saves_wall_seconds").number;
        assert_true(saves >= 0);
    }
}

static inline roast_summary *diagnose(struct patient patient)
{
    roast_run *run = patient_new(patient, NULL);
    roast_summary *summary = summary_of(run);

    check_texts(summary);
    roast_run_free(run);
    return summary;
}

static inline void assert_healthy(struct patient patient)
{
    roast_summary *summary = diagnose(patient);

    if (rows_of(summary, "findings") > 0)
        print_findings(summary);
    assert_int_equal(rows_of(summary, "findings"), 0);
    assert_true(
        contains(text_at(summary, "verdict", 0, "verdict"), "Nothing to change"));
    roast_summary_free(summary);
}

#endif
