/* A seeded hash of bytes: FNV-1a by 8 bytes with a strong finish. The seed keeps chosen ids from
 * meeting in one bucket. */
#ifndef DW_BASE_HASH_H
#define DW_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size);

#endif
