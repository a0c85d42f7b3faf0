/* Asks, by WAIT, whether the replicas of a node have the changes whose answers are held back
 * (held.h).
 *
 * WAIT waits for the writes of its own connection, and holds up all commands behind it. So WAIT has
 * a link of its own, and each WAIT has a write right before it. The write is sent after the replies
 * to all held answers were read, so the server applies it after those changes: a replica that has
 * the write has all these changes. INFO behind WAIT tells whether the server has been the master
 * all the time. A server that was demoted and became master again may have lost what it had
 * answered.
 *
 * If the replicas do not have the write within REPLICAS_PATIENCE, they are late. Then all held
 * answers are handed over with DW_STORED, and later answers at once, until the replicas have a
 * write again. */
#ifndef DW_STORE_REDIS_REPLICAS_H
#define DW_STORE_REDIS_REPLICAS_H

#include "durawheel/store.h"
#include "store/redis/wire/node.h"

#define REPLICAS_PATIENCE DW_SECONDS(1)

struct redis_store;

/* replicas_are_asked returns true when a round was answered, or no round is needed. After that,
 * replicas_permit returns DW_OK if the server lets us ask, even if the replicas are not there.
 * Otherwise it returns an error and writes the reason to ret_message. */
bool replicas_are_asked(const struct redis_store *, const struct node *);
int replicas_permit(struct redis_store *, const struct node *, char *ret_message);

/* replicas_work begins a round if one is needed, and hands over the held answers that the replicas
 * have. replicas_due returns when to call replicas_work again, even if nothing is readable. */
void replicas_work(struct redis_store *, struct node *);
dw_usec replicas_due(const struct redis_store *, const struct node *);

/* replicas_aim is called when the URL names another server. */
void replicas_aim(struct redis_store *, const struct node *);

/* replicas_take_event returns false if there is no event. */
bool replicas_take_event(struct node *, dw_store_event *ret_event);

/* replicas_stats implements dw_store_class.replicas. */
void replicas_stats(const dw_store *, dw_replica_stats *ret_stats);

/* replicas_end hands over all held answers with DW_STORED, because the store stops. */
void replicas_end(struct redis_store *, struct node *);
void replicas_free(struct redis_store *, struct node *);

#endif
