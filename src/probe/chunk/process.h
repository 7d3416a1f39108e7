/* SPDX-License-Identifier: BSD-3-Clause */
/* process.h - ids and counters shared by all threads of a process. */
#ifndef ROAST_PROBE_CHUNK_PROCESS_H
#define ROAST_PROBE_CHUNK_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/values.h"
#include "roast/text.h"

/* Ids and names, set again in a forked child. host borrows static memory. */
struct roast_process {
    uint64_t id; /* random */
    uint64_t pid;
    struct roast_str host;
};

struct roast_process roast__process(void);

/* The operating system's id of this thread; 0 if unknown. */
uint64_t roast__thread_number(void);

/* A chunk begins: its number in this process (1, 2, 3 ...; from 1 again in a forked
 * child), and in *active how many run now, this one included. */
uint32_t roast__chunk_enters(unsigned *active);

/* How many run now, and in *newest the number of the one begun last. */
unsigned roast__chunk_running(uint32_t *newest);

/* A chunk ends: how many ran until now, this one included, and in *newest the number of
 * the one begun last. */
unsigned roast__chunk_leaves(uint32_t *newest);

/* The largest number seen at once, from the numbers at begin and end; chunks that began
 * and ended in between are not counted. */
unsigned roast__max_concurrency(unsigned at_end, unsigned at_begin, bool another_began);

/* True once per process, also in a forked child. */
bool roast__process_claims_first(void);

/* True for a record of another run than the last one: the caller adds the facts of the
 * process to it. Also in a forked child. */
bool roast__process_claims_facts(const unsigned char *run_id);

/* Appends the facts about host and process. */
void roast__process_put_facts(struct roast_values *out);

#endif
