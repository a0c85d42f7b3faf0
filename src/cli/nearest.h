/* What somebody who wrote a word wrong may have meant. */
#ifndef DW_CLI_NEAREST_H
#define DW_CLI_NEAREST_H

#include <stddef.h>

/* The longest name that is compared. */
#define NEAREST_MAX 32

struct nearest {
	const char *word;
	size_t length;
	const char *name; /* the nearest so far, NULL: none is near */
	size_t distance;
};

/* nearest_begin: word is length bytes. nearest_try: name may be what was meant. */
void nearest_begin(struct nearest *, const char *word, size_t length);
void nearest_try(struct nearest *, const char *name);

#endif
