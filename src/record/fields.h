/* SPDX-License-Identifier: BSD-3-Clause */
/* fields.h - how a field's type is laid out on the wire.
 *
 * A field is a tag, `number << 2 | wire`, then its value. The wire type alone gives
 * the length of the value, so a reader skips fields it does not know. */
#ifndef ROAST_RECORD_FIELDS_H
#define ROAST_RECORD_FIELDS_H

#include "roast/record.h"

enum roast_wire {
    ROAST_WIRE_VARINT = 0,
    ROAST_WIRE_FIXED64 = 1,
    ROAST_WIRE_BYTES = 2,
};

enum roast_wire roast__field_wire(enum roast_field_type type);

/* The field with this number, or ROAST_FIELD_COUNT. */
enum roast_field roast__field_by_number(uint64_t number);

#endif
