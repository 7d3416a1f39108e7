/* SPDX-License-Identifier: BSD-3-Clause */
/* handlers.h - what the hooks do, one handler each. */
#ifndef ROAST_EXT_HANDLERS_H
#define ROAST_EXT_HANDLERS_H

#include "hook.h"

#define HANDLER(name) \
    PyObject *name(struct hook *hook, roast_thread *thread, PyObject *args, \
                   PyObject *kwargs)

/* hook_steps.c: the steps before process(), and writing */
HANDLER(hook_open);
HANDLER(hook_parquet_open);
HANDLER(hook_from_root);
HANDLER(hook_from_parquet);
HANDLER(hook_events);
HANDLER(hook_close);
HANDLER(hook_import);
HANDLER(hook_write);

/* hook_columns.c: buffers and columns */
HANDLER(hook_buffer);
HANDLER(hook_extract);
HANDLER(hook_parquet_read);

/* hook_baskets.c, hook_pages.c: inside a column of a ROOT file */
HANDLER(hook_baskets);
HANDLER(hook_submit);
HANDLER(hook_page);
HANDLER(hook_clusters);
HANDLER(hook_page_lists);

/* hook_sources.c: requests for bytes */
HANDLER(hook_source);
HANDLER(hook_wait);

/* What was not asked for by name is read in bulk: its number. (hook_baskets.c) */
int32_t bulk_number(roast_thread *thread, PyObject *name);

#endif
