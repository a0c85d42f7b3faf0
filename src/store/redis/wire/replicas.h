/* Asks whether the replicas of a node have what is held (held.h), by WAIT.
 *
 * WAIT waits for the writes of its own connection, and holds up all commands behind it. So it has a
 * link of its own, and a write goes right before each WAIT. The write is sent when the replies to
 * all held answers have been read, so the server has done it after them: when the replicas have
 * the write, they have them all. INFO behind WAIT tells whether the server has been the master all
 * the time: one that was demoted and came back may have lost what it had answered.
 *
 * If the replicas do not have it within REPLICAS_PATIENCE, they are late: all held answers are
 * given as DW_STORED, and so are later ones at once, until the replicas have a write again. */
#ifndef DW_STORE_REDIS_REPLICAS_H
#define DW_STORE_REDIS_REPLICAS_H

#include "durawheel/store.h"
#include "store/redis/wire/node.h"

#define REPLICAS_PATIENCE DW_SECONDS(1)

struct redis_store;

/* replicas_are_asked returns true when the replicas were asked once, or need not be. Then
 * replicas_permit returns DW_OK if the server lets us ask, whether the replicas are there or not.
 * Otherwise it returns an error and writes why into ret_message. */
bool replicas_are_asked(const struct redis_store *, const struct node *);
int replicas_permit(struct redis_store *, const struct node *, char *ret_message);

/* replicas_work asks, and answers what is held. replicas_due returns when to call it again, even if
 * nothing is readable. */
void replicas_work(struct redis_store *, struct node *);
dw_usec replicas_due(const struct redis_store *, const struct node *);

/* replicas_aim is called when the URL names another server now. */
void replicas_aim(struct redis_store *, const struct node *);

/* replicas_take_event returns false if there is none. */
bool replicas_take_event(struct node *, dw_store_event *ret_event);

/* replicas_stats implements dw_store_class.replicas. */
void replicas_stats(const dw_store *, dw_replica_stats *ret_stats);

/* replicas_end gives what is held as DW_STORED, because the store stops. */
void replicas_end(struct redis_store *, struct node *);
void replicas_free(struct redis_store *, struct node *);

#endif
