/* Writes warnings to options.on_log, at most one every 10 s. */
#ifndef DW_STORE_REDIS_LOG_H
#define DW_STORE_REDIS_LOG_H

#include <stdbool.h>

struct node;
struct redis_store;
struct reply;

void complain(struct redis_store *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* complain_of warns with the name of this server. node_address returns the server's URL for
 * messages. */
void complain_of(struct redis_store *, const struct node *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const char *node_address(const struct redis_store *, const struct node *);

/* complain_of_key warns that another program has made a key with a wrong type. The reply is
 * {'TYPE', key, its type, the right type}. */
void complain_of_key(struct redis_store *, const struct reply *);

/* may_complain returns true if the program has a log, and the last warning is old enough. */
bool may_complain(const struct redis_store *);

#endif
