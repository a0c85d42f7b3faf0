/* A store in front of a harness's store, with the properties of a store on a network: a lease, a
 * turn of its own, ownership that it can lose, and answers that come late or never. */
#ifndef DW_TESTS_LEASED_H
#define DW_TESTS_LEASED_H

#include <stdbool.h>

#include "port/op.h"
#include "support/harness.h"

#define LEASED_PATIENCE DW_SECONDS(4)
#define LEASED_TROUBLE "nobody is there"

struct leased {
	dw_store store; /* first: the public view */
	struct harness *harness;
	dw_usec lease; /* steady */
	dw_usec due;   /* steady */
	dw_usec turned_at;
	int turns;

	bool fenced; /* another process owns it */
	bool is_free;
	bool newer;                /* it has timers of a newer version */
	int trouble;               /* DW_OK: none */
	int failing;               /* what is asked, but for scans; DW_OK: they are not */
	bool keeps;                /* what is submitted is not answered, but for scans */
	int unknown;               /* how many puts are done and answered DW_EUNKNOWN */
	bool knows;                /* that a put sent again was done before */
	int asked[DW_OP_MEND + 1]; /* operations submitted, by kind */
	unsigned flags;            /* of the last put */
	struct op_queue answers;
	struct op_queue kept;
	dw_op *parked; /* the INBOX */
};

/* leased_new makes a harness, which leased_free() frees; leased_begin one with a handler of topic t
 * that has loaded all, and leased_end looks at the engine before. */
struct harness *leased_new(struct leased *, void (*set)(struct engine_env *));
void leased_free(struct leased *);
struct harness *leased_begin(struct leased *);
void leased_end(struct leased *);

/* leased_fence: another process has taken it over; leased_fenced: and the engine has heard. */
void leased_fence(struct leased *);
void leased_fenced(struct leased *);

/* leased_say answers an operation that was kept. leased_tell answers the INBOX: what a client has
 * made of a timer of topic t, or that it is gone. The next turn takes the answers. */
void leased_say(struct leased *, dw_op *, int status);
void leased_tell(struct leased *, const char *id, dw_head, bool gone);

/* leased_speak carries out what was kept. */
void leased_speak(struct leased *);

#endif
