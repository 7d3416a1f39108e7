/* SPDX-License-Identifier: BSD-3-Clause */
/* scan.h - parses numbers, lines and labels.
 *
 * The kernel prints lines of words and decimal numbers. These functions use no locale,
 * allocate nothing and need no NUL at the end. Each advances the text past what it
 * read; on false neither text nor result has changed. An absent text counts as
 * empty. */
#ifndef ROAST_PROBE_LINUX_SCAN_H
#define ROAST_PROBE_LINUX_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "roast/text.h"

/* The next decimal number after blanks. It must end at white space or with the text:
 * "12kB" and numbers of more than 64 bits are refused. */
bool roast__scan_u64(uint64_t *value, struct roast_str *text);

/* Everything up to `stop`, which is consumed too, or up to the end. False at the
 * end. */
bool roast__scan_until(struct roast_str *part, struct roast_str *text, char stop);

/* The label at the start of a line, its colon if it has one, and the blanks around. */
bool roast__scan_label(struct roast_str *line, const char *label);

/* Finds the line with this label anywhere in text: what follows the label, or the number
 * that follows it. */
bool roast__scan_find(struct roast_str *value, struct roast_str text,
                      const char *label);
bool roast__scan_find_u64(uint64_t *value, struct roast_str text, const char *label);

#endif
