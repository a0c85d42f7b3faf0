/* A request arrives at a server or a Sentinel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fleet/requests.h"
#include "sim/servers/servers.h"

static struct reply *text_reply(struct servers *servers, enum reply_kind kind, const char *text)
{
	struct alloc alloc = memory_alloc(&servers->sim->table_account);
	struct reply *reply = reply_new(&alloc);

	(void)reply_bytes(reply, reply, kind, text, strlen(text));
	return reply;
}

/* ---- Commands of replication ----------------------------------------------------------------- */

static struct reply *info(const struct site *site)
{
	char text[128];

	(void)snprintf(text, sizeof text, "role:%s\r\nmaster_replid:history %u\r\n",
		       site->follows ? "slave" : "master", site->network.history); /* it fits */
	return text_reply(site->servers, REPLY_BULK, text);
}

/* wait_for: the reply comes when enough replicas have all writes, or time is up. */
static struct reply *wait_for(const struct site *site, const struct packet *packet)
{
	struct sim *sim = site->servers->sim;
	struct alloc alloc = memory_alloc(&sim->table_account);
	unsigned wanted = (unsigned)strtoul(packet->words[1], NULL, 10);
	dw_usec until = sim->clocks.steady + DW_MILLISECONDS(strtoll(packet->words[2], NULL, 10));
	dw_usec at = usec_min(site_acked_at(site, wanted), until);
	struct reply *reply = reply_new(&alloc);

	reply->kind = REPLY_INTEGER;
	reply->integer = site_acked(site, at);
	if (packet->route)
		packet->route->reply_until = usec_max(packet->route->reply_until, at);
	return reply;
}

/* ---- A server -------------------------------------------------------------------------------- */

static bool writes(const struct packet *packet, const char *script)
{
	static const char *const words[] = {"SET", "PEXPIRE", "HSET", "DEL", "EVAL", "EVALSHA"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(packet->words[0], words[i]) == 0)
			return true;
	return script != NULL;
}

static const char *refusal(struct site *site, const struct packet *packet, const char *script)
{
	int shard = packet_shard(packet, script != NULL);

	if (site->servers->is_cluster)
		return shard < 0 ? NULL : bus_refusal(site->servers, site, (unsigned)shard);
	return site->follows && writes(packet, script)
		   ? "READONLY You can't write against a read only replica."
		   : NULL;
}

static struct reply *serve(struct site *site, const struct packet *packet, const char *script)
{
	const char *words = refusal(site, packet, script);
	struct reply *reply;
	int shard = packet_shard(packet, script != NULL);

	if (words)
		return text_reply(site->servers, REPLY_ERROR, words);
	server_tick(&site->server);
	reply = keyspace_call(site->server.keyspace, packet->count, packet->words, packet->sizes);
	if (writes(packet, script) && reply->kind != REPLY_ERROR)
		site_wrote(site, packet);
	if (script && shard >= 0)
		gaps_used(site->servers, site, (unsigned)shard);
	return reply;
}

static struct reply *answer(struct servers *servers, unsigned end, const struct packet *packet)
{
	const char *script = requests_script(packet);

	if (end >= SITES_MAX)
		return teller_answer(servers, &servers->tellers[end - SITES_MAX], packet);
	if (strcmp(packet->words[0], "CLUSTER") == 0)
		return bus_nodes(servers, &servers->sites[end]);
	if (strcmp(packet->words[0], "INFO") == 0)
		return info(&servers->sites[end]);
	if (strcmp(packet->words[0], "WAIT") == 0)
		return wait_for(&servers->sites[end], packet);
	return serve(&servers->sites[end], packet, script);
}

static void tell(const struct servers *servers, unsigned end, const struct packet *packet,
		 const struct reply *reply)
{
	const char *script = requests_script(packet);
	bool has_words = reply->kind == REPLY_ERROR;
	const struct reply *first =
	    reply->kind == REPLY_ARRAY && reply->count > 0 ? &reply->items[0] : reply;

	if (first->kind == REPLY_BULK && first->size < 20)
		has_words = true;
	trace(servers->sim, script ? script : packet->words[0], has_words ? first->bytes : "",
	      packet->route ? (int)packet->route->connection->instance->number : -1,
	      (int)end * 100 + packet_shard(packet, script != NULL) + (packet->late ? 10000 : 0));
}

void carry_arrived(struct servers *servers, unsigned end, struct packet *packet)
{
	struct network *network = servers_end(servers, end);
	struct reply *reply;

	if (packet->kind == PACKET_REPLY) {
		connection_receive(packet->route->connection, packet);
		return;
	}
	reply = answer(servers, end, packet);
	tell(servers, end, packet, reply);
	if (packet->route && !packet->late)
		network_reply(network, packet->route, reply);
	else
		reply_free(reply);
	network_free_packet(network, packet);
}
