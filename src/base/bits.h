/*
 * bits.h: operations on words that processors have and C11 lacks, by builtins of the compiler.
 */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdint.h>

/* bits_lowest returns the position of the lowest set bit. The word must not be 0. */
static inline unsigned bits_lowest(uint64_t word)
{
	return (unsigned)__builtin_ctzll(word);
}

/* bits_highest returns the position of the highest set bit. The word must not be 0. */
static inline unsigned bits_highest(uint64_t word)
{
	return 63u - (unsigned)__builtin_clzll(word);
}

/* bits_count returns the number of set bits. */
static inline unsigned bits_count(uint64_t word)
{
	return (unsigned)__builtin_popcountll(word);
}

/* bits_prefetch fetches the cache line of `address`, which will be written soon. */
static inline void bits_prefetch(const void *address)
{
	__builtin_prefetch(address, 1);
}

/* BITS_RARE tells the compiler that the condition is nearly always false. */
#define BITS_RARE(condition) __builtin_expect(!!(condition), 0)

/* BITS_NOINLINE marks a function that is never inlined, so that its callers need no stack frame. */
#define BITS_NOINLINE __attribute__((noinline))

/* BITS_COLD marks a function that is rarely called. It is never inlined either. */
#define BITS_COLD __attribute__((noinline, cold))

#endif
