/* Finds the name that a mistyped word probably means. */
#ifndef DW_CLI_NEAREST_H
#define DW_CLI_NEAREST_H

#include <stddef.h>

/* The length of the longest name that is compared. */
#define NEAREST_MAX 32

struct nearest {
	const char *word;
	size_t length;
	const char *name; /* the nearest name so far; NULL if no name is near */
	size_t distance;
};

/* nearest_begin starts the search for a word of `length` bytes. nearest_try compares one name with
 * it. */
void nearest_begin(struct nearest *, const char *word, size_t length);
void nearest_try(struct nearest *, const char *name);

#endif
