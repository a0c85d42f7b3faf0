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
	dw_store store; /* must be first: the public view */
	struct harness *harness;
	dw_usec lease; /* the steady time at which the lease ends */
	dw_usec due;   /* the steady time of the next turn */
	dw_usec turned_at;
	int turns;

	bool fenced; /* another process owns the store */
	bool is_free;
	bool newer;  /* the store has timers of a newer version */
	int trouble; /* DW_OK: none */
	int failing; /* the status with which all operations but scans fail; DW_OK: they do not */
	bool keeps;  /* operations are not answered, except scans */
	int unknown; /* puts to carry out and to answer with DW_EUNKNOWN */
	bool knows;  /* a repeated put is answered as done before */
	int asked[DW_OP_MEND + 1]; /* operations submitted, by kind */
	unsigned flags;            /* flags of the last put */
	struct op_queue answers;
	struct op_queue kept;
	dw_op *parked; /* the INBOX operation that waits */
	dw_store_class type;
};

/* leased_new makes a harness. leased_free() frees it. leased_begin makes one with a handler for
 * topic t that has loaded all timers. leased_end frees it and checks the engine before. */
struct harness *leased_new(struct leased *, void (*set)(struct engine_env *));
void leased_free(struct leased *);
struct harness *leased_begin(struct leased *);
void leased_end(struct leased *);

/* leased_keep_topics: from now on the store keeps topics. The engine reads their settings then. */
void leased_keep_topics(struct leased *);

/* leased_fence: another process takes over the store. leased_fenced: the engine also notices. */
void leased_fence(struct leased *);
void leased_fenced(struct leased *);

/* leased_say answers an operation that was kept. leased_tell answers the INBOX with a client's
 * change of a timer of topic t, or its end. The next turn takes the answers. */
void leased_say(struct leased *, dw_op *, int status);
void leased_tell(struct leased *, const char *id, dw_head, bool gone);

/* leased_speak carries out the kept operations. */
void leased_speak(struct leased *);

#endif
