/* SPDX-License-Identifier: BSD-3-Clause */
/* dask_batch_reader.c - decodes the batches of one scheduler, item by item.
 *
 * Fields are loaded by the letters of dask_batch_items.def, so that list alone defines
 * the layout. Numbers of workers and prefixes count from 0. Names may have been lost,
 * so numbers may be skipped, but none may be larger than the bytes read so far allow.
 * Each batch repeats the time of its samples, because the one before it may have been
 * dropped. */
#include "collect/dask_batch_reader.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "base/mem.h"
#include "base/str.h"
#include "collect/dask_hosts.h"

enum {
    MOST_FIELDS = 7,
    MOST_TEXTS = 2,
    LEAST_NAME_BYTES = 8, /* of an item that names a worker */
};
static const double MOST_SECONDS = 4e9;             /* the year 2096 */
static const int64_t MOST_NS = 4000000000000000000; /* twice that fits an int64_t */
/* A smaller change of an offset is measurement noise. */
static const uint64_t OFFSET_STEP_NS = 1000000;

enum kind {
#define I(number, name, format, texts, meaning) KIND_##name = (number),
#include "roast/dask_batch_items.def"
#undef I
};

static const struct roast_dask_batch_item items[] = {
#define I(number, name, format, texts, meaning) {#name, format, (number), (texts)},
#include "roast/dask_batch_items.def"
#undef I
};
enum { ITEM_COUNT = sizeof(items) / sizeof(items[0]) };

/* Every item fits into struct item. */
#define I(number, name, format, texts, meaning) \
    _Static_assert(sizeof(format) - 1 <= MOST_FIELDS && (texts) <= MOST_TEXTS, #name);
#include "roast/dask_batch_items.def"
#undef I

/* Names by the scheduler's numbers. */
struct names {
    struct name {
        int32_t text; /* in reader->texts */
        int32_t host; /* of a worker, in reader->hosts; ROAST_NO_STRING: not known */
    } * items;        /* owned */
    size_t count;
    size_t cap;
};

/* Position at which reading a batch stopped. */
struct stop {
    uint64_t hash; /* of the batch */
    size_t size_bytes;
    size_t at;
    double tick_s;
};

struct roast_dask_reader {
    struct roast_string_table texts;
    struct names workers;
    struct names prefixes;
    struct roast_dask_hosts hosts;
    int64_t offset_ns;
    int64_t used_offset_ns; /* at the last report of all hosts */
    uint64_t read_bytes;
    struct stop stop; /* size_bytes 0: none */
    struct roast_dask_reader_state state;
};

/* A field by its letter in the format: a double in `real`, else an integer. */
struct field {
    double real;
    uint64_t whole;
};

/* One item of a batch, and the sink it is for. */
struct item {
    struct roast_dask_reader *reader;
    const struct roast_dask_sink *sink;
    double *tick_s; /* of this batch; NaN: none yet */
    struct field fields[MOST_FIELDS];
    struct roast_str texts[MOST_TEXTS];
    struct roast_str tail; /* bytes after fields and texts */
};

const struct roast_dask_batch_item *roast_dask_batch_item(size_t index)
{
    return index < ITEM_COUNT ? &items[index] : NULL;
}

/* ---- times and names --------------------------------------------------------- */

static bool time_known(double seconds)
{
    return seconds > -MOST_SECONDS && seconds < MOST_SECONDS; /* false for NaN */
}

static int64_t to_ns(double seconds)
{
    double whole = floor(seconds);
    return (int64_t)whole * 1000000000 + (int64_t)((seconds - whole) * 1e9 + 0.5);
}

/* On the client's clock; 0 where it is not known. */
static int64_t client_ns(const struct roast_dask_reader *reader, double scheduler_s)
{
    return time_known(scheduler_s) ? to_ns(scheduler_s) + reader->offset_ns : 0;
}

static bool has_worker(const struct item *item, uint64_t number)
{
    return number < item->reader->workers.count;
}

/* Borrowed until the next name. */
static struct roast_str name_of(const struct roast_dask_reader *reader,
                                const struct names *names, uint64_t number)
{
    return roast__strings_get(&reader->texts, names->items[number].text);
}

static struct roast_str worker_name(const struct item *item, uint64_t number)
{
    return name_of(item->reader, &item->reader->workers, number);
}

/* An empty text is absent. */
static struct roast_str text_or_absent(struct roast_str text)
{
    return text.size_bytes > 0 ? text : (struct roast_str){0};
}

static bool add_name(struct roast_dask_reader *reader, struct names *names,
                     struct roast_str name)
{
    struct name *grown = roast__array_room(names->items, &names->cap, names->count,
                                           sizeof(*names->items));

    if (!grown)
        return false;
    names->items = grown;
    int32_t text = roast__strings_put(&reader->texts, name);
    if (text < 0)
        return false;
    names->items[names->count++] = (struct name){text, ROAST_NO_STRING};
    return true;
}

/* The next name, possibly after a gap; a known one may be repeated. */
static int take_name(struct names *names, const struct item *item, uint64_t most)
{
    struct roast_dask_reader *reader = item->reader;
    uint64_t number = item->fields[0].whole;
    struct roast_str name = item->texts[0];

    if (number >= most || name.size_bytes == 0 ||
        (number > names->count && number >= reader->read_bytes / LEAST_NAME_BYTES))
        return ROAST_BAD_DATA;
    while (names->count < number) {
        if (!add_name(reader, names, roast_str_of("?")))
            return ROAST_NO_MEMORY;
    }
    if (number < names->count)
        return roast__str_equal(name_of(reader, names, number), name) ? ROAST_OK
                                                                      : ROAST_BAD_DATA;
    return add_name(reader, names, name) ? ROAST_OK : ROAST_NO_MEMORY;
}

/* ---- one function for each kind of item -------------------------------------- */

static int take_tick(struct item *item)
{
    bool known = time_known(item->fields[0].real);

    *item->tick_s = known ? item->fields[0].real : (double)NAN;
    return known ? ROAST_OK : ROAST_BAD_DATA;
}

static double load_double(struct roast_cursor *from)
{
    uint64_t bits = roast__cursor_fixed64(from);
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static int take_sample(struct item *item)
{
    uint64_t worker = item->fields[0].whole;
    uint64_t mask = item->fields[1].whole;
    struct roast_cursor values = roast__cursor(item->tail.data, item->tail.size_bytes);
    roast_sample sample = {.time_ns = client_ns(item->reader, *item->tick_s)};

    if (!has_worker(item, worker) || isnan(*item->tick_s) || mask >> ROAST_SERIES_COUNT)
        return ROAST_BAD_DATA;
    for (unsigned n = 0; n < ROAST_SERIES_COUNT; n++) {
        if (!(mask >> n & 1))
            continue;
        double value = load_double(&values);
        if (n == ROAST_SERIES_last_seen)
            value += (double)item->reader->offset_ns / 1e9;
        if (isfinite(value)) /* others are not known */
            roast_sample_set(&sample, (enum roast_series)n, value);
    }
    sample.worker = worker_name(item, worker);
    return item->sink->sample(item->sink->context, &sample);
}

static int take_worker(struct item *item)
{
    return take_name(&item->reader->workers, item, ROAST_DASK_MOST_WORKERS);
}

static int take_joined(struct item *item)
{
    const struct field *fields = item->fields;
    struct roast_str host = text_or_absent(item->texts[1]);
    double limit_bytes = fields[3].real;

    if (!has_worker(item, fields[0].whole))
        return ROAST_BAD_DATA;
    if (host.data) {
        int32_t number = roast__dask_hosts_put(&item->reader->hosts, host);
        if (number < 0)
            return ROAST_NO_MEMORY;
        item->reader->workers.items[fields[0].whole].host = number;
    }
    bool limited = limit_bytes >= 1 && limit_bytes < 1e18; /* false for NaN */
    struct roast_member member = {
        .worker = worker_name(item, fields[0].whole),
        .name = text_or_absent(item->texts[0]),
        .host = host,
        .joined_ns = client_ns(item->reader, fields[1].real),
        .threads = fields[2].whole,
        .memory_limit_bytes = limited ? (uint64_t)limit_bytes : 0,
        .pid = fields[4].whole,
    };
    return item->sink->joined(item->sink->context, &member);
}

static int take_left(struct item *item)
{
    const struct field *fields = item->fields;

    if (!has_worker(item, fields[0].whole) || fields[2].whole > 1)
        return ROAST_BAD_DATA;
    struct roast_departure departure = {
        .worker = worker_name(item, fields[0].whole),
        .reason = text_or_absent(item->texts[0]),
        .left_ns = client_ns(item->reader, fields[1].real),
        .expected = fields[2].whole == 1,
    };
    return item->sink->left(item->sink->context, &departure);
}

static int take_prefix(struct item *item)
{
    return take_name(&item->reader->prefixes, item, ROAST_DASK_MOST_PREFIXES);
}

static int take_task(struct item *item)
{
    const struct roast_dask_reader *reader = item->reader;
    const struct field *fields = item->fields;
    uint64_t end = fields[3].whole % ROAST_TASK_OURS;
    bool assigned = fields[2].whole != ROAST_DASK_NO_WORKER;

    if (fields[1].whole >= reader->prefixes.count || end < ROAST_TASK_ok ||
        end >= ROAST_TASK_END_LAST || (assigned && !has_worker(item, fields[2].whole)))
        return ROAST_BAD_DATA;
    struct roast_task task = {
        .prefix = name_of(reader, &reader->prefixes, fields[1].whole),
        .key_hash = (uint32_t)fields[0].whole,
        .ours = fields[3].whole >= ROAST_TASK_OURS,
        .end = (enum roast_task_end)end,
        .assigned_ns = client_ns(reader, fields[4].real),
        .start_ns = client_ns(reader, fields[5].real),
        .stop_ns = client_ns(reader, fields[6].real),
    };
    if (assigned)
        task.worker = worker_name(item, fields[2].whole);
    return item->sink->task(item->sink->context, &task);
}

static int take_frames(struct item *item)
{
    const struct field *fields = item->fields;

    if (!has_worker(item, fields[0].whole))
        return ROAST_BAD_DATA;
    return item->sink->frames(item->sink->context, item->tail,
                              worker_name(item, fields[0].whole),
                              (uint32_t)fields[1].whole);
}

static int take_delay(struct item *item)
{
    struct roast_dask_reader *reader = item->reader;

    if (!has_worker(item, item->fields[0].whole))
        return ROAST_BAD_DATA;
    int32_t host = reader->workers.items[item->fields[0].whole].host;
    if (host < 0 || !time_known(item->fields[1].real))
        return ROAST_OK;
    return roast__dask_hosts_add_delay(&reader->hosts, host, item->fields[1].real)
               ? ROAST_OK
               : ROAST_NO_MEMORY;
}

static int take_dropped(struct item *item)
{
    item->reader->state.dropped_samples = item->fields[0].whole;
    item->reader->state.dropped_tasks = item->fields[1].whole;
    item->reader->state.dropped_frames = item->fields[2].whole;
    return ROAST_OK;
}

/* ---- any item ---------------------------------------------------------------- */

static void load_field(struct field *field, char letter, struct roast_cursor *from)
{
    size_t size = letter == 'B' ? 1 : (letter == 'H' ? 2 : (letter == 'I' ? 4 : 8));

    if (letter == 'd') {
        field->real = load_double(from);
        return;
    }
    const unsigned char *bytes = roast__cursor_bytes(from, size);
    field->whole = bytes ? roast__load_fixed(bytes, size) : 0;
}

static void load_bytes(struct roast_str *text, size_t size_bytes,
                       struct roast_cursor *from)
{
    text->size_bytes = size_bytes;
    text->data = (const char *)roast__cursor_bytes(from, size_bytes);
}

/* Loads one item, valid or not; false where the batch ends inside it. */
static bool load_item(struct item *item, const struct roast_dask_batch_item *kind,
                      struct roast_cursor *from)
{
    size_t tail_bytes = 0;

    for (size_t i = 0; kind->format[i] && i < MOST_FIELDS; i++)
        load_field(&item->fields[i], kind->format[i], from);
    for (unsigned i = 0; i < kind->texts; i++) {
        const unsigned char *size = roast__cursor_bytes(from, 2);
        load_bytes(&item->texts[i], size ? (size_t)roast__load_fixed(size, 2) : 0,
                   from);
    }
    if (kind->number == KIND_sample)
        tail_bytes = 8 * (size_t)__builtin_popcountll(item->fields[1].whole);
    if (kind->number == KIND_frames)
        tail_bytes = (size_t)item->fields[2].whole;
    load_bytes(&item->tail, tail_bytes, from);
    return !from->failed;
}

static int take(struct item *item, unsigned number)
{
    for (size_t i = 0; i < MOST_TEXTS; i++) {
        if (item->texts[i].size_bytes > ROAST_DASK_MOST_TEXT_BYTES)
            return ROAST_BAD_DATA;
    }
    switch ((enum kind)number) {
#define I(number, name, format, texts, meaning) \
    case KIND_##name: \
        return take_##name(item);
#include "roast/dask_batch_items.def"
#undef I
    }
    return ROAST_BAD_DATA;
}

/* ---- clocks of hosts --------------------------------------------------------- */

static uint64_t apart_ns(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* Changed hosts only; one that the sink refuses is reported again next time. */
static int report_offsets(struct roast_dask_reader *reader,
                          const struct roast_dask_sink *sink)
{
    struct roast_dask_hosts *hosts = &reader->hosts;

    for (; hosts->changed > 0; roast__dask_hosts_next(hosts)) {
        int32_t number = (int32_t)hosts->changed - 1;
        struct roast_dask_delays *host = &hosts->delays[number];
        int64_t offset_ns = to_ns(roast__dask_least_delay(host)) + reader->offset_ns;
        if (host->is_reported &&
            apart_ns(offset_ns, host->reported_ns) < OFFSET_STEP_NS)
            continue;
        int status = sink->offset(sink->context,
                                  roast__strings_get(&hosts->names, number), offset_ns);
        if (status < 0)
            return status;
        host->is_reported = true;
        host->reported_ns = offset_ns;
    }
    return ROAST_OK;
}

/* ---- one batch --------------------------------------------------------------- */

/* A batch that is read again continues here, so that nothing is passed twice. */
static void stop_at(struct roast_dask_reader *reader, struct roast_str batch, size_t at,
                    double tick_s)
{
    reader->stop = (struct stop){roast__hash64(batch.data, batch.size_bytes),
                                 batch.size_bytes, at, tick_s};
}

static size_t start_at(struct roast_dask_reader *reader, struct roast_str batch,
                       double *tick_s)
{
    struct stop stop = reader->stop;

    reader->stop = (struct stop){0};
    if (stop.size_bytes == 0 || stop.size_bytes != batch.size_bytes ||
        stop.hash != roast__hash64(batch.data, batch.size_bytes)) {
        reader->read_bytes += batch.size_bytes;
        return 0;
    }
    *tick_s = stop.tick_s;
    return stop.at;
}

static int item_error(roast_error *err, int status,
                      const struct roast_dask_batch_item *kind, size_t at,
                      size_t size_bytes)
{
    return roast_error_set(err, status, "item %s of a batch, at byte %zu of %zu",
                           kind ? kind->name : "of no known kind", at, size_bytes);
}

int roast__dask_reader_read(struct roast_dask_reader *reader, struct roast_str batch,
                            const struct roast_dask_sink *sink, roast_error *err)
{
    double tick_s = (double)NAN;
    size_t at = start_at(reader, batch, &tick_s);
    int worst = ROAST_OK;

    for (bool whole = true; whole && at < batch.size_bytes;) {
        struct roast_cursor from =
            roast__cursor(batch.data + at + 1, batch.size_bytes - at - 1);
        struct item item = {.reader = reader, .sink = sink, .tick_s = &tick_s};
        const struct roast_dask_batch_item *kind = NULL;
        for (size_t i = 0; i < ITEM_COUNT && !kind; i++)
            kind = items[i].number == (unsigned char)batch.data[at] ? &items[i] : NULL;
        whole = kind && load_item(&item, kind, &from);
        int status = whole ? take(&item, kind->number) : ROAST_BAD_DATA;
        if (status < 0 && status != ROAST_BAD_DATA) {
            stop_at(reader, batch, at, tick_s);
            return item_error(err, status, kind, at, batch.size_bytes);
        }
        reader->state.unread += status < 0;
        if (status < 0 && worst == ROAST_OK)
            worst = item_error(err, status, kind, at, batch.size_bytes);
        at = batch.size_bytes - roast__cursor_remaining(&from);
    }
    int status = report_offsets(reader, sink);
    if (status < 0) {
        stop_at(reader, batch, batch.size_bytes, tick_s);
        return roast_error_set(err, status, "the clock of a host");
    }
    return worst;
}

/* ---- the reader -------------------------------------------------------------- */

int roast__dask_reader_new(struct roast_dask_reader **out, roast_error *err)
{
    struct roast_dask_reader *reader = roast__alloc(sizeof(*reader));

    if (!reader)
        return roast_error_set(err, ROAST_NO_MEMORY, "reader of batches");
    *out = reader;
    return ROAST_OK;
}

void roast__dask_reader_free(struct roast_dask_reader *reader)
{
    if (!reader)
        return;
    roast__strings_release(&reader->texts);
    roast__free(reader->workers.items);
    roast__free(reader->prefixes.items);
    roast__dask_hosts_release(&reader->hosts);
    roast__free(reader);
}

void roast__dask_reader_set_offset(struct roast_dask_reader *reader, int64_t offset_ns)
{
    if (offset_ns > MOST_NS)
        offset_ns = MOST_NS;
    reader->offset_ns = offset_ns < -MOST_NS ? -MOST_NS : offset_ns;
    if (apart_ns(reader->offset_ns, reader->used_offset_ns) < OFFSET_STEP_NS)
        return;
    reader->used_offset_ns = reader->offset_ns;
    roast__dask_hosts_change_all(&reader->hosts);
}

struct roast_dask_reader_state roast__dask_reader_state(
    const struct roast_dask_reader *reader)
{
    struct roast_dask_reader_state state = reader->state;

    state.workers = reader->workers.count;
    return state;
}
