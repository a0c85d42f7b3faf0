/* What a handler says of its delivery besides the verdict, and the question what became of a
 * timer. */
#ifndef DW_ENGINE_SAYS_H
#define DW_ENGINE_SAYS_H

#include "durawheel/ended.h"

struct engine;

/* A clean line of dw_set_why(), or the bytes of dw_set_result(). */
enum said_kind { SAID_WHY, SAID_RESULT };
struct saying {
	enum said_kind kind;
	const void *bytes; /* NULL: the caller has given none */
	size_t size;
};

/* saying_check returns DW_OK, or DW_EINVAL: then message (DW_MESSAGE_SIZE bytes) says what is
 * wrong. */
int saying_check(const struct saying *, char *message);

/* engine_say is for the handler that runs on this thread. */
int engine_say(struct engine *, const struct saying *);
int engine_say_of(struct engine *, const dw_token *, const struct saying *);

/* Who asks for the end of a timer. */
struct end_asker {
	dw_ended_fn fn;
	void *user;
};
int engine_ended(struct engine *, const char *id, struct end_asker);

#endif
