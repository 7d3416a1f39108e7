/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h - the words of findings: patterns with blanks, and numbers for them. */
#ifndef ROAST_ANALYZE_FINDINGS_TEXT_H
#define ROAST_ANALYZE_FINDINGS_TEXT_H

#include "analyze/findings/findings.h"

/* Each fills the blank of a name, which is static. What is no number, or no text, stays
 * empty: another alternative of the pattern is for that. */
void roast__say(struct roast_finding *finding, const char *name, double value,
                const char *unit);
void roast__say_text(struct roast_finding *finding, const char *name,
                     struct roast_str text);

/* Of a long one the end, which tells it from others, and where it lies. */
void roast__say_file(struct roast_finding *finding, const char *name,
                     struct roast_str file);

/* "1 chunk", "5 chunks" */
void roast__say_count(struct roast_finding *finding, const char *name, double count,
                      const char *noun);

/* A whole number as Python writes it: 40_000. */
void roast__say_size(struct roast_finding *finding, const char *name, double size);

/* Memory as Dask takes it: '4GB'. */
void roast__say_memory(struct roast_finding *finding, const char *name, double bytes);

/* A pattern of blanks that were told before; without one of them this is not told. */
void roast__say_made(struct roast_finding *finding, const char *name,
                     const char *pattern);

/* The list of columns that would cover the run, or its beginning. */
void roast__say_preload(const struct roast_case *at, struct roast_finding *finding,
                        const char *name);

enum { ROAST_FINDING_TEXT_BYTES = 1200 };

/* Writes the first alternative of a pattern (verdict_rules.def) whose blanks are all
 * told, NUL-terminated; what does not fit is cut. Returns the length; 0: there is none,
 * because a sentence with a hole says something else. */
size_t roast__fill_pattern(char out[ROAST_FINDING_TEXT_BYTES], const char *pattern,
                           const struct roast_finding *finding);

#endif
