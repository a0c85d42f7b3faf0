/* Public structs grow at their end, and the caller's says its size. */
#ifndef DW_BASE_GROWN_H
#define DW_BASE_GROWN_H

#include <stdbool.h>
#include <stddef.h>

#define GROWN_MAX 1024u /* bytes that any struct of ours will ever have */

/* grown_size_is_wrong: the struct says that it has fewer bytes than least, or so many that its size
 * was never set. It is not read any further. */
static inline bool grown_size_is_wrong(size_t size, size_t least)
{
	return size < least || size > GROWN_MAX;
}

/* grown_is_unknown: a newer caller asks for something that this version does not know: behind the
 * known bytes of a struct of that size not all bytes are zero. */
static inline bool grown_is_unknown(const void *value, size_t known, size_t size)
{
	const unsigned char *bytes = value;

	for (size_t i = known; i < size; i++)
		if (bytes[i] != 0)
			return true;
	return false;
}

#endif
