/* Public structs grow at their end. Their first field is the size of the caller's version. */
#ifndef DW_BASE_GROWN_H
#define DW_BASE_GROWN_H

#include <stdbool.h>
#include <stddef.h>

#define GROWN_MAX 1024u /* no public struct will ever be larger */

/* grown_size_is_wrong returns true if size is below least, or so large that the caller never set
 * it. Then do not read the rest of the struct. */
static inline bool grown_size_is_wrong(size_t size, size_t least)
{
	return size < least || size > GROWN_MAX;
}

/* grown_is_unknown returns true if any byte from `known` up to `size` is not zero. Then a newer
 * caller has set a field that this version does not know. */
static inline bool grown_is_unknown(const void *value, size_t known, size_t size)
{
	const unsigned char *bytes = value;

	for (size_t i = known; i < size; i++)
		if (bytes[i] != 0)
			return true;
	return false;
}

#endif
