/* SPDX-License-Identifier: BSD-3-Clause */
/* perfetto_packets.c - the packets of a Perfetto trace, as protobuf.
 *
 * A trace is a list of TracePacket (field 1). A field is a varint, number << 3 | type, and
 * its value: a varint (type 0), 8 bytes (1), or a size and so many bytes (2). A packet with
 * the event "end of the slice on track 3":
 *
 *     0a 0d                                   packet of 13 bytes
 *        40 95 9a ef 3a                       8: time, ns
 *        50 01                                10: sequence 1
 *        5a 04  48 02 58 03                   11: event: 9: type 2, 11: track 3
 *
 * Most of a trace are such packets, so times are written as distances to a recent moment:
 * a packet with a snapshot of clocks (6) defines a clock that is 0 there, and makes it the
 * default of the sequence (59). A packet with numbers of interned texts has the flag 2
 * (13).
 *
 * The numbers of the fields are those of perfetto/trace/trace_packet.proto. */
#include "export/perfetto_packets.h"

#include "base/utf8.h"

enum {
    TRACE_PACKET = 1,
    PACKET_CLOCKS = 6,
    PACKET_TIME = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_CLOCK = 58,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60,
    CLOCKS_CLOCK = 1,
    CLOCKS_PRIMARY = 2,
    CLOCK_ID = 1,
    CLOCK_TIME = 2,
    DEFAULTS_CLOCK = 58,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    COUNTER_UNIT = 6,
    EVENT_CATEGORY = 3,
    EVENT_ARGUMENT = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_VALUE = 44,
    EVENT_FLOW = 47,
    EVENT_LAST_OF_FLOW = 48,
    ARGUMENT_NAME = 1,
    ARGUMENT_INTEGER = 4,
    ARGUMENT_TEXT = 17,
    INTERNED_NUMBER = 1,
    INTERNED_TEXT = 2,
};

enum { VARINT = 0, FIXED64 = 1, BYTES = 2 };
enum { REALTIME = 1, SEQUENCE = 1, TEXTS_CLEARED = 1, USES_TEXTS = 2 };
enum { FIRST_CLOCK = 64, MOST_CLOCKS = 64 }; /* of a sequence */

/* ---- protobuf -------------------------------------------------------------------- */

static void put_number(struct roast_buf *out, unsigned field, uint64_t value)
{
    roast__buf_put_varint(out, field << 3 | VARINT);
    roast__buf_put_varint(out, value);
}

static void put_fixed(struct roast_buf *out, unsigned field, uint64_t value)
{
    roast__buf_put_varint(out, field << 3 | FIXED64);
    roast__buf_put_fixed64(out, value);
}

static void put_bytes(struct roast_buf *out, unsigned field, const void *bytes,
                      size_t size_bytes)
{
    roast__buf_put_varint(out, field << 3 | BYTES);
    roast__buf_put_varint(out, size_bytes);
    roast__buf_put(out, bytes, size_bytes);
}

/* Appends a message and empties it. */
static void put_message(struct roast_buf *out, unsigned field,
                        struct roast_buf *message)
{
    put_bytes(out, field, message->data, message->size_bytes);
    out->failed |= message->failed;
    roast__buf_clear(message);
}

static void put_text(struct roast__packets *packets, struct roast_buf *out,
                     unsigned field, struct roast_str text)
{
    roast__put_utf8(&packets->clean, text);
    put_message(out, field, &packets->clean);
}

/* ---- packets --------------------------------------------------------------------- */

bool roast__packets_ok(const struct roast__packets *packets)
{
    return !packets->failed && roast__buf_ok(&packets->out) &&
           roast__buf_ok(&packets->interned);
}

void roast__packets_release(struct roast__packets *packets)
{
    roast__buf_release(&packets->out);
    roast__buf_release(&packets->message);
    roast__buf_release(&packets->inner);
    roast__buf_release(&packets->interned);
    roast__buf_release(&packets->clean);
    for (int i = 0; i < ROAST_INTERNED_COUNT; i++)
        roast__strings_release(&packets->texts[i]);
}

/* ---- clocks ---------------------------------------------------------------------- */

/* Writes a packet, in which a clock becomes the default. */
static void put_default_clock(struct roast__packets *packets, unsigned clock)
{
    struct roast_buf *packet = &packets->message;

    put_number(packet, PACKET_SEQUENCE, SEQUENCE);
    put_number(&packets->inner, DEFAULTS_CLOCK, FIRST_CLOCK + clock);
    put_message(packet, PACKET_DEFAULTS, &packets->inner);
    put_message(&packets->out, TRACE_PACKET, packet);
}

/* Appends what a clock shows to the snapshot in `inner`. */
static void put_clock(struct roast__packets *packets, unsigned id, uint64_t time_ns)
{
    put_number(&packets->clean, CLOCK_ID, id);
    put_number(&packets->clean, CLOCK_TIME, time_ns);
    put_message(&packets->inner, CLOCKS_CLOCK, &packets->clean);
}

void roast__packets_clock(struct roast__packets *packets, int64_t zero_ns)
{
    bool is_first = packets->clocks == 0;

    if (packets->clocks == MOST_CLOCKS)
        return;
    if (zero_ns > 0 && (uint64_t)zero_ns > packets->zero_ns) /* never back */
        packets->zero_ns = (uint64_t)zero_ns;
    put_clock(packets, REALTIME, packets->zero_ns);
    put_clock(packets, FIRST_CLOCK + packets->clocks, 0);
    if (is_first) {
        packets->first_zero_ns = packets->zero_ns;
        put_number(&packets->inner, CLOCKS_PRIMARY, REALTIME);
        put_number(&packets->message, PACKET_FLAGS, TEXTS_CLEARED);
    }
    put_message(&packets->message, PACKET_CLOCKS, &packets->inner);
    put_default_clock(packets, packets->clocks++);
}

void roast__packets_first_clock(struct roast__packets *packets)
{
    packets->zero_ns = packets->first_zero_ns;
    put_default_clock(packets, 0);
}

/* ---- tracks ---------------------------------------------------------------------- */

/* Ends a descriptor, to which its own fields were written. */
static uint64_t finish_track(struct roast__packets *packets)
{
    put_number(&packets->message, TRACK_UUID, ++packets->tracks);
    put_message(&packets->inner, PACKET_TRACK, &packets->message);
    put_message(&packets->out, TRACE_PACKET, &packets->inner);
    return packets->tracks;
}

uint64_t roast__packet_process(struct roast__packets *packets, struct roast_str name)
{
    put_number(&packets->inner, PROCESS_PID, ++packets->processes);
    put_text(packets, &packets->inner, PROCESS_NAME, name);
    put_message(&packets->message, TRACK_PROCESS, &packets->inner);
    return finish_track(packets);
}

uint64_t roast__packet_track(struct roast__packets *packets, uint64_t parent,
                             struct roast_str name)
{
    put_number(&packets->message, TRACK_PARENT, parent);
    put_text(packets, &packets->message, TRACK_NAME, name);
    return finish_track(packets);
}

uint64_t roast__packet_counter(struct roast__packets *packets, uint64_t parent,
                               const char *name, const char *unit)
{
    put_text(packets, &packets->inner, COUNTER_UNIT, roast_str_of(unit));
    put_message(&packets->message, TRACK_COUNTER, &packets->inner);
    return roast__packet_track(packets, parent, roast_str_of(name));
}

/* ---- interned texts -------------------------------------------------------------- */

/* The number of a text; a new one is written with the packet of the event. */
static uint64_t interned(struct roast__packets *packets, enum roast__interned kind,
                         struct roast_str text)
{
    static const unsigned fields[] = {
        [ROAST_INTERNED_CATEGORY] = 1,
        [ROAST_INTERNED_NAME] = 2,
        [ROAST_INTERNED_ARGUMENT] = 3,
        [ROAST_INTERNED_TEXT] = 29,
    };
    struct roast_string_table *texts = &packets->texts[kind];
    size_t known = texts->count;
    int32_t number = roast__strings_put(texts, text.data ? text : roast_str_of(""));

    packets->uses_texts = true;
    if (number < 0) {
        packets->failed = true;
        return 0;
    }
    if ((size_t)number == known) {
        put_number(&packets->inner, INTERNED_NUMBER, (uint64_t)number + 1);
        put_text(packets, &packets->inner, INTERNED_TEXT, text);
        put_message(&packets->interned, fields[kind], &packets->inner);
    }
    return (uint64_t)number + 1;
}

/* ---- events ---------------------------------------------------------------------- */

void roast__packet_event(struct roast__packets *packets, enum roast__event event,
                         uint64_t track, int64_t time_ns)
{
    packets->time_ns = time_ns > 0 ? (uint64_t)time_ns : 0; /* of a broken file */
    packets->uses_texts = false;
    put_number(&packets->message, EVENT_TYPE, event);
    put_number(&packets->message, EVENT_TRACK, track);
}

void roast__packet_name(struct roast__packets *packets, const char *category,
                        struct roast_str name)
{
    put_number(&packets->message, EVENT_CATEGORY,
               interned(packets, ROAST_INTERNED_CATEGORY, roast_str_of(category)));
    put_number(&packets->message, EVENT_NAME,
               interned(packets, ROAST_INTERNED_NAME, name));
}

void roast__packet_value(struct roast__packets *packets, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    put_fixed(&packets->message, EVENT_VALUE, bits);
}

void roast__packet_flow(struct roast__packets *packets, uint64_t flow, bool begins)
{
    put_fixed(&packets->message, begins ? EVENT_FLOW : EVENT_LAST_OF_FLOW, flow);
}

/* An argument; its name is interned before anything is put into `inner`. */
static void put_argument(struct roast__packets *packets, const char *name,
                         unsigned field, uint64_t value)
{
    uint64_t number = interned(packets, ROAST_INTERNED_ARGUMENT, roast_str_of(name));

    put_number(&packets->inner, ARGUMENT_NAME, number);
    put_number(&packets->inner, field, value);
    put_message(&packets->message, EVENT_ARGUMENT, &packets->inner);
}

void roast__packet_number(void *packets, const char *name, int64_t value)
{
    put_argument(packets, name, ARGUMENT_INTEGER, (uint64_t)value);
}

void roast__packet_text(void *packets, const char *name, struct roast_str text)
{
    put_argument(packets, name, ARGUMENT_TEXT,
                 interned(packets, ROAST_INTERNED_TEXT, text));
}

void roast__packet_finish(struct roast__packets *packets)
{
    struct roast_buf *packet = &packets->inner;

    if (packets->time_ns >= packets->zero_ns) {
        put_number(packet, PACKET_TIME, packets->time_ns - packets->zero_ns);
    } else {
        put_number(packet, PACKET_TIME, packets->time_ns);
        put_number(packet, PACKET_CLOCK, REALTIME);
    }
    put_number(packet, PACKET_SEQUENCE, SEQUENCE);
    if (packets->uses_texts)
        put_number(packet, PACKET_FLAGS, USES_TEXTS);
    if (packets->interned.size_bytes > 0)
        put_message(packet, PACKET_INTERNED, &packets->interned);
    put_message(packet, PACKET_EVENT, &packets->message);
    put_message(&packets->out, TRACE_PACKET, packet);
}
