#include "sim/fleet/network.h"

#include <stdlib.h>
#include <string.h>

#include "sim/core/sim.h"
#include "redis/link.h"

static struct alloc alloc_of(struct network *network)
{
	return memory_alloc(&network->sim->table_account);
}

void network_free_packet(struct network *network, struct packet *packet)
{
	struct alloc alloc = alloc_of(network);

	if (packet->reply)
		reply_free(packet->reply);
	alloc_free(&alloc, packet->words);
	alloc_free(&alloc, packet->sizes);
	alloc_free(&alloc, packet);
}

/* post inserts the packet after all that arrive at the same time. */
static void post(struct network *network, struct packet *packet)
{
	struct packet **at = &network->packets;

	while (*at && (*at)->at <= packet->at)
		at = &(*at)->next;
	packet->next = *at;
	*at = packet;
}

/* delay of one way: usually short, sometimes long. */
static dw_usec delay(struct sim *sim)
{
	dw_usec time;

	if (!chance(sim, sim->knobs.slow))
		return 20 + (dw_usec)draw(sim, chance(sim, 500) ? 5000 : 300);
	time = (dw_usec)draw(sim, (uint64_t)DW_MILLISECONDS(900));
	faults_disturb(sim, sim->clocks.steady + time);
	return time;
}

/* ---- Sending ------------------------------------------------------------------------------- */

static struct packet *new_packet(struct network *network, struct route *route,
				 enum packet_kind kind)
{
	struct alloc alloc = alloc_of(network);
	struct packet *packet = alloc_new(&alloc, sizeof *packet);

	packet->kind = kind;
	packet->route = route;
	packet->serial = route ? route->serial : 0;
	return packet;
}

/* copy_words: the words and their bytes in one block. */
static void copy_words(struct network *network, struct packet *packet, const char *const *words,
		       const size_t *sizes)
{
	struct alloc alloc = alloc_of(network);
	size_t count = (size_t)packet->count;
	size_t size = count * sizeof(char *);
	char *at;

	for (size_t i = 0; i < count; i++)
		size += sizes[i] + 1;
	packet->words = alloc_new(&alloc, size);
	packet->sizes = alloc_new(&alloc, count * sizeof *sizes);
	at = (char *)(packet->words + count);
	for (size_t i = 0; i < count; i++) {
		packet->words[i] = at;
		if (sizes[i] > 0) /* an empty word may be NULL */
			memcpy(at, words[i], sizes[i]);
		packet->sizes[i] = sizes[i];
		at += sizes[i] + 1;
	}
}

struct packet *network_copy(struct network *network, const struct packet *packet)
{
	struct packet *copy = new_packet(network, packet->route, packet->kind);

	copy->count = packet->count;
	copy_words(network, copy, packet->words, packet->sizes);
	return copy;
}

void network_send(struct network *network, struct route *route, int count, const char *const *words,
		  const size_t *sizes)
{
	struct packet *packet = new_packet(network, route, PACKET_REQUEST);
	dw_usec at = network->sim->clocks.steady + delay(network->sim);

	packet->count = count;
	copy_words(network, packet, words, sizes);
	route->sent_until = usec_max(usec_max(at, route->sent_until), network->halted_until);
	packet->at = route->sent_until;
	post(network, packet);
}

void network_reply(struct network *network, struct route *route, struct reply *reply)
{
	struct packet *packet = new_packet(network, route, PACKET_REPLY);
	dw_usec at = network->sim->clocks.steady + delay(network->sim);

	packet->reply = reply;
	route->reply_until = usec_max(route->reply_until, at);
	packet->at = route->reply_until;
	post(network, packet);
}

/* ---- Arriving ------------------------------------------------------------------------------ */

dw_usec network_next(const struct network *network)
{
	return network->packets ? network->packets->at : DW_NEVER;
}

struct packet *network_take(struct network *network)
{
	struct packet *packet = network->packets;

	network->packets = packet->next;
	packet->next = NULL;
	return packet;
}

int packet_shard(const struct packet *packet, bool is_script)
{
	int place = is_script ? 3 : 1;
	const char *key = place < packet->count ? packet->words[place] : "";

	return strncmp(key, "{t:", 3) == 0 ? (int)strtol(key + 3, NULL, 10) : -1;
}

/* ---- What is lost -------------------------------------------------------------------------- */

static bool is_on(const struct packet *packet, const struct route *route)
{
	return packet->route == route && !packet->late && packet->serial == route->serial;
}

/* take_out removes the route's packets and returns the requests. */
static struct packet *take_out(struct network *network, const struct route *route)
{
	struct packet *requests = NULL;
	struct packet **tail = &requests;
	struct packet **at = &network->packets;

	while (*at) {
		struct packet *packet = *at;

		if (!is_on(packet, route)) {
			at = &packet->next;
			continue;
		}
		*at = packet->next;
		packet->next = NULL;
		if (packet->kind == PACKET_REQUEST) {
			*tail = packet;
			tail = &packet->next;
		} else {
			network_free_packet(network, packet);
		}
	}
	return requests;
}

void network_cut(struct network *network, const struct route *route, bool nothing_left)
{
	struct sim *sim = network->sim;
	struct packet *packet = take_out(network, route);
	dw_usec later = sim->clocks.steady;
	bool kept = !nothing_left && chance(sim, 7000);

	if (kept)
		later += (dw_usec)draw(sim, chance(sim, 3000) ? (uint64_t)DW_SECONDS(8) : 30000);
	while (packet) {
		struct packet *next = packet->next;

		kept = kept && !chance(sim, 1000);
		packet->at = usec_max(packet->at, later);
		packet->late = true;
		trace(sim, kept ? "later" : "lost", "", packet->at, 0);
		if (kept)
			post(network, packet);
		else
			network_free_packet(network, packet);
		packet = next;
	}
}

void network_forget(struct network *network, const struct route *route)
{
	for (struct packet *packet = network->packets; packet; packet = packet->next)
		if (packet->route == route)
			packet->route = NULL;
}

void network_halt(struct network *network, dw_usec until)
{
	struct packet *packet = network->packets;

	until = usec_max(until, network->halted_until); /* or the next request would overtake */
	trace(network->sim, "halt", "", until, 0);
	network->halted_until = until;
	network->packets = NULL;
	while (packet) {
		struct packet *next = packet->next;

		if (packet->kind == PACKET_REQUEST)
			packet->at = usec_max(packet->at, until);
		post(network, packet);
		packet = next;
	}
	faults_disturb(network->sim, until);
}

void network_drop_requests(struct network *network)
{
	struct packet **at = &network->packets;

	while (*at) {
		struct packet *packet = *at;

		if (packet->kind == PACKET_REQUEST) {
			*at = packet->next;
			network_free_packet(network, packet);
		} else {
			at = &packet->next;
		}
	}
}

void network_restart(struct network *network, dw_usec until)
{
	network_drop_requests(network);
	network->run++;
	network->up_since = until;
}

void network_free(struct network *network)
{
	while (network->packets)
		network_free_packet(network, network_take(network));
}
