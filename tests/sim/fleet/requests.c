#include "sim/fleet/requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fleet/effects.h"
#include "sim/fleet/fleet.h"
#include "sim/fleet/planted_scripts.h"

static struct alloc alloc_of(struct fleet *fleet)
{
	return memory_alloc(&fleet->sim->table_account);
}

static struct reply *refusal(struct fleet *fleet)
{
	static const char *const all[] = {"BUSY Redis is busy running a script.",
					  "LOADING Redis is loading the dataset in memory",
					  "OOM command not allowed when used memory > 'maxmemory'.",
					  "MISCONF Redis is configured to save RDB snapshots",
					  "READONLY You can't write against a read only replica."};
	const char *words = all[fleet->outage.refusal % (sizeof all / sizeof *all)];
	struct alloc alloc = alloc_of(fleet);
	struct reply *reply = reply_new(&alloc);

	(void)reply_bytes(reply, reply, REPLY_ERROR, words,
			  strlen(words)); /* this memory never runs out */
	return reply;
}

const char *requests_script(const struct packet *packet)
{
	if (strcmp(packet->words[0], "EVALSHA") == 0)
		return keyspace_script(packet->words[1], packet->sizes[1]);
	return strcmp(packet->words[0], "EVAL") == 0
		   ? keyspace_script_of(packet->words[1], packet->sizes[1])
		   : NULL;
}

/* caller_of: the process that sent it; NULL: its connection is gone. */
static const struct process *caller_of(struct fleet *fleet, const struct packet *packet)
{
	return packet->route ? &fleet->processes[packet->route->connection->instance->number]
			     : NULL;
}

static void tell(struct fleet *fleet, const struct packet *packet, const struct reply *reply)
{
	const char *script = requests_script(packet);
	const struct process *caller = caller_of(fleet, packet);
	struct effect effect = {.fleet = fleet, .script = script, .reply = reply, .caller = caller};
	int keys;

	trace(fleet->sim, script ? script : packet->words[0],
	      reply->kind == REPLY_ARRAY && reply->count > 0 && reply->items[0].kind == REPLY_BULK
		  ? reply->items[0].bytes
		  : "",
	      caller ? (int)caller->instance.number : -1,
	      packet_shard(packet, script != NULL) + (packet->late ? 1000 : 0));
	if (!script || (fleet->is_judged_outside && !fleet->applied))
		return;
	effect.shard = (unsigned)packet_shard(packet, true);
	keys = (int)strtol(packet->words[2], NULL, 10);
	effect.argc = packet->count - 3 - keys;
	effect.argv = packet->words + 3 + keys;
	effect.sizes = packet->sizes + 3 + keys;
	if (fleet->applied)
		fleet->applied(fleet->applied_user, &effect);
	else
		effects_tell(&effect);
}

static void carry_out(struct fleet *fleet, const struct packet *packet)
{
	struct sim *sim = fleet->sim;
	struct reply *reply;

	server_tick(&fleet->server);
	planted_scripts(fleet->server.keyspace, sim->bug, packet->late);
	if (sim->clocks.steady < fleet->outage.refusing_until || chance(sim, sim->knobs.fail / 4)) {
		reply = refusal(fleet);
		trace(sim, "refused", reply->bytes, 0, 0);
		faults_disturb(sim, sim->clocks.steady);
	} else {
		reply = refused_reply(fleet, packet, requests_script(packet));
		if (!reply)
			reply = foreign_reply(fleet, packet, requests_script(packet));
		if (!reply) {
			reply = server_call(&fleet->server, packet->count, packet->words,
					    packet->sizes);
			tell(fleet, packet, reply);
		}
	}
	if (packet->route && !packet->late)
		network_reply(&fleet->network, packet->route, reply);
	else
		reply_free(reply);
}

void requests_work(struct fleet *fleet)
{
	struct packet *packet = network_take(&fleet->network);

	if (packet->kind == PACKET_REPLY) {
		connection_receive(packet->route->connection, packet);
		return;
	}
	carry_out(fleet, packet);
	network_free_packet(&fleet->network, packet);
}

/* ---- Messages of the wake channels --------------------------------------------------------- */

struct reply *requests_message(struct sim *sim, struct bytes channel, struct bytes text)
{
	struct alloc alloc = memory_alloc(&sim->table_account);
	struct reply *reply = reply_new(&alloc);

	/* This memory is endless. */
	(void)reply_items(reply, reply, 3);
	(void)reply_bytes(reply, &reply->items[0], REPLY_BULK, "message", 7);
	(void)reply_bytes(reply, &reply->items[1], REPLY_BULK, channel.at, channel.size);
	(void)reply_bytes(reply, &reply->items[2], REPLY_BULK, text.at, text.size);
	return reply;
}

/* publish returns how many subscribers there are. */
static unsigned publish(void *user, struct bytes channel, struct bytes text)
{
	struct fleet *fleet = user;
	unsigned count = 0;

	if (channel.size < 5 || (memcmp(channel.at + channel.size - 5, ":wake", 5) != 0 &&
				 memcmp(channel.at + channel.size - 5, ":free", 5) != 0))
		return 0; /* nobody listens for messages of queues */
	for (unsigned i = 0; i < fleet->count; i++) {
		struct connection *subscriber = fleet->processes[i].subscriber;

		if (!subscriber || !subscriber->up)
			continue;
		network_reply(&fleet->network, &subscriber->route,
			      requests_message(fleet->sim, channel, text));
		count++;
	}
	return count;
}

void requests_init(struct fleet *fleet)
{
	keyspace_listen(fleet->server.keyspace, publish, fleet);
}
