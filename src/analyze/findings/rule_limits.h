/* SPDX-License-Identifier: BSD-3-Clause */
/* rule_limits.h - the thresholds of all rules.
 *
 * A finding needs some seconds and some percent of the worker time, unless something
 * failed: a small cost is not worth a change. Fewer seconds count in a short run, if they
 * are a larger part of it. */
#ifndef ROAST_ANALYZE_FINDINGS_RULE_LIMITS_H
#define ROAST_ANALYZE_FINDINGS_RULE_LIMITS_H

/* Of worker time, for any rule. */
enum {
    LIMIT_COST_S = 2,
    LIMIT_COST_PERCENT = 3,    /* from here on a finding is "medium" */
    LIMIT_SHORT_COST_MS = 500, /* enough where it is so much of a short run: */
    LIMIT_SHORT_COST_PERCENT = 10,
    LIMIT_PHASE_MS = 500,      /* of wall time, for a phase without chunks */
    LIMIT_HIGH_PERCENT = 10,   /* from here on "high" */
    LIMIT_CLIENT_PERCENT = 10, /* of the client, which may do other work in the block */
    LIMIT_CLIENT_CPU_PERCENT = 50, /* of the time in which it seems busy */
    LIMIT_OWN_PERCENT = 1,         /* of the monitoring itself */
};

/* Of the time inside chunks. */
enum {
    LIMIT_PER_CHUNK_PERCENT = 10, /* independent of events */
    LIMIT_WAIT_PERCENT = 10,      /* for data */
    LIMIT_DECOMPRESS_PERCENT = 20,
    LIMIT_GIL_PERCENT = 15, /* of what is left without waiting for a core */
    LIMIT_RUNQUEUE_PERCENT = 15,
    LIMIT_GC_PERCENT = 5,
};

/* Of the wall time: what another chunksize or order must save, and the least saving
 * shown. */
enum { LIMIT_SAVES_PERCENT = 3, LIMIT_SAVES_MS = 200, LIMIT_SHOWN_PERCENT = 1 };

/* Of a saving: what may come on top of it is said from here on. */
enum { LIMIT_SAVES_MORE_PERCENT = 20 };

/* Processes of a pool take about so long to start and to import coffea; threads do not. */
enum { LIMIT_PROCESSES_START_S = 2 };

/* What remains of decompressing after files were rewritten with ZSTD, in percent. */
enum { LIMIT_ZSTD_OF_LZMA_PERCENT = 15, LIMIT_ZSTD_OF_ZLIB_PERCENT = 50 };

/* CPU time of threads that are not those of chunks: seconds, and percent of the CPU time
 * of these, and of the time inside them. */
enum {
    LIMIT_OTHER_CPU_S = 2,
    LIMIT_OTHER_CPU_PERCENT = 25,
    LIMIT_OTHER_CPU_TIME_PERCENT = 8,
};

/* Of chunks. */
enum {
    LIMIT_MANY_CHUNKS = 5, /* per thread */
    LIMIT_SHORT_TASK_MS = 500,
    LIMIT_TARGET_TASK_S = 2,      /* what is advised instead */
    LIMIT_UNEVEN_TIMES = 3,       /* a chunk of one dataset against the others */
    LIMIT_SLOW_TIMES = 2,         /* the last chunk against the median */
    LIMIT_TAIL_PERCENT = 80,      /* of the tail, by the dataset that is named */
    LIMIT_SMALL_REQUEST_KB = 256, /* requests below it are better bundled */
    LIMIT_CACHED_READ_MS = 5,     /* a read from the page cache takes less */
};

/* Of memory. */
enum {
    LIMIT_MEMORY_PERCENT = 80,  /* of the limit, in use */
    LIMIT_ADVISED_PERCENT = 60, /* of the limit, after the change */
    LIMIT_GROWTH_PERCENT = 25,  /* of what a process began with */
    LIMIT_GROWTH_MB = 100,
    LIMIT_GROWTH_R2_PERCENT = 64,      /* of it follows the number of chunks done */
    LIMIT_GROWTH_LATER_PERCENT = 50,   /* of its slope, over the second half of them */
    LIMIT_GROWTH_CHUNKS = 6,           /* per process */
    LIMIT_GROWTH_OUTPUTS_PERCENT = 50, /* of the growth, by packed outputs */
    LIMIT_SPILLED_MB = 10,
    LIMIT_CLIENT_GROWTH_MB = 200, /* of the client, while outputs arrive */
    LIMIT_CLIENT_SAMPLES = 6,     /* meanwhile */
};

#endif
