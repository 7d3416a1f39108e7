/* SPDX-License-Identifier: BSD-3-Clause */
/* branches.h - single rows of a `branches` blob, for code that walks it. */
#ifndef ROAST_RECORD_BRANCHES_H
#define ROAST_RECORD_BRANCHES_H

#include "base/buf.h"
#include "roast/ladder.h"

/* The row at the cursor, which lies behind the count or another row. */
struct roast_branch roast__branch_read(struct roast_cursor *cur);

#endif
