#include "sim/fleet/connection.h"

#include <stdio.h>

#include "sim/core/sim.h"
#include "redis/link_server.h"

#define REPLY_PATIENCE DW_SECONDS(1)

static struct connection *connection_of(struct link *link)
{
	return (struct connection *)link;
}

static const struct connection *const_connection_of(const struct link *link)
{
	return (const struct connection *)link;
}

static void tell(const struct connection *connection, const char *what)
{
	trace(connection->network->sim, what, "", connection->instance->number,
	      connection->subscriber);
}

static int connection_descriptor(const struct link *link)
{
	(void)link;
	return -1;
}

static dw_usec overdue_at(const struct connection *connection)
{
	return connection->up && connection->under_way > 0
		   ? usec_add(connection->waiting_from, REPLY_PATIENCE)
		   : DW_NEVER;
}

/* is_refused: the server is away. Another attempt follows soon. */
static bool is_refused(struct connection *connection, dw_usec now)
{
	if (now >= connection->network->up_since)
		return false;
	life_refused(&connection->life, true, now);
	connection->up_at = now + 60000 + (dw_usec)draw(connection->network->sim, 40000);
	return true;
}

/* greet: the server says which process it is, and since when it is up. */
static void greet(struct connection *connection, dw_usec now)
{
	const struct network *network = connection->network;
	struct hello hello = {.uptime = (now - network->up_since) / DW_SECONDS(1)};

	(void)snprintf(hello.server, sizeof hello.server, "run %u", network->run);
	if (network->history > 0)
		(void)snprintf(hello.history, sizeof hello.history, "history %u", network->history);
	life_accepted(&connection->life);
	life_up(&connection->life, &hello, now);
}

static void connection_work(struct link *link, dw_usec now)
{
	struct connection *connection = connection_of(link);
	struct route *route = &connection->route;

	if (now >= overdue_at(connection)) {
		tell(connection, "no reply");
		connection_cut(connection, false);
	}
	if (connection->up || now < connection->up_at || is_refused(connection, now))
		return;
	connection->up = true;
	greet(connection, now);
	route->serial++;
	route->sent_until = route->reply_until = now;
	tell(connection, "connected");
}

static dw_usec connection_due(const struct link *link)
{
	const struct connection *connection = const_connection_of(link);

	if (!connection->up)
		return connection->up_at;
	return connection->first ? 0 : overdue_at(connection);
}

static uint64_t connection_serial(const struct link *link)
{
	const struct connection *connection = const_connection_of(link);

	return connection->up ? connection->route.serial : 0;
}

static int connection_send(struct link *link, int count, const char *const *words,
			   const size_t *sizes, dw_usec now)
{
	struct connection *connection = connection_of(link);
	struct sim *sim = connection->network->sim;

	if (!connection->up || connection->instance->dead)
		return DW_ESTORE;
	if (!sim->faults.over && chance(sim, 5)) {
		faults_disturb(sim, sim->clocks.steady);
		return DW_ELIMIT;
	}
	if (connection->under_way++ == 0)
		connection->waiting_from = now;
	network_send(connection->network, &connection->route, count, words, sizes);
	return DW_OK;
}

static struct reply *connection_take(struct link *link)
{
	struct connection *connection = connection_of(link);
	struct packet *packet = connection->first;
	struct reply *reply;

	if (!packet)
		return NULL;
	connection->first = packet->next;
	reply = packet->reply;
	packet->reply = NULL;
	network_free_packet(connection->network, packet);
	return reply;
}

static void connection_drop(struct link *link, const char *why)
{
	struct connection *connection = connection_of(link);

	trace(connection->network->sim, "dropped", why, connection->instance->number, 0);
	connection_cut(connection, false);
}

static const char *connection_trouble(const struct link *link, bool *ret_fatal)
{
	(void)link;
	*ret_fatal = false;
	return "";
}

/* connection_server: with the planted bug, a lease that is over is renewed, because the server
 * seems to be the process that has confirmed it. */
static const struct link_server *connection_server(const struct link *link)
{
	static struct link_server same;
	const struct connection *connection = const_connection_of(link);

	if (connection->network->sim->bug != BUG_OVER_RENEWED)
		return &connection->life.server;
	same = connection->life.server;
	(void)snprintf(same.id, sizeof same.id, "any run");
	return &same;
}

static void drop_replies(struct connection *connection)
{
	while (connection->first) {
		struct packet *packet = connection->first;

		connection->first = packet->next;
		network_free_packet(connection->network, packet);
	}
	connection->under_way = 0;
}

static void free_connection(struct link *link)
{
	struct connection *connection = connection_of(link);
	struct alloc alloc = memory_alloc(&connection->network->sim->table_account);

	drop_replies(connection);
	network_cut(connection->network, &connection->route, false);
	network_forget(connection->network, &connection->route);
	if (connection->home)
		*connection->home = NULL;
	alloc_free(&alloc, connection);
}

const struct link_class connection_class = {.descriptor = connection_descriptor,
					    .work = connection_work,
					    .due = connection_due,
					    .connection = connection_serial,
					    .send = connection_send,
					    .take = connection_take,
					    .drop = connection_drop,
					    .trouble = connection_trouble,
					    .server = connection_server,
					    .free = free_connection};

void connection_init(struct connection *connection, struct network *network,
		     struct instance *instance, bool subscriber)
{
	connection->link.type = &connection_class;
	connection->network = network;
	connection->instance = instance;
	connection->subscriber = subscriber;
	connection->route.connection = connection;
	connection->up_at = network->sim->clocks.steady + (dw_usec)draw(network->sim, 3000);
}

void connection_new(struct connection **home, struct network *network, struct instance *instance,
		    bool subscriber)
{
	struct alloc alloc = memory_alloc(&network->sim->table_account);
	struct connection *connection = alloc_new(&alloc, sizeof *connection);

	connection_init(connection, network, instance, subscriber);
	connection->home = home;
	*home = connection;
}

void connection_cut(struct connection *connection, bool nothing_left)
{
	struct sim *sim = connection->network->sim;

	if (!connection->up)
		return;
	tell(connection, "cut");
	connection->up = false;
	life_lost(&connection->life);
	connection->up_at =
	    sim->clocks.steady + 100 + (dw_usec)draw(sim, chance(sim, 2000) ? 3000000 : 20000);
	drop_replies(connection);
	network_cut(connection->network, &connection->route, nothing_left);
	instance_wake(connection->instance);
	faults_disturb(sim, connection->up_at);
}

void connection_receive(struct connection *connection, struct packet *packet)
{
	if (!connection->subscriber) {
		connection->under_way--;
		connection->waiting_from = connection->network->sim->clocks.steady;
	}
	packet->next = NULL;
	if (connection->first)
		connection->last->next = packet;
	else
		connection->first = packet;
	connection->last = packet;
	instance_wake(connection->instance);
}
