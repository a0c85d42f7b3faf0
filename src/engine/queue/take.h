/* One take of messages: its state, for the files of this folder that serve it. */
#ifndef DW_ENGINE_TAKE_H
#define DW_ENGINE_TAKE_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "durawheel/topic.h"
#include "engine/call/calls.h"

struct engine;

struct take_topic {
	/* For a topic that take_find() has found: the deadline of its oldest message. */
	dw_usec first_due;
	char name[DW_TOPIC_MAX + 1];
};

struct take {
	struct take *prev, *next;
	struct call *call;
	uint64_t number;
	/* In each round the take finds the queues that it asks: all queues, or those that match
	 * PREFIX*. */
	bool finds;
	bool is_asked;   /* an operation is under way */
	bool has_looked; /* at least one round has found nothing */
	bool is_noted;   /* this round has told the store that the take waits */
	bool is_stale; /* the store's calls to this take may have been lost since the round began */
	bool is_wrong; /* the topic at `wrong` is no queue */
	size_t wrong;
	int failure; /* why messages are missing: DW_ELIMIT, DW_EUNKNOWN; or DW_OK */
	size_t max;
	dw_usec until; /* steady; when the take stops waiting */
	dw_usec again; /* steady; when the next round begins */
	dw_usec comes; /* wall clock; when a hidden message may be handed out again */
	size_t at;     /* index of the topic that is asked now */
	size_t count;
	struct take_topic topics[DW_TAKE_TOPICS_MAX];
	struct take_topic last; /* the last topic that this round has asked; name "": none */
	/* The topic that has called this take (take_calls.c); "": none. No other take was told of
	 * that message. */
	char called[DW_TOPIC_MAX + 1];
	size_t name_count;
	char names[][DW_TOPIC_MAX + 1]; /* the topics and prefixes that the caller has named */
};

static inline struct take *take_of(const struct call *call)
{
	return call->extra;
}

/* take_names_many returns true if the name is a prefix followed by "*", which stands for all topics
 * that begin with the prefix. take_prefix returns the size of the prefix. */
bool take_names_many(const char *name);
size_t take_prefix(const char *name);

/* take_by_number returns the unanswered take with this number, or NULL. */
struct take *take_by_number(const struct takes *, uint64_t number);

/* take_wants returns true if the take asks for messages of this topic. */
bool take_wants(const struct take *, const char *topic);

/* take_pass_on calls another take of the topic, here or in another process. */
void take_pass_on(struct engine *, const char *topic);

/* takes_hear handles what the store has heard about messages. It must still be called after the
 * last take has ended, because calls for ended takes may still come, and must be passed on. */
void takes_hear(struct engine *);

/* take_find chooses the queues that the take asks next: the queues with the oldest messages, among
 * those that come after the last queue that this round has asked. So queues whose messages are all
 * hidden, however many, do not keep other queues from their turn. row is a list of topics. */
void take_find(struct take *, const dw_row *row);

#endif
