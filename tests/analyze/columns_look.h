/* SPDX-License-Identifier: BSD-3-Clause */
/* columns_look.h - runs made by hand, and their tables. */
#ifndef ROAST_TESTS_ANALYZE_COLUMNS_LOOK_H
#define ROAST_TESTS_ANALYZE_COLUMNS_LOOK_H

#include "runs.h"
#include "table_cells.h"

#endif
