/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt_frames.h - the frames of an attempt that ended, as one text. */
#ifndef ROAST_TESTS_ATTEMPT_FRAMES_H
#define ROAST_TESTS_ATTEMPT_FRAMES_H

#include "roast/probe.h"

/* As roast_attempt_end(); the end frame directly follows the chunks. */
static inline int attempt_end(roast_thread *thread, const struct roast_chunk_end *end,
                              struct roast_str *all, roast_error *err)
{
    struct roast_attempt_frames frames;
    int status = roast_attempt_end(thread, end, &frames, err);

    *all = frames.chunks;
    all->size_bytes += frames.end.size_bytes;
    return status;
}

#endif
