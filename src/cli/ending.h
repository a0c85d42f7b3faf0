/* The end of a timer, as the command shows it. */
#ifndef DW_CLI_ENDING_H
#define DW_CLI_ENDING_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/text.h"
#include "durawheel/ended.h"

/* Of an id that has neither a timer nor an end. It may have had both. */
#define ENDING_ABSENT                                                                              \
	"no such timer: it never was, or its end is not kept; \"durawheel topic set TOPIC --keep " \
	"7d\" keeps ends"

/* All zero: no end is known. */
struct ending {
	bool is_known;
	char words[512]; /* "done 2026-11-24T20:27:33Z, attempt 1, 31ms late, by vm pid 28854" */
	json_t *object;  /* NULL: there was no memory */
	char result[DW_RESULT_MAX];
	size_t result_size;
};

/* ending_keep keeps what was answered. */
void ending_keep(struct ending *, const dw_ended *);

/* ending_print prints the words, and the result. */
void ending_print(const struct ending *);

/* ending_take gives the object away. ending_free frees it. */
json_t *ending_take(struct ending *);
void ending_free(struct ending *);

#endif
