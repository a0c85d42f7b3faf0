/* The occurrences of recurring timers: which one is first, which one is next, and which ones were
 * missed. */
#ifndef DW_ENGINE_OCCURRENCES_H
#define DW_ENGINE_OCCURRENCES_H

#include <stdbool.h>

#include "durawheel/store.h"

struct engine;
struct timer;

/* The rule of a new timer, in its stored form. */
struct first_occurrence {
	const dw_timer *timer;
	const char *id; /* the timer's id, or an id that was made for it */
	dw_usec due;
	size_t size;
	unsigned char *blocks; /* RECORD_BLOCKS_MAX bytes */
};

/* occurrence_first checks the rule, and sets due, blocks and size. It returns DW_OK, DW_EINVAL or
 * DW_ENOMEM. engine_error() explains a failure. */
int occurrence_first(struct engine *, struct first_occurrence *);

/* occurrence_is_known returns false if this machine does not know the rule's zone; ret_message
 * (DW_MESSAGE_SIZE bytes) says why. */
bool occurrence_is_known(struct engine *, const struct timer *, char *ret_message);

/* occurrence_must_wait returns true if the timer must not be claimed, because its zone is not
 * known. The unknown zone is noted, and the timer comes out of the fire schedule in an hour.
 * Nothing is written to the store. */
bool occurrence_must_wait(struct engine *, struct timer *);

/* occurrence_is_missed returns true if the due timer must not start. Either its occurrence was
 * missed, and the rule delivers another one instead, or its zone has become unknown since the
 * claim. Then the timer has a verdict, and lifecycle_resume() sends it. */
bool occurrence_is_missed(struct engine *, struct timer *, dw_usec now);

/* occurrence_look_again is called before the verdict of occurrence_is_missed() is sent. If the
 * clock was set back since, so that the occurrence is not missed, the claim is given back. */
void occurrence_look_again(struct engine *, struct timer *);

/* occurrence_next makes the operation that ends the present occurrence and waits for the next one.
 * It returns DW_OK; DW_ENOENT if there is no next one; DW_ENOMEM or DW_EINVAL if the next one
 * cannot be computed now. */
int occurrence_next(struct engine *, struct timer *, dw_op **ret_op);

/* occurrence_move makes the operation that moves a pending timer, after the rules of its zone have
 * changed. It returns NULL if the timer stays as it is. */
dw_op *occurrence_move(struct engine *, const struct timer *, dw_usec now);

/* occurrence_show sets the fields of the firing that describe the occurrence. */
void occurrence_show(struct engine *, const struct timer *, dw_firing *);

#endif
