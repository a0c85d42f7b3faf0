/* What a handler says about its delivery besides the verdict, and the API call that asks what
 * became of a timer. */
#ifndef DW_ENGINE_SAYS_H
#define DW_ENGINE_SAYS_H

#include "durawheel/ended.h"

struct engine;

/* SAID_WHY is the cleaned line of dw_set_why(), SAID_RESULT the bytes of dw_set_result(). */
enum said_kind { SAID_WHY, SAID_RESULT };
struct saying {
	enum said_kind kind;
	const void *bytes; /* NULL: the caller passed no text or result */
	size_t size;
};

/* saying_check returns DW_OK, or DW_EINVAL. Then message (DW_MESSAGE_SIZE bytes) says what is
 * wrong. */
int saying_check(const struct saying *, char *message);

/* engine_say keeps the text or result that the handler on this thread has said. engine_say_of does
 * the same for the delivery that the token names. */
int engine_say(struct engine *, const struct saying *);
int engine_say_of(struct engine *, const dw_token *, const struct saying *);

/* The callback that gets the end of a timer, and its argument. */
struct end_asker {
	dw_ended_fn fn;
	void *user;
};
int engine_ended(struct engine *, const char *id, struct end_asker);

#endif
