/* SPDX-License-Identifier: BSD-3-Clause */
/* finding_text.h - texts of findings: patterns with named placeholders. */
#ifndef ROAST_ANALYZE_FINDINGS_FINDING_TEXT_H
#define ROAST_ANALYZE_FINDINGS_FINDING_TEXT_H

#include "analyze/findings/findings.h"

/* Each sets the placeholder `name` (static). NaN and absent text leave it empty, so that
 * another alternative of the pattern is used. */
void roast__set_number(struct roast_finding *finding, const char *name, double value,
                       const char *unit);
void roast__set_text(struct roast_finding *finding, const char *name,
                     struct roast_str text);

/* A long path keeps its beginning and its end. */
void roast__set_file(struct roast_finding *finding, const char *name,
                     struct roast_str file);

/* {client}: "notebook" where the client runs in a kernel; else not set. */
void roast__set_client(const struct roast_rule_input *input,
                       struct roast_finding *finding);

/* "1 chunk", "5 chunks" */
void roast__set_count(struct roast_finding *finding, const char *name, double count,
                      const char *noun);

/* An integer in Python's notation: 40_000. */
void roast__set_integer(struct roast_finding *finding, const char *name, double value);

/* A value of Dask's memory_limit: '4GB'. */
void roast__set_memory_limit(struct roast_finding *finding, const char *name,
                             double bytes);

/* A pattern of placeholders that are set already; empty if one of them is. */
void roast__set_from_pattern(struct roast_finding *finding, const char *name,
                             const char *pattern);

/* The columns that would cover the reads of the run as a Python list, or the first of
 * them. */
void roast__set_preload(const struct roast_rule_input *input,
                        struct roast_finding *finding, const char *name);

enum { ROAST_FINDING_TEXT_BYTES = 1200 };

/* Writes the first alternative of a pattern (finding_rules.def) whose placeholders are
 * all set, NUL-terminated and cut to the buffer. Returns the length; 0: no alternative
 * is complete. */
size_t roast__fill_pattern(char out[ROAST_FINDING_TEXT_BYTES], const char *pattern,
                           const struct roast_finding *finding);

#endif
