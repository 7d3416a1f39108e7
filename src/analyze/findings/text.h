/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h - texts of findings: patterns with named blanks, and values for them. */
#ifndef ROAST_ANALYZE_FINDINGS_TEXT_H
#define ROAST_ANALYZE_FINDINGS_TEXT_H

#include "analyze/findings/findings.h"

/* Each fills the blank of a name, which is static. NaN and absent text leave it empty, so
 * that another alternative of the pattern is taken. */
void roast__blank_number(struct roast_finding *finding, const char *name, double value,
                         const char *unit);
void roast__blank_text(struct roast_finding *finding, const char *name,
                       struct roast_str text);

/* Of a long path: where it lies, and its end. */
void roast__blank_file(struct roast_finding *finding, const char *name,
                       struct roast_str file);

/* "1 chunk", "5 chunks" */
void roast__blank_count(struct roast_finding *finding, const char *name, double count,
                        const char *noun);

/* A whole number as Python writes it: 40_000. */
void roast__blank_size(struct roast_finding *finding, const char *name, double size);

/* Memory as Dask takes it: '4GB'. */
void roast__blank_memory(struct roast_finding *finding, const char *name, double bytes);

/* A pattern of blanks that were filled before; empty if one of them is. */
void roast__blank_pattern(struct roast_finding *finding, const char *name,
                          const char *pattern);

/* The list of columns that would cover the run, or its beginning. */
void roast__blank_preload(const struct roast_rule_input *at,
                          struct roast_finding *finding, const char *name);

enum { ROAST_FINDING_TEXT_BYTES = 1200 };

/* Writes the first alternative of a pattern (finding_rules.def) whose blanks are all
 * filled, NUL-terminated and cut to the buffer. Returns the length; 0: no alternative has
 * all its blanks. */
size_t roast__fill_pattern(char out[ROAST_FINDING_TEXT_BYTES], const char *pattern,
                           const struct roast_finding *finding);

#endif
