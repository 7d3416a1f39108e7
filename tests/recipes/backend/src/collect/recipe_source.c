/* SPDX-License-Identifier: BSD-3-Clause */
/* recipe_source.c - a source that counts 42 workers at each poll. */
#include "base/clock.h"
#include "roast/collect.h"

static int open_recipe(void **state, roast_run *run, const char *place,
                       roast_error *err)
{
    (void)place;
    (void)err;
    *state = run;
    return ROAST_OK;
}

static int poll_recipe(void *state, roast_error *err)
{
    return roast_run_add_count(state, roast__clock_epoch_ns(), 42, err);
}

static void close_recipe(void *state)
{
    (void)state;
}

const struct roast_source roast_recipe_source = {open_recipe, poll_recipe,
                                                 close_recipe};
