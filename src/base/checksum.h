/* SPDX-License-Identifier: BSD-3-Clause */
/* checksum.h - CRC-32C for frames and blocks, a 64-bit hash for names.
 *
 * CRC-32C (Castagnoli) guards every frame. The hash is FNV-1a: stable across machines
 * and versions, because ids made from it are stored (docs/format.md). */
#ifndef ROAST_BASE_CHECKSUM_H
#define ROAST_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint32_t roast__crc32c(const void *data, size_t size_bytes);

/* The CRC of bytes that continue those with this sum; 0 is the sum of no bytes. */
uint32_t roast__crc32c_more(uint32_t sum, const void *data, size_t size_bytes);
uint32_t roast__crc32c_portable(const void *data, size_t size_bytes); /* for its test */
uint64_t roast__hash64(const void *data, size_t size_bytes);

#endif
