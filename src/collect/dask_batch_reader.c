/* SPDX-License-Identifier: BSD-3-Clause */
/* dask_batch_reader.c - decodes the batches of one scheduler, item by item.
 *
 * Fields are loaded by the letters of dask_batch_items.def, so that list is the only place
 * that knows the layout. Numbers of workers and prefixes count up from 0; where names
 * were lost the next one fills the gap, but never a larger one than the bytes that were
 * read could have named. Each batch says the time of its samples anew, because the one
 * before it may have been dropped. */
#include <math.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/mem.h"
#include "base/str.h"
#include "collect/dask_batch_names.h"
#include "collect/dask_batch_reader.h"

enum {
    MOST_FIELDS = 7,
    MOST_TEXTS = 2,
    LEAST_NAME_BYTES = 8, /* of an item that names a worker */
};
static const double MOST_SECONDS = 4e9;             /* the year 2096 */
static const int64_t MOST_NS = 4000000000000000000; /* twice that fits an int64_t */
/* An offset that moves by less is noise of its measuring. */
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

/* Where reading ended before the end of a batch. */
struct stop {
    uint64_t hash; /* of the batch */
    size_t size_bytes;
    size_t at;
    double tick_s;
};

struct roast_dask_reader {
    struct roast_dask_names workers;
    int32_t *worker_hosts; /* owned; number of a host, by number of a worker */
    size_t worker_cap;
    size_t hosts_known; /* how many of them: all, unless memory was short */
    struct roast_dask_names prefixes;
    struct roast_dask_hosts hosts;
    int64_t offset_ns;
    int64_t used_offset_ns; /* when all hosts were looked at last */
    uint64_t read_bytes;
    struct stop stop; /* size_bytes 0: none */
    struct roast_dask_reader_state told;
};

/* A field is what its letter says: a double in `real`, else a whole number. */
struct field {
    double real;
    uint64_t whole;
};

/* One item as it lies in the batch, and where it goes. */
struct item {
    struct roast_dask_reader *reader;
    const struct roast_dask_sink *sink;
    double *tick_s; /* of this batch; NaN: none yet */
    struct field fields[MOST_FIELDS];
    struct roast_str texts[MOST_TEXTS];
    struct roast_str tail; /* what follows fields and texts */
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
    return number < item->reader->hosts_known;
}

static struct roast_str worker_name(const struct item *item, uint64_t number)
{
    return roast__dask_names_get(&item->reader->workers, (size_t)number);
}

/* A text that was not said is absent. */
static struct roast_str text_or_absent(struct roast_str text)
{
    return text.size_bytes > 0 ? text : (struct roast_str){0};
}

/* The next name in order, or behind some that were lost; one that is known may be said
 * again. */
static int take_name(struct roast_dask_names *names, const struct item *item,
                     uint64_t most)
{
    uint64_t number = item->fields[0].whole;
    struct roast_str name = item->texts[0];
    uint64_t could_be_named = item->reader->read_bytes / LEAST_NAME_BYTES;

    if (number >= most || name.size_bytes == 0 ||
        (number > names->count && number >= could_be_named))
        return ROAST_BAD_DATA;
    while (names->count < number) {
        if (!roast__dask_names_add(names, roast_str_of("?")))
            return ROAST_NO_MEMORY;
    }
    if (number < names->count)
        return roast__str_equal(roast__dask_names_get(names, (size_t)number), name)
                   ? ROAST_OK
                   : ROAST_BAD_DATA;
    return roast__dask_names_add(names, name) ? ROAST_OK : ROAST_NO_MEMORY;
}

/* A host for each worker that has a name, which is not known yet. */
static bool hosts_of_workers(struct roast_dask_reader *reader)
{
    size_t count = reader->workers.count;

    if (count > reader->worker_cap) {
        size_t cap = count + count / 2;
        int32_t *hosts = roast__realloc(reader->worker_hosts, cap * sizeof(*hosts));
        if (!hosts)
            return false;
        reader->worker_hosts = hosts;
        reader->worker_cap = cap;
    }
    while (reader->hosts_known < count)
        reader->worker_hosts[reader->hosts_known++] = ROAST_NO_DASK_HOST;
    return true;
}

/* ---- one function for each kind of item -------------------------------------- */

static int take_tick(struct item *item)
{
    bool known = time_known(item->fields[0].real);

    *item->tick_s = known ? item->fields[0].real : (double)NAN;
    return known ? ROAST_OK : ROAST_BAD_DATA;
}

static double load_double(struct roast_cursor *rest)
{
    uint64_t bits = roast__cursor_fixed64(rest);
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* Values that are no number are not known. */
static bool load_series(roast_sample *sample, struct item *item)
{
    uint64_t mask = item->fields[1].whole;
    struct roast_cursor values = roast__cursor(item->tail.data, item->tail.size_bytes);

    if (mask >> ROAST_SERIES_COUNT)
        return false;
    for (unsigned n = 0; n < ROAST_SERIES_COUNT; n++) {
        if (!(mask >> n & 1))
            continue;
        double value = load_double(&values);
        if (n == ROAST_SERIES_last_seen)
            value += (double)item->reader->offset_ns / 1e9;
        if (isfinite(value))
            roast_sample_set(sample, (enum roast_series)n, value);
    }
    return true;
}

static int take_sample(struct item *item)
{
    uint64_t worker = item->fields[0].whole;
    roast_sample sample = {.time_ns = client_ns(item->reader, *item->tick_s)};

    if (!has_worker(item, worker) || isnan(*item->tick_s) ||
        !load_series(&sample, item))
        return ROAST_BAD_DATA;
    sample.worker = worker_name(item, worker);
    return item->sink->sample(item->sink->context, &sample);
}

static int take_worker(struct item *item)
{
    struct roast_dask_reader *reader = item->reader;
    int status = take_name(&reader->workers, item, ROAST_DASK_MOST_WORKERS);

    return hosts_of_workers(reader) ? status : ROAST_NO_MEMORY;
}

static uint64_t bytes_of(double bytes)
{
    return bytes >= 1 && bytes < 1e18 ? (uint64_t)bytes : 0; /* 0 for NaN */
}

static int take_joined(struct item *item)
{
    const struct field *fields = item->fields;
    struct roast_str host = text_or_absent(item->texts[1]);

    if (!has_worker(item, fields[0].whole))
        return ROAST_BAD_DATA;
    if (host.data) {
        int32_t number = roast__dask_hosts_put(&item->reader->hosts, host);
        if (number < 0)
            return ROAST_NO_MEMORY;
        item->reader->worker_hosts[fields[0].whole] = number;
    }
    struct roast_member member = {
        .worker = worker_name(item, fields[0].whole),
        .name = text_or_absent(item->texts[0]),
        .host = host,
        .joined_ns = client_ns(item->reader, fields[1].real),
        .threads = fields[2].whole,
        .memory_limit_bytes = bytes_of(fields[3].real),
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
        .prefix = roast__dask_names_get(&reader->prefixes, (size_t)fields[1].whole),
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
    int32_t host = reader->worker_hosts[item->fields[0].whole];
    if (host < 0 || !time_known(item->fields[1].real))
        return ROAST_OK;
    return roast__dask_hosts_add_delay(&reader->hosts, host, item->fields[1].real)
               ? ROAST_OK
               : ROAST_NO_MEMORY;
}

static int take_dropped(struct item *item)
{
    item->reader->told.dropped_samples = item->fields[0].whole;
    item->reader->told.dropped_tasks = item->fields[1].whole;
    item->reader->told.dropped_frames = item->fields[2].whole;
    return ROAST_OK;
}

static int take(struct item *item, unsigned number)
{
    switch ((enum kind)number) {
#define I(number, name, format, texts, meaning) \
    case KIND_##name: \
        return take_##name(item);
#include "roast/dask_batch_items.def"
#undef I
    }
    return ROAST_BAD_DATA;
}

/* ---- any item ---------------------------------------------------------------- */

static size_t letter_bytes(char letter)
{
    switch (letter) {
    case 'B':
        return 1;
    case 'H':
        return 2;
    case 'I':
        return 4;
    default: /* d, Q */
        return 8;
    }
}

static void load_field(struct field *field, char letter, struct roast_cursor *rest)
{
    size_t size = letter_bytes(letter);

    if (letter == 'd') {
        field->real = load_double(rest);
        return;
    }
    const unsigned char *bytes = roast__cursor_bytes(rest, size);
    field->whole = bytes ? roast__load_fixed(bytes, size) : 0;
}

static void load_bytes(struct roast_str *text, size_t size_bytes,
                       struct roast_cursor *rest)
{
    text->size_bytes = size_bytes;
    text->data = (const char *)roast__cursor_bytes(rest, size_bytes);
}

static void load_text(struct roast_str *text, struct roast_cursor *rest)
{
    const unsigned char *size = roast__cursor_bytes(rest, 2);

    load_bytes(text, size ? (size_t)roast__load_fixed(size, 2) : 0, rest);
}

static size_t tail_bytes(const struct item *item, enum kind kind)
{
    if (kind == KIND_sample)
        return 8 * (size_t)__builtin_popcountll(item->fields[1].whole);
    return kind == KIND_frames ? (size_t)item->fields[2].whole : 0;
}

/* All of one item, whatever it says; false: the batch ends before it does. */
static bool load_item(struct item *item, const struct roast_dask_batch_item *kind,
                      struct roast_cursor *rest)
{
    for (size_t i = 0; kind->format[i] && i < MOST_FIELDS; i++)
        load_field(&item->fields[i], kind->format[i], rest);
    for (unsigned i = 0; i < kind->texts; i++)
        load_text(&item->texts[i], rest);
    load_bytes(&item->tail, tail_bytes(item, (enum kind)kind->number), rest);
    return !rest->failed;
}

static bool texts_are_short(const struct item *item)
{
    for (size_t i = 0; i < MOST_TEXTS; i++) {
        if (item->texts[i].size_bytes > ROAST_DASK_MOST_TEXT_BYTES)
            return false;
    }
    return true;
}

static const struct roast_dask_batch_item *find_kind(unsigned number)
{
    for (size_t i = 0; i < ITEM_COUNT; i++)
        if (items[i].number == number)
            return &items[i];
    return NULL;
}

/* ---- clocks of hosts --------------------------------------------------------- */

static uint64_t apart_ns(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* Of hosts with new delays only; one that cannot be told is told the next time. */
static int tell_offsets(struct roast_dask_reader *reader,
                        const struct roast_dask_sink *sink)
{
    struct roast_dask_hosts *hosts = &reader->hosts;

    for (; hosts->fresh > 0; roast__dask_hosts_seen(hosts)) {
        struct roast_dask_delays *host = &hosts->delays[hosts->fresh - 1];
        int64_t offset_ns = to_ns(roast__dask_least_delay(host)) + reader->offset_ns;
        if (host->is_told && apart_ns(offset_ns, host->told_ns) < OFFSET_STEP_NS)
            continue;
        int status = sink->offset(
            sink->context, roast__dask_names_get(&hosts->names, hosts->fresh - 1),
            offset_ns);
        if (status < 0)
            return status;
        host->is_told = true;
        host->told_ns = offset_ns;
    }
    return ROAST_OK;
}

/* ---- one batch --------------------------------------------------------------- */

/* What comes again is not told again. */
static void stop_at(struct roast_dask_reader *reader, struct roast_str batch, size_t at,
                    double tick_s)
{
    reader->stop = (struct stop){roast__hash64(batch.data, batch.size_bytes),
                                 batch.size_bytes, at, tick_s};
}

static size_t where_it_stopped(struct roast_dask_reader *reader, struct roast_str batch,
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

static int say_where(roast_error *err, int status,
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
    size_t at = where_it_stopped(reader, batch, &tick_s);
    int worst = ROAST_OK;

    for (bool whole = true; whole && at < batch.size_bytes;) {
        struct roast_cursor rest =
            roast__cursor(batch.data + at + 1, batch.size_bytes - at - 1);
        struct item item = {.reader = reader, .sink = sink, .tick_s = &tick_s};
        const struct roast_dask_batch_item *kind =
            find_kind((unsigned char)batch.data[at]);
        int status = ROAST_BAD_DATA;
        whole = kind && load_item(&item, kind, &rest);
        if (whole && texts_are_short(&item))
            status = take(&item, kind->number);
        if (status < 0 && status != ROAST_BAD_DATA) {
            stop_at(reader, batch, at, tick_s);
            return say_where(err, status, kind, at, batch.size_bytes);
        }
        reader->told.unread += status < 0;
        if (status < 0 && worst == ROAST_OK)
            worst = say_where(err, status, kind, at, batch.size_bytes);
        at = batch.size_bytes - roast__cursor_left(&rest);
    }
    int status = tell_offsets(reader, sink);
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
    roast__dask_names_release(&reader->workers);
    roast__dask_names_release(&reader->prefixes);
    roast__dask_hosts_release(&reader->hosts);
    roast__free(reader->worker_hosts);
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
    roast__dask_hosts_refresh(&reader->hosts);
}

struct roast_dask_reader_state roast__dask_reader_state(
    const struct roast_dask_reader *reader)
{
    struct roast_dask_reader_state state = reader->told;

    state.workers = reader->workers.count;
    return state;
}
