/* The Redis store. A part calls only parts above it in this list, or before it in its line:
 *
 *	shape.c      what the reply to each command may be
 *	value.c      a timer as bytes;  rows.c  lists of timers
 *	redis_scripts.c  lua/, made by the build;  script.c  one script of it
 *	log.c        warnings for the program's log
 *	why_list.c   a message with a list of troubles
 *	node.c       a server and its connection: commands out, replies in
 *	shard.c      one shard: its keys, and which ids belong to it
 *	nodes.c      all nodes;  shown.c  the nodes, as dw_get_node() shows them
 *	tombstone.c  ids whose deletion was seen in the last minute
 *	script_call.c  calls of the scripts, and what a refusal means
 *	rights.c     does the server let us run scripts?
 *	token.c      the fencing token of a shard, and the server's clock
 *	completion.c  answers are handed over, and operations given up
 *	held.c       answers that wait until the replicas have the changes
 *	layout.c     the number of shards: known, guessed, asked for
 *	fresh.c      the version and the value of a timer that an operation makes
 *	known.c      claims, settles and renewals of timers that the script need not read
 *	batch.c      which operations make a command, and its words
 *	suspect.c    requests because of which the server closes the connection
 *	stray.c      drops of dead letters ask one shard after the other
 *	confirm.c    changes that wait for the owner to acknowledge them
 *	outcome.c    replies become answers; commands of a lost connection are looked up
 *	write.c      operations on one timer, as script calls
 *	cut_off.c    shards whose commands the server refuses
 *	misplaced.c  timers in a shard to which they do not belong
 *	session.c    the handshake of a shard on a new connection
 *	release.c    gives leases back
 *	member.c, quota.c  the record of a peer, and how many shards each should have
 *	member_list.c  the list of the peers;  member_numbers.c  the numbers that they report
 *	sharing.c    what a peer reports to its engine about all peers
 *	taking.c, members.c  this peer: it takes shards, and enters itself into the list
 *	inbox.c      the inbox of the clients
 *	wake_channel.c  subscribes to the wake channels
 *	consumers.c  hears which consumer a push calls
 *	replicas.c   asks whether the replicas have the changes of the held answers
 *	named.c, sentinels_why.c, sentinels.c  which server is used: a majority of the Sentinels
 *	             names it
 *	cluster_text.c, cluster_votes.c, cluster_why.c, cluster_notes.c, cluster.c  the nodes of a
 *	             cluster, and which has which slot
 *	copies_differ.c  which copy of settings counts, and which shards have another
 *	topic_copies.c  the copies of the settings of topics that every shard has
 *	queue_call.c  calls of the scripts of queues
 *	message_row.c, values.c  messages as rows; the values that a reply left out
 *	taken.c, verdicts.c  takes of messages, and the answers to them
 *	topic_calls.c  topics: their settings;  queues.c  the messages of queue topics
 *	letter.c, ends.c  a dead letter; what became of an id: its remembered end, its letter
 *	topics.c     which operations of topics may be sent
 *	lease.c      the leases: acquired, renewed, lost
 *	restore.c    rebuilds a shard that was emptied or set back; gives the ownership up
 *	give.c       gives a shard to another peer
 *	repair.c     compares the entries of the sorted sets with the values
 *	walk.c       reads a shard page by page
 *	stream.c, scan.c  pages in order over all shards
 *	due.c        counts what is due in spans of time
 *	audit.c      reads overdue timers, in no order
 *	later.c      operations on every shard wait until all before them are sent
 *	check.c      checks the whole namespace
 *	facts.c      what the servers report about themselves
 *	namespace.c  operations on every shard: status, purge, report, drop of all dead letters
 *	reshard.c    the shards, and their replacement by another number of them
 *	dispatch.c   which shard sends next
 *	submit.c     takes operations over from the engine
 *	store.c      the functions that the engine calls, and the turn
 *	open.c       opening: the URL, the shards, the lease
 *
 * Everything happens inside the engine's turns, in one thread. Nothing blocks but opening and
 * stopping. */
#ifndef DW_STORE_REDIS_CORE_H
#define DW_STORE_REDIS_CORE_H

#include <stdbool.h>

#include "base/usec.h"
#include "redis/url.h"
#include "store/redis/timer/batch.h"
#include "store/redis/heal/check.h"
#include "store/redis/timer/dispatch.h"
#include "store/redis/timer/fresh.h"
#include "store/redis/heal/cut_off.h"
#include "store/redis/timer/held.h"
#include "store/redis/timer/known.h"
#include "store/redis/page/later.h"
#include "store/redis/owner/layout.h"
#include "store/redis/owner/lease.h"
#include "store/redis/wire/letter.h"
#include "store/redis/wire/log.h"
#include "store/redis/heal/misplaced.h"
#include "store/redis/nodes/cluster.h"
#include "store/redis/nodes/sentinels.h"
#include "store/redis/page/due.h"
#include "store/redis/page/namespace.h"
#include "store/redis/timer/outcome.h"
#include "store/redis/heal/reshard.h"
#include "store/redis/page/scan.h"
#include "store/redis/wire/script_call.h"
#include "store/redis/owner/shard.h"
#include "store/redis/wire/value.h"
#include "store/redis/timer/stray.h"
#include "store/redis/timer/suspect.h"
#include "store/redis/wire/nodes.h"
#include "store/redis/wire/wake_channel.h"
#include "store/redis/timer/write.h"

/* How long commands wait after a refusal that will pass. */
#define PAUSE DW_MILLISECONDS(100)
#define PATIENCE DW_SECONDS(5)           /* a caller gets an answer within this time */
#define REPLY_TIME DW_MILLISECONDS(1500) /* an operation with less time left is not sent */

struct redis_store {
	dw_store store; /* the engine's view of the store; must be the first field */
	dw_store_env env;
	struct alloc alloc;
	struct redis_url url;
	bool opened, stopped;
	dw_usec now; /* steady clock, read at the start of the turn or call */
	dw_usec complained_at;
	struct names names;
	unsigned shard_count; /* 0: the number is not known yet */
	struct shard *shards;
	struct shard_sets sets;
	struct node node;         /* the server, unless the URL names a cluster */
	struct nodes nodes;       /* all servers; shard->node is the server of a shard */
	struct redis_draft draft; /* the command that is being made, for all nodes */
	struct completion completion;
	struct layout layout;
	struct batch batch;
	struct redis_ownership ownership;
	struct handover handover;
	struct repair repair;
	struct redis_inbox inbox;
	struct scan *scans; /* scans that are under way, or are kept for their next page */
	struct audit audit;
	struct later later;
	struct wake_channel wake;
};

#endif
