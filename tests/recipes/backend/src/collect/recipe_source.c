/* SPDX-License-Identifier: BSD-3-Clause */
/* recipe_source.c - a source with a worker that has 42 bytes of memory. */
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
    roast_sample sample = {.worker = roast_str_of("answer"),
                           .time_ns = roast__clock_epoch_ns()};

    roast_sample_set(&sample, ROAST_SERIES_memory, 42);
    return roast_run_add_sample(state, &sample, err);
}

static void close_recipe(void *state)
{
    (void)state;
}

const struct roast_source roast_recipe_source = {open_recipe, poll_recipe,
                                                 close_recipe};
