/* A link to a Redis server, as the store sees it: one connection at a time, which the link makes
 * again when it is lost. The link takes commands and returns their replies in order. It is an
 * interface, so that a simulation can take the place of the server and lose anything on the way.
 *
 * Nothing here blocks, and nothing calls back: link_work() does what can be done now, and the
 * caller asks for the results afterwards. All times are on the steady clock. A turn of the store:
 *
 *	link_work(); is link_connection() still the same?; link_take() until NULL;
 *	link_send() for each command; link_work(), which writes them all; link_due() */
#ifndef DW_REDIS_LINK_H
#define DW_REDIS_LINK_H

#include <stdbool.h>

#include "durawheel/durawheel.h"
#include "redis/reply.h"

struct link;
struct link_server;

struct link_class {
	/* The descriptor becomes readable when work() has something to do. It never changes. -1:
	 * there is none, as in a simulation. Replies that work() has already read do not make it
	 * readable; due() returns 0 for them. */
	int (*descriptor)(const struct link *);
	/* Connects, writes and reads, and gives up what is overdue. */
	void (*work)(struct link *, dw_usec now);
	/* Returns when work() must be called even if the descriptor is not readable. 0: at once,
	 * because a command is not written yet or a reply can be taken. DW_NEVER: never. */
	dw_usec (*due)(const struct link *);
	/* The number of the connection that is up, counted from 1. 0: no connection is up. A
	 * connection is up when the server has answered the hello (AUTH, SELECT and so on). When a
	 * connection is lost, the link drops all commands and replies on their way. work(), take()
	 * and drop() may notice the loss. */
	uint64_t (*connection)(const struct link *);
	/* Queues a command, without a system call: the next work() writes all of them. DW_OK:
	 * take() will return the reply, unless the connection is lost. DW_ELIMIT: too much is
	 * queued. DW_ESTORE: no connection is up. DW_ENOMEM. */
	int (*send)(struct link *, int count, const char *const *words, const size_t *sizes,
		    dw_usec now);
	/* Returns the reply to the oldest command whose reply was not taken yet. NULL: no reply has
	 * arrived. The caller frees the reply with reply_free. */
	struct reply *(*take)(struct link *);
	/* Closes the connection, because a reply makes no sense. work() connects again. */
	void (*drop)(struct link *, const char *why);
	/* The link's URL names another server now: closes the connection, and connects at once.
	 * NULL: the link has only one server. */
	void (*aim)(struct link *, dw_usec now);
	/* Says why there is no connection, or why the connection is of no use (the server refuses
	 * changes for a while). The text has no secrets. "": there is no trouble. *ret_fatal: there
	 * was never a connection, and there will be none until a person changes something (a wrong
	 * password, a server that is too old). The link still tries again, but seldom. */
	const char *(*trouble)(const struct link *, bool *ret_fatal);
	/* From now on, for a few seconds, the link writes each command only when all commands
	 * before it are answered. A link does so by itself when the server has closed a connection
	 * on which it owed replies. NULL: the link cannot do this. */
	void (*careful)(struct link *, dw_usec now);
	/* The number of the last connection that was lost, if the server closed it because of one
	 * command: the oldest one without a reply. 0: the cause of the loss is not known. The link
	 * clears the number if the next connection reaches another process; until then the server
	 * may have been killed. NULL: the link never knows the cause. */
	uint64_t (*blamed)(const struct link *);
	/* How many commands, counted from the last one, were certainly not sent on the connection
	 * that was lost last. NULL: the link does not know. */
	size_t (*unsent)(const struct link *);
	/* What is known of the server of the connection that is up. NULL: the link never knows. */
	const struct link_server *(*server)(const struct link *);
	void (*free)(struct link *);
};

struct link {
	const struct link_class *type;
};

static inline int link_descriptor(const struct link *link)
{
	return link->type->descriptor(link);
}

static inline void link_work(struct link *link, dw_usec now)
{
	link->type->work(link, now);
}

static inline dw_usec link_due(const struct link *link)
{
	return link->type->due(link);
}

static inline uint64_t link_connection(const struct link *link)
{
	return link->type->connection(link);
}

static inline int link_send(struct link *link, int count, const char *const *words,
			    const size_t *sizes, dw_usec now)
{
	return link->type->send(link, count, words, sizes, now);
}

static inline struct reply *link_take(struct link *link)
{
	return link->type->take(link);
}

static inline void link_drop(struct link *link, const char *why)
{
	link->type->drop(link, why);
}

static inline void link_aim(struct link *link, dw_usec now)
{
	if (link && link->type->aim)
		link->type->aim(link, now);
}

static inline const char *link_trouble(const struct link *link, bool *ret_fatal)
{
	return link ? link->type->trouble(link, ret_fatal) : "";
}

static inline void link_careful(struct link *link, dw_usec now)
{
	if (link->type->careful)
		link->type->careful(link, now);
}

static inline uint64_t link_blamed(const struct link *link)
{
	return link->type->blamed ? link->type->blamed(link) : 0;
}

static inline size_t link_unsent(const struct link *link)
{
	return link->type->unsent ? link->type->unsent(link) : 0;
}

/* link_server returns NULL if nothing is known. */
static inline const struct link_server *link_server(const struct link *link)
{
	return link && link->type->server ? link->type->server(link) : NULL;
}

static inline void link_free(struct link *link)
{
	if (link)
		link->type->free(link);
}

#endif
