#include "sim/servers/wire.h"

#include <stdlib.h>
#include <string.h>

#include "redis/connection.h"
#include "sim/fleet/requests.h"
#include "sim/servers/servers.h"

#define RETRY_MIN 60000 /* us between two attempts to connect, and as much again at random */

static struct servers *the_servers;

int __wrap_socket_link_new(struct link **ret_link, const struct socket_options *);

void wires_begin(struct servers *servers)
{
	the_servers = servers;
}

static struct wire *wire_of(struct link *link)
{
	return (struct wire *)link;
}

static dw_usec hidden_until(const struct wire *wire)
{
	unsigned process = wire->connection.instance->number;

	return wire->end == ENDS ? DW_NEVER : wire->servers->hidden[process][wire->end];
}

/* is_open: somebody takes the connection there. Only masters take commands. */
static bool is_open(const struct wire *wire)
{
	const struct servers *servers = wire->servers;
	const struct site *site = wire->end < SITES_MAX ? &servers->sites[wire->end] : NULL;

	if (wire->connection.network->halted_until > servers->sim->clocks.steady)
		return false; /* nobody says hello */
	return !site || wire->is_voter || wire->channels || !site->follows;
}

static void wait_for(struct wire *wire, dw_usec at)
{
	wire->connection.up_at = usec_max(wire->connection.up_at, at);
}

static void wire_work(struct link *link, dw_usec now)
{
	struct wire *wire = wire_of(link);
	struct sim *sim = wire->servers->sim;

	if (now < hidden_until(wire)) {
		connection_cut(&wire->connection, chance(sim, 5000));
		wait_for(wire, hidden_until(wire));
		return;
	}
	if (!wire->connection.up && now >= wire->connection.up_at && !is_open(wire)) {
		wait_for(wire, now + RETRY_MIN + (dw_usec)draw(sim, RETRY_MIN));
		return;
	}
	connection_class.work(link, now);
}

static void wire_lead(struct wire *wire)
{
	const char *port = wire->url->host ? wire->url->port : NULL;

	wire->end = port ? (unsigned)(strtoul(port, NULL, 10) - PORT) : ENDS;
	wire->connection.network =
	    port ? servers_end(wire->servers, wire->end) : &wire->servers->nowhere;
}

static void wire_aim(struct link *link, dw_usec now)
{
	struct wire *wire = wire_of(link);

	connection_cut(&wire->connection, false);
	network_forget(wire->connection.network, &wire->connection.route);
	wire_lead(wire);
	wire->connection.up_at = now;
	instance_wake(wire->connection.instance);
}

static void wire_free(struct link *link)
{
	struct wire *wire = wire_of(link);
	struct alloc alloc = memory_alloc(&wire->servers->sim->table_account);
	struct wire **at = &wire->servers->wires;

	while (*at != wire)
		at = &(*at)->next;
	*at = wire->next;
	alloc_free(&alloc, wire->channels);
	connection_class.free(link);
}

static const struct link_class *wire_class(void)
{
	static struct link_class class;

	class = connection_class;
	class.work = wire_work;
	class.aim = wire_aim;
	class.free = wire_free;
	return &class;
}

static char *copy(const struct alloc *alloc, const char *text)
{
	char *made = text ? alloc_new(alloc, strlen(text) + 1) : NULL;

	if (made)
		memcpy(made, text, strlen(text) + 1);
	return made;
}

/* The linker sends the store's calls here (--wrap). */
int __wrap_socket_link_new(struct link **ret_link, const struct socket_options *options)
{
	struct servers *servers = the_servers;
	struct alloc alloc = memory_alloc(&servers->sim->table_account);
	struct wire *wire = alloc_new(&alloc, sizeof *wire);

	wire->servers = servers;
	wire->url = options->url;
	wire->is_voter = options->to_sentinel;
	wire->channels = copy(&alloc, options->channels);
	connection_init(&wire->connection, &servers->nowhere, servers->sim->at_work,
			wire->channels != NULL);
	wire->connection.link.type = wire_class();
	wire_lead(wire);
	wire->next = servers->wires;
	servers->wires = wire;
	*ret_link = &wire->connection.link;
	return DW_OK;
}

void wires_cut(struct servers *servers, unsigned end, bool nothing_left)
{
	for (struct wire *wire = servers->wires; wire; wire = wire->next)
		if (wire->end == end)
			connection_cut(&wire->connection, nothing_left);
}

void wires_cut_waiting(struct servers *servers, unsigned end)
{
	for (struct wire *wire = servers->wires; wire; wire = wire->next)
		if (wire->end == end &&
		    wire->connection.route.reply_until > servers->sim->clocks.steady)
			connection_cut(&wire->connection, true);
}

/* wire_hears: it is up and subscribed to the channel. */
static bool wire_hears(const struct wire *wire, const char *channel, size_t size)
{
	const char *at = wire->channels;

	if (!at || !wire->connection.up)
		return false;
	for (; *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (strcspn(at, "\n") == size && memcmp(at, channel, size) == 0)
			return true;
	return false;
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* publish: a node of a cluster tells all others, as far as it reaches them. */
static unsigned publish(void *user, struct bytes channel, struct bytes text)
{
	struct site *site = user;
	struct servers *servers = site->servers;
	unsigned count = 0;

	if (site->follows)
		return 0; /* the write of its master */
	for (struct wire *wire = servers->wires; wire; wire = wire->next) {
		const struct site *at = wire->end < SITES_MAX ? &servers->sites[wire->end] : NULL;
		bool reached = at == site || (servers->is_cluster && at && site_is_reached(site) &&
					      site_is_reached(at));

		if (!reached || !wire_hears(wire, channel.at, channel.size))
			continue;
		network_reply(wire->connection.network, &wire->connection.route,
			      requests_message(servers->sim, channel, text));
		count++;
	}
	return count;
}

void wires_listen(struct site *site)
{
	keyspace_listen(site->server.keyspace, publish, site);
}
