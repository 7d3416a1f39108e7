/* SPDX-License-Identifier: BSD-3-Clause */
/* record_json.h - a chunk record as JSON, with everything that is in it. */
#ifndef ROAST_CLI_RECORD_JSON_H
#define ROAST_CLI_RECORD_JSON_H

#include "roast/json_write.h"
#include "roast/record.h"

/* Memory that records are unpacked into, kept from one to the next. Zeroed = empty. */
struct unpacked {
    void *items; /* owned */
    size_t cap_bytes;
};

/* Room for count items. */
void *unpack_room(struct unpacked *room, size_t count, size_t item_bytes);

/* Puts the keys of a record into the object that is open. */
void put_record(struct roast_json *json, const roast_record *rec,
                struct unpacked *room);

/* Puts one packed field as a value; null where its bytes do not follow the format. */
void put_blob(struct roast_json *json, enum roast_field field, struct roast_str blob,
              struct unpacked *room);

/* Puts bytes as a text of digits. */
void put_hex(struct roast_json *json, struct roast_str bytes);

/* Puts free-form values as an object. */
void put_values(struct roast_json *json, struct roast_str blob);

#endif
