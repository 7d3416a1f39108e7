/* SPDX-License-Identifier: BSD-3-Clause */
/* notes.h - texts that describe a run, by group and name, in order of first setting. */
#ifndef ROAST_RUN_NOTES_H
#define ROAST_RUN_NOTES_H

#include "roast/run.h"

struct roast_note {
    enum roast_note_group group;
    char *bytes; /* owned: the name, then the text */
    size_t name_bytes;
    size_t text_bytes;
};

/* Zeroed = empty and valid. */
struct roast_notes {
    struct roast_note *items; /* owned */
    size_t count;
    size_t cap;
};

/* The text of a note, borrowed until the next set; absent where there is none. */
struct roast_str roast__notes_get(const struct roast_notes *notes,
                                  enum roast_note_group group, struct roast_str name);

struct roast_str roast__note_name(const struct roast_note *note);
struct roast_str roast__note_text(const struct roast_note *note);

void roast__notes_release(struct roast_notes *notes);

/* The exception of Ctrl-C. */
#define ROAST_INTERRUPT_CLASS "KeyboardInterrupt"

/* roast_run_state(); the lock is held. */
enum roast_run_state roast__run_state(const struct roast_run *run);

#endif
