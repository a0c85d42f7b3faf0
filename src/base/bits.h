/*
 * bits.h: what the processor can do with a word and C11 cannot say. The compiler's extensions stay
 * in this file.
 */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdint.h>

/* bits_lowest: the position of the lowest set bit; the word is not 0. */
static inline unsigned bits_lowest(uint64_t word)
{
	return (unsigned)__builtin_ctzll(word);
}

/* bits_highest: the position of the highest set bit; the word is not 0. */
static inline unsigned bits_highest(uint64_t word)
{
	return 63u - (unsigned)__builtin_clzll(word);
}

/* bits_count: how many bits are set. */
static inline unsigned bits_count(uint64_t word)
{
	return (unsigned)__builtin_popcountll(word);
}

/* bits_prefetch: the line at `address` will be written soon. */
static inline void bits_prefetch(const void *address)
{
	__builtin_prefetch(address, 1);
}

/* BITS_RARE: the condition is expected to be false. */
#define BITS_RARE(condition) __builtin_expect(!!(condition), 0)

/* BITS_NOINLINE: kept out of its callers, so that those stay without a frame. */
#define BITS_NOINLINE __attribute__((noinline))

/* BITS_COLD: a function for rare cases, kept out of its callers so that those stay without a frame.
 */
#define BITS_COLD __attribute__((noinline, cold))

#endif
