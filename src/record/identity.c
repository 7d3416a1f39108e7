/* SPDX-License-Identifier: BSD-3-Clause */
/* identity.c - the process of a record, and its range of a file.
 *
 *     identity  16 bytes run id, 8 bytes process id, 4 bytes sequence
 *     place     4 bytes each: dataset id, file id, first entry, number of entries
 *
 * Numbers are little endian. Both have a fixed size so that a begin frame, which goes
 * out as a live event for every chunk, is 64 bytes and no more. */
#include "base/bytes.h"
#include "base/checksum.h"
#include "roast/record.h"

void roast_identity_pack(unsigned char out[ROAST_IDENTITY_BYTES],
                         const struct roast_identity *id)
{
    memcpy(out, id->run_id, ROAST_RUN_ID_BYTES);
    roast__store_fixed(out + 16, id->process_id, 8);
    roast__store_fixed(out + 24, id->sequence, 4);
}

int roast_identity_unpack(struct roast_identity *id, struct roast_str blob,
                          roast_error *err)
{
    if (blob.size_bytes != ROAST_IDENTITY_BYTES)
        return roast_error_set(err, ROAST_BAD_DATA, "identity of %zu bytes, not %d",
                               blob.size_bytes, ROAST_IDENTITY_BYTES);
    const unsigned char *in = (const unsigned char *)blob.data;
    memcpy(id->run_id, in, ROAST_RUN_ID_BYTES);
    id->process_id = roast__load_fixed(in + 16, 8);
    id->sequence = (uint32_t)roast__load_fixed(in + 24, 4);
    return ROAST_OK;
}

uint32_t roast_name_id(struct roast_str name)
{
    uint64_t hash = roast__hash64(name.data, name.size_bytes);
    return (uint32_t)(hash ^ (hash >> 32));
}

static uint32_t field_id(const roast_record *rec, enum roast_field field)
{
    return roast_record_has(rec, field) ? roast_name_id(rec->values[field].str) : 0;
}

bool roast_place_pack(unsigned char out[ROAST_PLACE_BYTES], const roast_record *rec)
{
    uint64_t start = rec->values[ROAST_FIELD_entry_start].u64;
    uint64_t stop = rec->values[ROAST_FIELD_entry_stop].u64;

    if (!roast_record_has(rec, ROAST_FIELD_entry_start) ||
        !roast_record_has(rec, ROAST_FIELD_entry_stop))
        start = stop = 0;
    if (stop < start || stop > UINT32_MAX)
        return false;
    roast__store_fixed(out, field_id(rec, ROAST_FIELD_dataset), 4);
    roast__store_fixed(out + 4, field_id(rec, ROAST_FIELD_file), 4);
    roast__store_fixed(out + 8, start, 4);
    roast__store_fixed(out + 12, stop - start, 4);
    return true;
}
