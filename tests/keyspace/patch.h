/* A mistake that a simulation plants in the text of a script. It must fit: the program ends, with
 * the reason, if a script does not have the words that are replaced exactly once. So no planted
 * mistake is lost when a script changes. */
#ifndef DW_KEYSPACE_PATCH_H
#define DW_KEYSPACE_PATCH_H

#include <stddef.h>

#include "store/redis/wire/script.h"

struct patch {
	const char *script; /* the name of its file; NULL: each script that has these words */
	const char *find;
	const char *replace;
};

/* patch_text writes the script's text with the patches that are for it, for free(). NULL: none of
 * them is. */
char *patch_text(enum redis_script_id, const struct patch *, size_t count, size_t *ret_size);

/* patch_check: each patch is for a script. */
void patch_check(const struct patch *, size_t count);

#endif
