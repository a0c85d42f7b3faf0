/* Describes how a timer ended, in words and as JSON. */
#ifndef DW_CLI_ENDING_H
#define DW_CLI_ENDING_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/out/text.h"
#include "durawheel/ended.h"

/* The text for an id that has no timer, no kept end and no dead letter. The id may have had all of
 * them before. */
#define ENDING_ABSENT                                                                              \
	"no such timer: it never was, or its end is not kept; \"durawheel topic set TOPIC --keep " \
	"7d\" keeps ends"

#define ENDING_COMMAND_SIZE (TEXT_SHELL_SIZE + 32)

/* The end of a timer. If all bytes are zero, no end is known, and times are in UTC. */
struct ending {
	const struct local_zone *zone;
	bool is_known;
	/* The generation of the timer. A dead letter with the same generation is of this timer, and
	 * one with a higher generation is of a timer that ended later. */
	uint64_t generation;
	/* An example: "done 2026-11-24T20:27:33Z, attempt 1, 31ms late, by vm pid 28854". */
	char words[512];
	json_t *object; /* the end as JSON; NULL if out of memory */
	char result[DW_RESULT_MAX];
	size_t result_size;
	char reason[DW_WHY_MAX + 1]; /* why a dead letter failed; "" for other timers */
	bool is_damaged;
	char command[ENDING_COMMAND_SIZE]; /* of ending_letter_command(); "" for other timers */
};

/* ending_keep stores the end that the library has answered, in place of an earlier answer.
 * ending_keep_letter then stores a dead letter if no later end is known. If the end of that timer
 * is known already, it only adds the reason why the timer died. */
void ending_keep(struct ending *, const dw_ended *);
void ending_keep_letter(struct ending *, const dw_dead *);

/* ending_print prints the words and the result on stdout. For a dead letter it also prints why the
 * timer died and how to requeue it. A damaged letter can only be dropped. */
void ending_print(const struct ending *);

/* ending_late writes how late the last handler of a timer started. A deadline before 1970 counts as
 * 1970. */
void ending_late(const dw_ended *, char ret_span[TEXT_SPAN_SIZE]);

/* ending_letter_words returns what can be done with a dead letter. ending_letter_command writes the
 * command that does it. It writes "" if only a newer durawheel can do it. */
const char *ending_letter_words(const dw_dead *);
void ending_letter_command(const dw_dead *, char ret_command[ENDING_COMMAND_SIZE]);

/* ending_take returns the object, which the caller then owns. ending_free frees an object that
 * nobody took. */
json_t *ending_take(struct ending *);
void ending_free(struct ending *);

#endif
