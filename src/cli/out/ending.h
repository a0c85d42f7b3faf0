/* The end of a timer, as the command shows it. */
#ifndef DW_CLI_ENDING_H
#define DW_CLI_ENDING_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/out/text.h"
#include "durawheel/ended.h"

/* What is shown for an id that has neither a timer nor an end nor a dead letter. It may have had
 * all of them before. */
#define ENDING_ABSENT                                                                              \
	"no such timer: it never was, or its end is not kept; \"durawheel topic set TOPIC --keep " \
	"7d\" keeps ends"

/* The end of a timer. All zero means that no end is known. */
struct ending {
	bool is_known;
	uint64_t generation; /* of a kept end: whose dead letter may be there; 0: nobody's */
	char words[512]; /* "done 2026-11-24T20:27:33Z, attempt 1, 31ms late, by vm pid 28854" */
	json_t *object;  /* the end as JSON; NULL if out of memory */
	char result[DW_RESULT_MAX];
	size_t result_size;
	char reason[DW_WHY_MAX + 1]; /* for a dead letter: why the timer failed, or "" */
	/* For a dead letter: the command that makes it a timer; "" if none does. */
	char command[2 * DW_ID_SIZE];
};

/* ending_keep keeps what was answered. ending_keep_letter keeps a dead letter: it is the end if no
 * end is kept, and else adds why the timer died. */
void ending_keep(struct ending *, const dw_ended *);
void ending_keep_letter(struct ending *, const dw_dead *);

/* ending_print prints the words and the result. For a dead letter it also prints why the timer
 * died, and what to do. */
void ending_print(const struct ending *);

/* ending_take gives the object away. ending_free frees it. */
json_t *ending_take(struct ending *);
void ending_free(struct ending *);

#endif
