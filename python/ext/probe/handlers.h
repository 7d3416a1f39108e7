/* SPDX-License-Identifier: BSD-3-Clause */
/* handlers.h - the functions that hooks call, one for each kind of hook. */
#ifndef ROAST_EXT_HANDLERS_H
#define ROAST_EXT_HANDLERS_H

#include "hook.h"

#define HANDLER(name) \
    PyObject *name(struct hook *hook, roast_thread *thread, PyObject *args, \
                   PyObject *kwargs)

/* hook_files.c: opening and closing files, building events */
HANDLER(hook_open);
HANDLER(hook_factory);
HANDLER(hook_events);
HANDLER(hook_close);

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

/* The number of a column that coffea has not requested by name. (hook_baskets.c) */
int32_t bulk_number(roast_thread *thread, PyObject *name);

#endif
