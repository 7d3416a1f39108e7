/* SPDX-License-Identifier: BSD-3-Clause */
/* guesses.h - what the last record said: the next one often says the same, and a text
 * that is compared with a guess need not be looked up. */
#ifndef ROAST_RUN_GUESSES_H
#define ROAST_RUN_GUESSES_H

#include <stdint.h>

/* Numbers of strings. */
struct roast_guesses {
    int32_t run;
    int32_t absences;
    int32_t file_facts;
    int32_t file_branches;
    int32_t source; /* index in sources */
};

#endif
