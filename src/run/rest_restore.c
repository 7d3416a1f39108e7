/* SPDX-License-Identifier: BSD-3-Clause */
/* rest_restore.c - packed rests of records that come from a file: are they whole?
 *
 * A rest is read without looking twice (rest.c), and so are the columns, the source and
 * the process of its row. All that is looked at here, once. */
#include "run/array.h"
#include "run/restore.h"
#include "run/shape.h"

static bool is_string(const struct roast_run *run, uint64_t number)
{
    return number < run->strings.count;
}

static bool read_shape(const struct roast_run *run, struct roast_cursor *cur,
                       struct roast_shape *shape)
{
    uint64_t number = roast__cursor_varint(cur);

    if (cur->failed || !is_string(run, number))
        return false;
    struct roast_str bytes = roast__strings_get(&run->strings, (int32_t)number);
    if (bytes.size_bytes != ROAST_SHAPE_BYTES)
        return false;
    *shape = roast__shape_of(bytes);
    return true;
}

int roast__rest_adopt(struct roast_run *run, struct roast_str packed)
{
    const uint64_t ours = (UINT64_C(1) << ROAST_FIELD_COUNT) - 1;
    struct roast_cursor cur = roast__cursor(packed.data, packed.size_bytes);
    struct roast_buf *out = &run->attempts.packed;
    struct roast_shape shape;

    if (!read_shape(run, &cur, &shape))
        return 0;
    if (shape.present & ~ours) {
        shape.present &= ours;
        int32_t number = roast__shape_number(run, shape);
        if (number < 0)
            return ROAST_NO_MEMORY;
        roast__buf_put_varint(out, (uint64_t)number);
        packed = (struct roast_str){(const char *)cur.at, roast__cursor_left(&cur)};
    }
    roast__buf_put(out, packed.data, packed.size_bytes);
    bool kept = roast__buf_ok(out);
    out->failed = false; /* what was packed before is whole */
    return kept ? 1 : ROAST_NO_MEMORY;
}

static bool is_text_number(enum roast_field field)
{
    switch (field) {
    case ROAST_FIELD_host:
    case ROAST_FIELD_worker:
    case ROAST_FIELD_absences:
    case ROAST_FIELD_file_facts:
    case ROAST_FIELD_file_branches:
        return true;
    default:
        return false;
    }
}

static bool check_packed(const struct roast_run *run, struct roast_cursor *cur,
                         enum roast_field field, const struct roast_buf *lost)
{
    if (is_text_number(field)) {
        uint64_t number = roast__cursor_varint(cur);
        return !cur->failed && is_string(run, number) && !roast__buf_bit(lost, number);
    }
    (void)roast__rest_value(cur, field); /* TIME fields are signed there as well */
    return !cur->failed;
}

static bool check_column(const struct roast_run *run, size_t row,
                         enum roast_field field)
{
    const struct roast_column *columns = run->attempts.columns;
    const struct roast_column *error = &columns[ROAST_COLUMN_error_type];

    for (size_t i = 0; i < ROAST_FIELD_COLUMN_COUNT; i++) {
        if (roast__field_columns[i].field == field)
            return roast__column_has(&columns[roast__field_columns[i].column], row);
    }
    return roast__column_has(error, row) &&
           is_string(run, (uint64_t)error->values[row]);
}

/* Whether the home of a field that is not in the rest has it. */
static bool check_home(const struct roast_run *run, size_t row, enum roast_field field)
{
    const struct roast_attempts *attempts = &run->attempts;
    const struct roast_worker_process *process =
        &attempts->processes[roast__home_of(attempts, row)];
    static const struct roast_source nowhere = {-1, -1, -1, -1, false, 0, 0};
    const struct roast_source *source = attempts->source[row] < 0
                                            ? &nowhere
                                            : &attempts->sources[attempts->source[row]];

    switch (field) {
    case ROAST_FIELD_dataset:
        return source->dataset >= 0;
    case ROAST_FIELD_file:
        return source->file >= 0;
    case ROAST_FIELD_treename:
        return source->tree >= 0;
    case ROAST_FIELD_uuid:
        return source->uuid >= 0;
    case ROAST_FIELD_host:
        return process->host >= 0;
    case ROAST_FIELD_worker:
        return process->worker >= 0;
    case ROAST_FIELD_identity:
    case ROAST_FIELD_pid:
        return true;
    default:
        return check_column(run, row, field);
    }
}

size_t roast__rest_check(const struct roast_run *run, size_t row,
                         struct roast_str packed, const struct roast_buf *lost)
{
    struct roast_cursor cur = roast__cursor(packed.data, packed.size_bytes);
    struct roast_shape shape;

    if (!read_shape(run, &cur, &shape) || shape.present >> ROAST_FIELD_COUNT)
        return 0;
    uint64_t in_rest = roast__shape_in_rest(shape);
    for (uint64_t left = shape.present; left; left &= left - 1) {
        enum roast_field field = (enum roast_field)__builtin_ctzll(left);
        if (!((in_rest >> field) & 1 ? check_packed(run, &cur, field, lost)
                                     : check_home(run, row, field)))
            return 0;
    }
    return (size_t)(cur.at - (const unsigned char *)packed.data);
}

/* ---- to a file ------------------------------------------------------------------- */

enum { SIZED_U64, SIZED_I64 = 0, SIZED_TIME = 0, SIZED_TEXT = 1, SIZED_BLOB = 1 };

/* Fields whose length is written before them; all others are one varint. */
static const uint64_t sized_fields =
    (UINT64_C(0)
#define F(number, name, type, unit, text) | (uint64_t)SIZED_##type << ROAST_FIELD_##name
#include "roast/record_fields.def"
#undef F
         ) &
    ~(ROAST_BIT(host) | ROAST_BIT(worker) | ROAST_BIT(absences) |
      ROAST_BIT(file_facts) | ROAST_BIT(file_branches));

static inline const unsigned char *skip_varint(const unsigned char *at)
{
    while (*at++ & 0x80)
        ;
    return at;
}

/* They were packed here, so nothing is looked at twice: a million of them are saved. */
size_t roast__rest_size(const struct roast_run *run, size_t from)
{
    const struct roast_buf *packed = &run->attempts.packed;
    const unsigned char *start = packed->data + from, *at = start;
    struct roast_cursor cur = roast__cursor(at, packed->size_bytes - from);
    struct roast_shape shape = {0, 0};

    (void)read_shape(run, &cur, &shape);
    at = cur.at;
    for (uint64_t left = roast__shape_in_rest(shape); left; left &= left - 1) {
        if (!((sized_fields >> __builtin_ctzll(left)) & 1)) {
            at = skip_varint(at);
            continue;
        }
        cur = roast__cursor(at, (size_t)(packed->data + packed->size_bytes - at));
        uint64_t size = roast__cursor_varint(&cur);
        at = cur.at + size;
    }
    return (size_t)(at - start);
}
