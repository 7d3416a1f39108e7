/* SPDX-License-Identifier: BSD-3-Clause */
/* cold_fields.c - the fields of a chunk record that have no column, packed; and back.
 *
 *     varint     set: number of a string of 16 bytes
 *     values     of the cold fields, in the order of the list, without tags
 *
 * A set has the fields of the record, then those that are displaced: stored here
 * because their column or table has another value; 8 bytes each, little endian. A run
 * has a handful of sets, so a record needs one byte for all its tags.
 *
 * Times of process() are stored relative to the expected clocks of the process at the
 * row's start on the timeline. Distances wrap, so that a hostile one is restored
 * unchanged. */
#include "run/cold_fields.h"

#include "base/array.h"
#include "base/bytes.h"
#include "run/field_set.h"
#include "run/run.h"

#define COLUMN(name) \
    { \
        ROAST_FIELD_##name, ROAST_COLUMN_##name \
    }

const struct roast_field_column roast__field_columns[ROAST_FIELD_COLUMN_COUNT] = {
    COLUMN(duration_ns),     COLUMN(cpu_ns),         COLUMN(entry_start),
    COLUMN(entry_stop),      COLUMN(num_events),     COLUMN(rss_before_bytes),
    COLUMN(rss_after_bytes), COLUMN(rss_peak_bytes), COLUMN(bytes_read),
    COLUMN(bytes_before),
};

/* The expected clocks of a process when its timeline is at *start_ns. */
struct starts {
    int64_t epoch_ns;
    int64_t mono_ns;
};

static struct starts expected_starts(const struct roast_worker_process *process,
                                     const int64_t *start_ns)
{
    struct starts starts = {0, 0};

    if (start_ns) {
        starts.epoch_ns = *start_ns;
        starts.mono_ns = roast__wrap_sub(*start_ns, process->timeline_minus_mono_ns);
    }
    return starts;
}

/* ---- packing --------------------------------------------------------------------- */

static uint64_t displaced_fields(const roast_record *rec,
                                 const struct roast_worker_process *process,
                                 const struct roast_record_texts *texts)
{
    uint64_t displaced = 0;

    for (size_t i = 0; i < ROAST_FIELD_COLUMN_COUNT; i++) {
        enum roast_field field = roast__field_columns[i].field;
        if (roast_record_has(rec, field) && rec->values[field].u64 > INT64_MAX)
            displaced |= UINT64_C(1) << field; /* columns are signed */
    }
    if (roast_record_has(rec, ROAST_FIELD_identity) &&
        rec->values[ROAST_FIELD_identity].str.size_bytes != ROAST_IDENTITY_BYTES)
        displaced |= ROAST_BIT(identity);
    if (texts->host != process->host)
        displaced |= ROAST_BIT(host);
    if (texts->worker != process->worker)
        displaced |= ROAST_BIT(worker);
    if (process->pid == 0 || !roast_record_has(rec, ROAST_FIELD_pid) ||
        rec->values[ROAST_FIELD_pid].u64 != process->pid)
        displaced |= ROAST_BIT(pid);
    return displaced & rec->present;
}

static int32_t field_set_number(struct roast_run *run, struct roast_field_set set)
{
    unsigned char bytes[ROAST_FIELD_SET_BYTES];

    roast__store_fixed(bytes, set.present, 8);
    roast__store_fixed(bytes + 8, set.displaced, 8);
    return roast__strings_put(&run->strings,
                              (struct roast_str){(const char *)bytes, sizeof(bytes)});
}

static void put_field(struct roast_buf *out, enum roast_field field,
                      union roast_field_value value)
{
    switch (roast_field_info(field)->type) {
    case ROAST_TYPE_U64:
        roast__buf_put_varint(out, value.u64);
        break;
    case ROAST_TYPE_I64:
    case ROAST_TYPE_TIME:
        roast__buf_put_signed(out, value.i64);
        break;
    case ROAST_TYPE_TEXT:
    case ROAST_TYPE_BLOB:
        roast__buf_put_varint(out, value.str.size_bytes);
        roast__buf_put(out, value.str.data, value.str.size_bytes);
        break;
    }
}

static void put_value(struct roast_buf *out, enum roast_field field,
                      const roast_record *rec, const struct roast_record_texts *texts,
                      struct starts starts)
{
    switch (field) {
    case ROAST_FIELD_start_epoch_ns:
        roast__buf_put_signed(out,
                              roast__wrap_sub(rec->values[field].i64, starts.epoch_ns));
        break;
    case ROAST_FIELD_start_mono_ns:
        roast__buf_put_signed(out,
                              roast__wrap_sub(rec->values[field].i64, starts.mono_ns));
        break;
    case ROAST_FIELD_host:
        roast__buf_put_varint(out, (uint64_t)texts->host);
        break;
    case ROAST_FIELD_worker:
        roast__buf_put_varint(out, (uint64_t)texts->worker);
        break;
    case ROAST_FIELD_absences:
        roast__buf_put_varint(out, (uint64_t)texts->absences);
        break;
    case ROAST_FIELD_file_facts:
        roast__buf_put_varint(out, (uint64_t)texts->file_facts);
        break;
    case ROAST_FIELD_file_branches:
        roast__buf_put_varint(out, (uint64_t)texts->file_branches);
        break;
    default:
        put_field(out, field, rec->values[field]);
    }
}

uint64_t roast__cold_fields_pack(struct roast_run *run, const roast_record *rec,
                                 const struct roast_worker_process *process,
                                 const struct roast_record_texts *texts,
                                 const int64_t *start_ns)
{
    struct roast_buf *packed = &run->attempts.packed;
    struct roast_field_set set = {rec->present, displaced_fields(rec, process, texts)};
    int32_t number = field_set_number(run, set);
    struct starts starts = expected_starts(process, start_ns);
    size_t from = packed->size_bytes;

    if (number < 0)
        return 0;
    roast__buf_put_varint(packed, (uint64_t)number);
    for (uint64_t left = roast__fields_in_cold(set); left; left &= left - 1) {
        enum roast_field field = (enum roast_field)__builtin_ctzll(left);
        put_value(packed, field, rec, texts, starts);
    }
    if (roast__buf_ok(packed))
        return from + 1;
    packed->size_bytes = from;
    packed->failed = false; /* what was packed before is complete */
    return 0;
}

/* ---- unpacking ------------------------------------------------------------------- */

static struct roast_cursor open_cold(const struct roast_run *run, size_t row,
                                     struct roast_field_set *set)
{
    const struct roast_buf *packed = &run->attempts.packed;
    size_t from = (size_t)run->attempts.cold_fields[row] - 1;
    struct roast_cursor cur =
        roast__cursor(packed->data + from, packed->size_bytes - from);
    int32_t number = (int32_t)roast__cursor_varint(&cur);

    *set = roast__field_set_of(roast__strings_get(&run->strings, number));
    return cur;
}

static union roast_field_value read_by_type(struct roast_cursor *cur,
                                            enum roast_field field)
{
    union roast_field_value value = {.str = {NULL, 0}};

    switch (roast_field_info(field)->type) {
    case ROAST_TYPE_U64:
        value.u64 = roast__cursor_varint(cur);
        break;
    case ROAST_TYPE_I64:
    case ROAST_TYPE_TIME:
        value.i64 = roast__cursor_signed(cur);
        break;
    case ROAST_TYPE_TEXT:
    case ROAST_TYPE_BLOB:
        value.str.size_bytes = (size_t)roast__cursor_varint(cur);
        value.str.data = (const char *)roast__cursor_bytes(cur, value.str.size_bytes);
        break;
    }
    return value;
}

static struct starts starts_of(const struct roast_run *run, size_t row)
{
    const struct roast_attempts *attempts = &run->attempts;
    const struct roast_column *start = &attempts->columns[ROAST_COLUMN_start_ns];
    const struct roast_worker_process *process =
        &attempts->processes[roast__process_of(attempts, row)];
    int64_t recorded_ns =
        roast__wrap_sub(roast__column_get(start, row, 0), process->offset_ns);

    return expected_starts(process,
                           roast__column_has(start, row) ? &recorded_ns : NULL);
}

static union roast_field_value read_value(const struct roast_run *run, size_t row,
                                          struct roast_cursor *cur,
                                          enum roast_field field)
{
    union roast_field_value value = {.str = {NULL, 0}};

    switch (field) {
    case ROAST_FIELD_start_epoch_ns:
        value.i64 =
            roast__wrap_add(roast__cursor_signed(cur), starts_of(run, row).epoch_ns);
        return value;
    case ROAST_FIELD_start_mono_ns:
        value.i64 =
            roast__wrap_add(roast__cursor_signed(cur), starts_of(run, row).mono_ns);
        return value;
    case ROAST_FIELD_host:
    case ROAST_FIELD_worker:
    case ROAST_FIELD_absences:
    case ROAST_FIELD_file_facts:
    case ROAST_FIELD_file_branches:
        value.str =
            roast__strings_get(&run->strings, (int32_t)roast__cursor_varint(cur));
        return value;
    default:
        return read_by_type(cur, field);
    }
}

/* Skips a value. */
static void skip_value(struct roast_cursor *cur, enum roast_field field)
{
    const uint64_t numbers = ROAST_BIT(host) | ROAST_BIT(worker) | ROAST_BIT(absences) |
                             ROAST_BIT(file_facts) | ROAST_BIT(file_branches);

    if ((numbers >> field) & 1)
        (void)roast__cursor_varint(cur);
    else
        (void)read_by_type(cur, field);
}

/* Reads the wanted cold fields, up to the last one. */
static void pick_from_cold(const struct roast_run *run, size_t row,
                           struct roast_cursor *cur, struct roast_field_set set,
                           uint64_t wanted, roast_record *rec)
{
    uint64_t left = roast__fields_in_cold(set);

    for (wanted &= left; wanted; left &= left - 1) {
        enum roast_field field = (enum roast_field)__builtin_ctzll(left);
        uint64_t bit = left & -left;
        if (wanted & bit)
            rec->values[field] = read_value(run, row, cur, field);
        else
            skip_value(cur, field);
        wanted &= ~bit;
    }
}

static void fill_columns(const struct roast_run *run, size_t row, uint64_t wanted,
                         roast_record *rec)
{
    const struct roast_column *columns = run->attempts.columns;

    for (size_t i = 0; i < ROAST_FIELD_COLUMN_COUNT; i++) {
        struct roast_field_column pair = roast__field_columns[i];
        if ((wanted >> pair.field) & 1)
            rec->values[pair.field].i64 = columns[pair.column].values[row];
    }
    if (wanted & ROAST_BIT(error_type))
        rec->values[ROAST_FIELD_error_type].str = roast__strings_get(
            &run->strings, (int32_t)columns[ROAST_COLUMN_error_type].values[row]);
}

static void fill_source(const struct roast_run *run, size_t row, roast_record *rec)
{
    const struct roast_source *source =
        &run->attempts.sources[run->attempts.source[row]];
    const struct roast_string_table *strings = &run->strings;

    rec->values[ROAST_FIELD_dataset].str = roast__strings_get(strings, source->dataset);
    rec->values[ROAST_FIELD_file].str = roast__strings_get(strings, source->file);
    rec->values[ROAST_FIELD_treename].str = roast__strings_get(strings, source->tree);
    rec->values[ROAST_FIELD_uuid].str = roast__strings_get(strings, source->uuid);
}

void roast__attempt_identity(const struct roast_run *run, size_t row,
                             unsigned char identity[ROAST_IDENTITY_BYTES])
{
    const struct roast_worker_process *process =
        &run->attempts.processes[roast__process_of(&run->attempts, row)];
    struct roast_str run_id = roast__strings_get(&run->strings, process->run);
    struct roast_identity id = {.process_id = process->id,
                                .sequence = run->attempts.sequence[row]};

    if (run_id.size_bytes == sizeof(id.run_id))
        memcpy(id.run_id, run_id.data, sizeof(id.run_id));
    roast_identity_pack(identity, &id);
}

static void fill_process(const struct roast_run *run, size_t row, roast_record *rec)
{
    const struct roast_worker_process *process =
        &run->attempts.processes[roast__process_of(&run->attempts, row)];

    rec->values[ROAST_FIELD_host].str =
        roast__strings_get(&run->strings, process->host);
    rec->values[ROAST_FIELD_worker].str =
        roast__strings_get(&run->strings, process->worker);
    rec->values[ROAST_FIELD_pid].u64 = process->pid;
}

/* ---- fields of end frames -------------------------------------------------------- */

static const struct roast_field_column end_columns[] = {
    COLUMN(task_ns),      COLUMN(task_cpu_ns), COLUMN(task_process_cpu_ns),
    COLUMN(output_bytes), COLUMN(ladder),
};

enum { END_COLUMN_COUNT = sizeof(end_columns) / sizeof(end_columns[0]) };

int64_t roast__ladder_pack(struct roast_attempts *attempts, struct roast_str ladder)
{
    struct roast_buf *packed = &attempts->packed;
    size_t from = packed->size_bytes;

    roast__buf_put_varint(packed, ladder.size_bytes);
    roast__buf_put(packed, ladder.data, ladder.size_bytes);
    if (roast__buf_ok(packed))
        return (int64_t)from;
    packed->size_bytes = from;
    packed->failed = false; /* what was packed before is complete */
    return -1;
}

struct roast_str roast__attempt_ladder(const struct roast_attempts *attempts,
                                       size_t row)
{
    const struct roast_column *column = &attempts->columns[ROAST_COLUMN_ladder];

    if (!roast__column_has(column, row))
        return (struct roast_str){NULL, 0};
    size_t from = (size_t)column->values[row];
    struct roast_cursor cur =
        roast__cursor(attempts->packed.data + from, attempts->packed.size_bytes - from);
    struct roast_str ladder = {.size_bytes = (size_t)roast__cursor_varint(&cur)};
    ladder.data = (const char *)roast__cursor_bytes(&cur, ladder.size_bytes);
    return ladder;
}

static uint64_t fields_of_end(const struct roast_attempts *attempts, size_t row)
{
    uint64_t fields = 0;

    for (size_t i = 0; i < END_COLUMN_COUNT; i++) {
        struct roast_field_column pair = end_columns[i];
        if (roast__column_has(&attempts->columns[pair.column], row))
            fields |= UINT64_C(1) << pair.field;
    }
    return fields;
}

/* Adds the wanted fields that the chunk frame does not have. */
static void fill_from_end(const struct roast_attempts *attempts, size_t row,
                          uint64_t wanted, roast_record *rec)
{
    uint64_t missing = fields_of_end(attempts, row) & wanted & ~rec->present;

    for (size_t i = 0; missing != 0 && i < END_COLUMN_COUNT; i++) {
        struct roast_field_column pair = end_columns[i];
        if (!((missing >> pair.field) & 1))
            continue;
        if (pair.field == ROAST_FIELD_ladder)
            rec->values[pair.field].str = roast__attempt_ladder(attempts, row);
        else
            rec->values[pair.field].i64 = attempts->columns[pair.column].values[row];
    }
    rec->present |= missing;
}

/* ---- the whole record ------------------------------------------------------------ */

uint64_t roast__attempt_present(const struct roast_run *run, size_t row)
{
    struct roast_field_set set;

    if (run->attempts.cold_fields[row] == 0)
        return 0;
    (void)open_cold(run, row, &set);
    return set.present | fields_of_end(&run->attempts, row);
}

bool roast__attempt_chunk(const struct roast_run *run, size_t row, roast_record *rec,
                          unsigned char identity[ROAST_IDENTITY_BYTES])
{
    struct roast_field_set set;

    rec->kind = ROAST_FRAME_CHUNK;
    rec->present = 0;
    if (run->attempts.cold_fields[row] == 0)
        return false;
    struct roast_cursor cur = open_cold(run, row, &set);
    rec->present = set.present;
    fill_columns(run, row, set.present & roast__in_column & ~set.displaced, rec);
    if (set.present & roast__in_source)
        fill_source(run, row, rec);
    fill_process(run, row, rec);
    roast__attempt_identity(run, row, identity);
    rec->values[ROAST_FIELD_identity].str =
        (struct roast_str){(const char *)identity, ROAST_IDENTITY_BYTES};
    pick_from_cold(run, row, &cur, set, set.present, rec);
    return true;
}

bool roast__attempt_record(const struct roast_run *run, size_t row, roast_record *rec,
                           unsigned char identity[ROAST_IDENTITY_BYTES])
{
    bool has_chunk = roast__attempt_chunk(run, row, rec, identity);

    fill_from_end(&run->attempts, row, UINT64_MAX, rec);
    return has_chunk;
}

bool roast__attempt_fields(const struct roast_run *run, size_t row, uint64_t wanted,
                           roast_record *rec)
{
    bool has_frame = run->attempts.cold_fields[row] != 0;

    rec->kind = ROAST_FRAME_CHUNK;
    rec->present = 0;
    if (has_frame) {
        struct roast_field_set set;
        struct roast_cursor cur = open_cold(run, row, &set);
        rec->present = set.present & wanted;
        fill_columns(run, row, rec->present & roast__in_column & ~set.displaced, rec);
        if (rec->present & roast__in_source)
            fill_source(run, row, rec);
        if (rec->present & roast__in_process)
            fill_process(run, row, rec);
        pick_from_cold(run, row, &cur, set, rec->present, rec);
    }
    fill_from_end(&run->attempts, row, wanted, rec);
    return has_frame;
}
