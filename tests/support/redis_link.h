/* A link in a test, driven as a store would drive it, and its log lines. A test fails if it waits
 * more than a minute for anything. */
#ifndef DW_TESTS_REDIS_LINK_H
#define DW_TESTS_REDIS_LINK_H

#include "redis/connection.h"

struct linked {
	struct link *link;
	struct redis_url url;
	struct alloc alloc;
	char log[8192]; /* all log lines, each ended by \n */
	unsigned works; /* calls of link_work() so far */
};

dw_usec linked_now(void);

/* linked_open sets alloc, url and log of the options itself. options may be NULL. linked_url writes
 * the URL for the path of a socket or for a port. */
void linked_open(struct linked *, const char *url, const struct socket_options *options);
char *linked_url(char *ret_url, size_t size, const char *path, unsigned port);
void linked_close(struct linked *);

/* linked_step waits until the link wants to work, at most 900 ms, and lets it work. */
void linked_step(struct linked *);

void linked_await_up(struct linked *);
void linked_await_down(struct linked *);

/* linked_await_trouble waits until the message of trouble() contains the words. *ret_fatal may be
 * NULL. */
void linked_await_trouble(struct linked *, const char *words, bool *ret_fatal);

/* linked_send sends words separated by spaces. */
int linked_send(struct linked *, const char *command);
struct reply *linked_await_reply(struct linked *);

/* linked_ask sends a command and waits for its reply, on a connection that stays up. */
struct reply *linked_ask(struct linked *, const char *command);

#endif
