/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_keys.h - reads one key of a chunk record into its draft. */
#ifndef ROAST_COLLECT_MEASUREMENT_KEYS_H
#define ROAST_COLLECT_MEASUREMENT_KEYS_H

#include "collect/measurement_record.h"

int roast__record_draft_key(struct roast_record_draft *draft,
                            struct roast_json_reader *in, struct roast_str key,
                            const struct roast_json_token *value, roast_error *err);

#endif
