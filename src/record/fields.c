/* SPDX-License-Identifier: BSD-3-Clause */
/* fields.c - the closed sets of the record as tables, made from their lists. */
#include "record/fields.h"

static const struct roast_field_info fields[ROAST_FIELD_COUNT] = {
#define F(number, name, type, unit, text) \
    {(number), ROAST_TYPE_##type, #name, #unit, (text)},
#include "roast/record_fields.def"
#undef F
};

/* Field index + 1 by number, so that 0 means unknown. */
static const unsigned char by_number[] = {
#define F(number, name, type, unit, text) [number] = ROAST_FIELD_##name + 1,
#include "roast/record_fields.def"
#undef F
};

_Static_assert(ROAST_FIELD_COUNT <= 64, "roast_record.present has 64 bits");

static const char *const loss_names[ROAST_LOSS_END] = {
#define L(number, name, text) [number] = #name,
#include "roast/losses.def"
#undef L
};

static const char *const loss_texts[ROAST_LOSS_END] = {
#define L(number, name, text) [number] = (text),
#include "roast/losses.def"
#undef L
};

static const char *const reason_texts[ROAST_WHY_END] = {
#define R(number, name, text) [number] = (text),
#include "roast/reasons.def"
#undef R
};

const struct roast_field_info *roast_field_info(enum roast_field field)
{
    return &fields[field];
}

enum roast_field roast__field_by_number(uint64_t number)
{
    if (number >= sizeof(by_number) || by_number[number] == 0)
        return ROAST_FIELD_COUNT;
    return (enum roast_field)(by_number[number] - 1);
}

enum roast_wire roast__field_wire(enum roast_field_type type)
{
    switch (type) {
    case ROAST_TYPE_TIME:
        return ROAST_WIRE_FIXED64;
    case ROAST_TYPE_TEXT:
    case ROAST_TYPE_BLOB:
        return ROAST_WIRE_BYTES;
    case ROAST_TYPE_U64:
    case ROAST_TYPE_I64:
        break;
    }
    return ROAST_WIRE_VARINT;
}

const char *roast_loss_name(unsigned loss)
{
    return loss < ROAST_LOSS_END ? loss_names[loss] : NULL;
}

const char *roast_loss_text(unsigned loss)
{
    return loss < ROAST_LOSS_END ? loss_texts[loss] : NULL;
}

const char *roast_reason_text(unsigned reason)
{
    return reason < ROAST_WHY_END ? reason_texts[reason] : NULL;
}
