/* A mistake that a simulation plants in the text of a script. The text that is replaced must occur
 * exactly once in the script. Otherwise the program ends with a message. So a changed script cannot
 * silently lose a planted mistake. */
#ifndef DW_KEYSPACE_PATCH_H
#define DW_KEYSPACE_PATCH_H

#include <stddef.h>

#include "store/redis/wire/script.h"

struct patch {
	const char *script; /* the name of the script's file; NULL: each script that has the text */
	const char *find;
	const char *replace;
};

/* patch_text returns the script's text with its patches applied, to be freed with free(). Returns
 * NULL if no patch is for this script. */
char *patch_text(enum redis_script_id, const struct patch *, size_t count, size_t *ret_size);

/* patch_check ends the program if a patch is for no script. */
void patch_check(const struct patch *, size_t count);

#endif
