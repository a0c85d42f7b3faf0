/* The scripts of lua/, as the build has put them into the program: each is lua/common.lua and then
 * its own file. */
#ifndef DW_STORE_REDIS_SCRIPT_H
#define DW_STORE_REDIS_SCRIPT_H

#include <stddef.h>

struct redis_script {
	const char *name; /* of its file, without .lua */
	const char *sha1; /* 40 hexadecimal digits */
	const char *text;
	size_t size;
};

extern const struct redis_script redis_scripts[];
extern const size_t redis_script_count;

#endif
