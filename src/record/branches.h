/* SPDX-License-Identifier: BSD-3-Clause */
/* branches.h - single rows of a `branches` blob. */
#ifndef ROAST_RECORD_BRANCHES_H
#define ROAST_RECORD_BRANCHES_H

#include "base/buf.h"
#include "roast/ladder.h"

/* Reads the row at the cursor, which is after the count or another row. */
struct roast_branch roast__branch_read(struct roast_cursor *cur);

#endif
