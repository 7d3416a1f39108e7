/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_recipe.c - roast recipe: prints a number. */
#include "out.h"

static int recipe(const struct arguments *args)
{
    (void)args;
    out_text("42\n");
    return CODE_OK;
}

const struct command cmd_recipe = {
    .name = "recipe",
    .operands = "",
    .summary = "print a number",
    .run = recipe,
};
