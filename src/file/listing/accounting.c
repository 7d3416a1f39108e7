/* SPDX-License-Identifier: BSD-3-Clause */
/* accounting.c - files into the accounting of analyze/accounting. */
#include "file/runfile.h"

struct target {
    roast_accounting *accounting;
    const char *owner;
};

static int add(void *context, const struct roast_listed_run *listed, roast_error *err)
{
    const struct target *target = context;

    return roast_accounting_add(target->accounting, listed->run, listed->summary,
                                target->owner, err);
}

int roast_accounting_add_file(roast_accounting *accounting, const char *path,
                              const char *owner, roast_error *err)
{
    struct target target = {accounting, owner};

    return roast__run_visit(path, true, add, &target, err);
}
