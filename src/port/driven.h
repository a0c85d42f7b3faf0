/* Calls the optional functions of a store's class, and reads its optional fields. If a store lacks
 * one of them, the caller gets a default that suits a store without this feature. A store that has
 * no thread of its own works only while driven_turn() runs. */
#ifndef DW_PORT_DRIVEN_H
#define DW_PORT_DRIVEN_H

#include <stdbool.h>

#include "durawheel/store.h"

/* driven_descriptor returns the descriptor that the loop must watch, or -1 if there is none.
 * driven_turn lets the store do its work. */
int driven_descriptor(const dw_store *);
void driven_turn(dw_store *, dw_usec steady);

/* driven_due returns the steady time at which the store needs a turn. It returns DW_NEVER if the
 * store does not say. */
dw_usec driven_due(const dw_store *);

/* driven_shards returns how many shards the store has. driven_shard_of returns the shard of an
 * id. */
unsigned driven_shards(const dw_store *);
unsigned driven_shard_of(const dw_store *, const char *id);

/* driven_lease returns when the lease of a shard ends: a time of the steady clock, DW_NEVER for a
 * store that does not say, or INT64_MIN if the shard is not ours. driven_owns returns true if at
 * least one shard is ours. */
dw_usec driven_lease(const dw_store *, unsigned shard);
bool driven_owns(const dw_store *);

/* driven_take_shard takes the next change of a shard, or returns false if there is none. */
bool driven_take_shard(dw_store *, dw_shard_news *ret_news);

/* driven_has_members returns true if several processes may share the store. */
bool driven_has_members(const dw_store *);

/* driven_tells_facts returns true if the store knows FACTS. driven_surplus returns how many of its
 * shards a peer should give to other peers now. driven_leave tells the store that its peer is about
 * to end. driven_sharing gets what the store knows about all peers. */
bool driven_tells_facts(const dw_store *);
unsigned driven_surplus(const dw_store *);
void driven_leave(dw_store *);
void driven_sharing(const dw_store *, dw_sharing *ret_sharing);

/* driven_window returns how many ordinary operations may be under way. */
size_t driven_window(const dw_store *);

/* driven_patience returns how long a caller waits for an answer at most, or DW_NEVER. */
dw_usec driven_patience(const dw_store *);

/* driven_may_lose returns true if the store may lose data and reports the loss. driven_is_lost
 * returns true if the store has lost data of the shard of this id. */
bool driven_may_lose(const dw_store *);
bool driven_is_lost(const dw_store *, const char *id);

/* driven_is_whole returns true if the owner's shards are as the owner left them, or have been
 * written again. If the store must ask its servers, the first call makes it ask and returns false.
 * The caller repeats the call until it returns true. */
bool driven_is_whole(dw_store *);

/* driven_began tells the store that this timer starts, if the store wants to know. */
void driven_began(dw_store *, const char *id);

/* driven_take_event takes an event of the store, or returns false if there is none. driven_journal
 * gets the numbers of the journal. They are zeros for a store without a journal. */
bool driven_take_event(dw_store *, dw_store_event *ret_event);
void driven_journal(const dw_store *, dw_journal_stats *ret_stats);

/* driven_replicas gets the numbers of answers that have waited for replicas. */
void driven_replicas(const dw_store *, dw_replica_stats *ret_stats);

/* driven_node gets a server of the store. It returns false if there are no more. */
bool driven_node(const dw_store *, size_t number, dw_node *ret_node);

/* driven_keeps_topics returns true if the store knows TOPIC_SET and the other operations on
 * topics. */
bool driven_keeps_topics(const dw_store *);

/* driven_settles_messages returns true if the store knows dw_op.message. */
bool driven_settles_messages(const dw_store *);

/* driven_look_every returns how often a take must look for messages, or 0 if the store does not
 * say. driven_calls_takes returns true if the store itself reports which take a message is for.
 * driven_take_call gets the next such call, or returns false if there is none. */
dw_usec driven_look_every(const dw_store *);
bool driven_calls_takes(const dw_store *);
bool driven_take_call(dw_store *, dw_take_call *ret_call);

/* driven_loads_by_generation returns true if the store knows DW_OP_BY_GENERATION. */
bool driven_loads_by_generation(const dw_store *);

/* driven_delay writes the words of the class's delay(), or "" if the class has none. */
void driven_delay(const dw_store *, char *ret_words, size_t size);

/* driven_trouble returns the status of the class's trouble(), and writes its words. It returns
 * DW_OK if the class has none. */
int driven_trouble(const dw_store *, char *ret_words, size_t size);

#endif
