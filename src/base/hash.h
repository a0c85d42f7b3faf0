/* A seeded hash of bytes, which takes eight bytes at a time. The seed prevents callers from
 * choosing ids that all fall into one bucket. */
#ifndef DW_BASE_HASH_H
#define DW_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size);

#endif
