/* SPDX-License-Identifier: BSD-3-Clause */
/* new_file.h - a file that replaces another one only when it is complete, or a new folder
 * with files.
 *
 * It is written under a temporary name in the same folder. Until the commit no other
 * file changes; after it the file is durable: data and folder are synced. Files in a new
 * folder are not synced. */
#ifndef ROAST_FILE_NEW_FILE_H
#define ROAST_FILE_NEW_FILE_H

#include "roast/runfile.h"

struct roast_new_file {
    char *path;      /* owned; the final path */
    char *folder;    /* owned */
    char *temporary; /* owned; NULL: not created, or committed */
    unsigned mode;   /* permissions of the file that it replaces; 0: there is none */
};

/* Makes an empty temporary file, or folder. IO with the reason if that is impossible. */
int roast__new_file_open(struct roast_new_file *out, const char *path,
                         enum roast_save_mode mode, roast_error *err);

/* Syncs it, unless the mode says not to, and renames it to the final path. Then removes
 * temporary files that killed saves of the same file left more than a day ago. */
int roast__new_file_commit(struct roast_new_file *file, enum roast_save_mode mode,
                           roast_error *err);

/* Removes the temporary file, or folder with its files, unless it was committed. */
void roast__new_file_release(struct roast_new_file *file);

#endif
