/* One take of messages, for the files that serve it. */
#ifndef DW_ENGINE_TAKE_H
#define DW_ENGINE_TAKE_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "durawheel/topic.h"
#include "engine/call/calls.h"

struct engine;

struct take_topic {
	dw_usec first_due; /* the deadline of the oldest message of a topic that was found */
	char name[DW_TOPIC_MAX + 1];
};

struct take {
	struct take *prev, *next;
	struct call *call;
	uint64_t number;
	bool finds;      /* it asks queues that are found in each round: all, or by PREFIX* */
	bool is_asked;   /* an operation is under way */
	bool has_looked; /* a round found nothing */
	bool is_noted;   /* this round has told the store that it waits */
	bool is_stale;   /* calls may have been lost since the round began */
	bool is_wrong;   /* the topic at `wrong` is no queue */
	size_t wrong;
	int failure; /* why messages are missing: DW_ELIMIT, DW_EUNKNOWN; or DW_OK */
	size_t max;
	dw_usec until; /* steady; the end of its wait */
	dw_usec again; /* steady; when the next round begins */
	dw_usec comes; /* wall; when a hidden message may be handed out again */
	size_t at;     /* the topic that is asked */
	size_t count;
	struct take_topic topics[DW_TAKE_TOPICS_MAX];
	struct take_topic last; /* the last topic that this round has asked; name "": none */
	/* A message of this topic has come, and was told to this take alone; "": none. */
	char called[DW_TOPIC_MAX + 1];
	size_t noting; /* the name whose AWAIT is under way */
	size_t name_count;
	char names[][DW_TOPIC_MAX + 1]; /* as the caller gave them */
};

static inline struct take *take_of(const struct call *call)
{
	return call->extra;
}

/* take_names_many returns true if the name stands for all topics that begin as it does before its
 * last character. take_prefix: the size of that. */
bool take_names_many(const char *name);
size_t take_prefix(const char *name);

/* take_by_number returns the take with this number that is not answered, or NULL. */
struct take *take_by_number(const struct takes *, uint64_t number);

/* take_wants returns true if the take takes from this topic. */
bool take_wants(const struct take *, const char *topic);

/* take_pass_on calls another take of the topic, here or in another process. */
void take_pass_on(struct engine *, const char *topic);

/* takes_hear takes note of what the store has heard. It goes on after the last take has ended,
 * because calls may still come for those. */
void takes_hear(struct engine *);

/* take_find finds the oldest queues that may hand something out, behind those that were asked. So
 * no number of queues that only hide messages keeps the others from their turn. row: a list of
 * topics. */
void take_find(struct take *, const dw_row *row);

#endif
