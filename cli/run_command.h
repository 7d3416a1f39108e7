/* SPDX-License-Identifier: BSD-3-Clause */
/* run_command.h - runs any command and measures it. */
#ifndef ROAST_CLI_RUN_COMMAND_H
#define ROAST_CLI_RUN_COMMAND_H

#include "args.h"

/* Runs args->operands. Returns its exit code, or one of ours after printing the reason
 * where it was not started; where a signal ended it, ends this program likewise. */
int run_command(const struct arguments *args);

#endif
