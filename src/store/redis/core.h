/* The Redis store: a list of its parts. Each file of this folder is one part and calls only those
 * above it in this list:
 *
 *	shape.c      what the reply to each command may be
 *	value.c      a timer as bytes;  rows.c  lists of timers;  script.h  lua/, in the program
 *	shard.c      one shard: its keys, and which ids belong to it
 *	log.c        complaints
 *	pipeline.c   the connection: commands out, replies in
 *	tombstone.c  ids seen deleted in the last minute
 *	script_call.c  calls of the scripts, and what a refusal means
 *	token.c      the fencing token of a shard, and the server's clock
 *	completion.c in which order operations are answered, and when they are given up
 *	layout.c     the number of shards: known, guessed, asked for
 *	batch.c      the words of a call on timers
 *	confirm.c    changes that wait for the owner to acknowledge them
 *	outcome.c    what became of operations: replies, and what is in doubt
 *	write.c      operations on one timer, as script calls
 *	key_types.c  keys of another type than ours cut their shard off
 *	misplaced.c  timers in a shard to which they do not belong
 *	session.c    a new connection replaces the token, or the session, of the old one
 *	lease.c      acquiring, renewing, giving back
 *	inbox.c      the inbox of the clients
 *	restore.c    a shard that was emptied or set back is rebuilt; ownership is lost
 *	repair.c     compares the entries of the order with the values
 *	walk.c       the next page of a shard
 *	letter.c, stream.c, scan.c  pages in order over all shards
 *	audit.c      what is overdue, in no order
 *	later.c      what asks every shard waits
 *	check.c      a check of everything
 *	namespace.c  status, purge, report, the drop of all: what asks every shard
 *	reshard.c    another number of shards
 *	wake_channel.c  the subscriber
 *	dispatch.c   which shard sends next
 *	submit.c     operations are taken over
 *	store.c      the class, and the turn
 *	open.c       opening: the URL, the shards, the lease
 *
 * Everything happens inside the engine's turns, in one thread; nothing blocks but opening and
 * stopping. */
#ifndef DW_STORE_REDIS_CORE_H
#define DW_STORE_REDIS_CORE_H

#include <stdbool.h>

#include "base/usec.h"
#include "redis/url.h"
#include "store/redis/batch.h"
#include "store/redis/check.h"
#include "store/redis/dispatch.h"
#include "store/redis/key_types.h"
#include "store/redis/later.h"
#include "store/redis/layout.h"
#include "store/redis/lease.h"
#include "store/redis/letter.h"
#include "store/redis/log.h"
#include "store/redis/misplaced.h"
#include "store/redis/namespace.h"
#include "store/redis/outcome.h"
#include "store/redis/reshard.h"
#include "store/redis/scan.h"
#include "store/redis/script_call.h"
#include "store/redis/shard.h"
#include "store/redis/value.h"
#include "store/redis/wake_channel.h"
#include "store/redis/write.h"

#define PAUSE DW_MILLISECONDS(100)       /* after a refusal that will pass */
#define PATIENCE DW_SECONDS(5)           /* an operation that somebody waits for is answered then */
#define REPLY_TIME DW_MILLISECONDS(1500) /* and is not sent later than so long before */

struct redis_store {
	dw_store store; /* first: the public view */
	dw_store_env env;
	struct alloc alloc;
	struct redis_url url;
	bool opened, stopped;
	dw_usec now; /* steady, of the turn or call */
	dw_usec complained_at;
	struct names names;
	unsigned shard_count; /* 0: not known yet */
	struct shard *shards;
	struct shard_sets sets;
	struct pipeline pipeline;
	struct scripts scripts;
	struct server_clock clock;
	struct completion completion;
	struct layout layout;
	struct batch batch;
	struct redis_ownership ownership;
	struct handover handover;
	struct repair repair;
	struct redis_inbox inbox;
	struct scan *scans; /* under way, or with commands under way */
	struct audit audit;
	struct later later;
	struct wake_channel wake;
};

#endif
