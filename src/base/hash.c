#include "base/hash.h"

#include "base/bytes.h"

/* mix spreads every bit of both numbers over the result, by folding the halves of their 128-bit
 * product. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t hash = seed ^ UINT64_C(0x9e3779b97f4a7c15) ^ size;

	for (; size >= 8; size -= 8, at += 8)
		hash = mix(hash ^ bytes_get(at, 8), UINT64_C(0xe7037ed1a0b428db));
	hash = mix(hash ^ bytes_get(at, (unsigned)size), UINT64_C(0xa0761d6478bd642f));
	return mix(hash, seed | 1);
}
