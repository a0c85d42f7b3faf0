/* Numbers in stored bytes: little-endian and unaligned. */
#ifndef DW_BASE_BYTES_H
#define DW_BASE_BYTES_H

#include <stdint.h>

static inline void bytes_put(unsigned char *at, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		at[i] = (unsigned char)(value >> (8 * i));
}

static inline uint64_t bytes_get(const unsigned char *at, unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

#endif
