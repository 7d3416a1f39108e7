/* SPDX-License-Identifier: BSD-3-Clause */
/* perfetto_packets.h - the packets of a Perfetto trace, as protobuf.
 *
 * Packets are collected in `out`, which the caller writes and empties. Failure is sticky.
 * An event is begun, gets its names and arguments, and is finished:
 *
 *     roast__packet_event(packets, ROAST_EVENT_BEGIN, track, time_ns);
 *     roast__packet_name(packets, "category", text);
 *     roast__packet_finish(packets);
 *
 * Times are ns since 1970. Texts are interned: each is written once. */
#ifndef ROAST_EXPORT_PERFETTO_PACKETS_H
#define ROAST_EXPORT_PERFETTO_PACKETS_H

#include "base/buf.h"
#include "base/string_table.h"

/* What is interned, each kind with its own numbers. */
enum roast__interned {
    ROAST_INTERNED_CATEGORY,
    ROAST_INTERNED_NAME,
    ROAST_INTERNED_ARGUMENT,
    ROAST_INTERNED_TEXT,
    ROAST_INTERNED_COUNT
};

/* Zeroed = empty and valid; everything is owned. */
struct roast__packets {
    struct roast_buf out;      /* whole packets */
    struct roast_buf message;  /* the event or descriptor that is made */
    struct roast_buf inner;    /* a message inside it */
    struct roast_buf interned; /* new texts, for the packet of the event */
    struct roast_buf clean;    /* a text as UTF-8 */
    struct roast_string_table texts[ROAST_INTERNED_COUNT];
    uint64_t time_ns; /* of the event */
    bool uses_texts;  /* the event has numbers of them */
    uint64_t zero_ns; /* of the clock that events use, since 1970 */
    uint64_t first_zero_ns;
    unsigned clocks;
    uint64_t tracks; /* how many there are; numbered from 1 */
    uint64_t processes;
    bool failed; /* out of memory */
};

void roast__packets_release(struct roast__packets *packets);
bool roast__packets_ok(const struct roast__packets *packets);

/* Begins a clock, for all events from here on: times shortly after its zero take few
 * bytes. The first one begins the trace. There are 64 at most; more change nothing. A
 * zero before that of the last clock is moved to it: Perfetto has no clocks that go back. */
void roast__packets_clock(struct roast__packets *packets, int64_t zero_ns);

/* Events use the first clock again. */
void roast__packets_first_clock(struct roast__packets *packets);

/* New tracks; each returns its number. A process groups others. */
uint64_t roast__packet_process(struct roast__packets *packets, struct roast_str name);
uint64_t roast__packet_track(struct roast__packets *packets, uint64_t parent,
                             struct roast_str name);
uint64_t roast__packet_counter(struct roast__packets *packets, uint64_t parent,
                               const char *name, const char *unit);

enum roast__event { /* numbers of the format */
                    ROAST_EVENT_BEGIN = 1,
                    ROAST_EVENT_END = 2,
                    ROAST_EVENT_INSTANT = 3,
                    ROAST_EVENT_COUNTER = 4,
};

void roast__packet_event(struct roast__packets *packets, enum roast__event event,
                         uint64_t track, int64_t time_ns);
void roast__packet_name(struct roast__packets *packets, const char *category,
                        struct roast_str name);
void roast__packet_value(struct roast__packets *packets, double value);
/* An arrow from the event with `begins` to the one without. */
void roast__packet_flow(struct roast__packets *packets, uint64_t flow, bool begins);

/* Arguments; both are a roast__fact_sink (trace.h) for the packets as its context. */
void roast__packet_number(void *packets, const char *name, int64_t value);
void roast__packet_text(void *packets, const char *name, struct roast_str text);

void roast__packet_finish(struct roast__packets *packets);

#endif
