/* A link to the twin. What is sent arrives after a while, in order, and so do the replies. A
 * connection that is lost takes the replies with it; the requests, too, or a part of them is
 * carried out later, as by a server that was stopped with them in its socket. */
#include "sim/fleet/fleet.h"

#define REPLY_PATIENCE DW_SECONDS(1)

static struct wire *wire_of(struct link *link)
{
	return (struct wire *)link;
}

static int descriptor(const struct link *link)
{
	(void)link;
	return -1;
}

static dw_usec overdue_at(const struct wire *wire)
{
	return wire->up && wire->under_way > 0 ? usec_add(wire->waiting_from, REPLY_PATIENCE)
					       : DW_NEVER;
}

static void work(struct link *link, dw_usec now)
{
	struct wire *wire = wire_of(link);

	if (now >= overdue_at(wire)) {
		trace(wire->process->sim, "no reply", "", wire->process->number, wire->ear);
		wire_cut(wire, false);
	}
	if (wire->up || now < wire->up_at)
		return;
	wire->up = true;
	wire->connection++;
	wire->sent_until = wire->reply_until = now;
	trace(wire->process->sim, "connected", "", wire->process->number, wire->ear);
}

static dw_usec due(const struct link *link)
{
	const struct wire *wire = (const struct wire *)link;

	if (!wire->up)
		return wire->up_at;
	return wire->first ? 0 : overdue_at(wire);
}

static uint64_t connection(const struct link *link)
{
	const struct wire *wire = (const struct wire *)link;

	return wire->up ? wire->connection : 0;
}

static int send(struct link *link, int count, const char *const *words, const size_t *sizes,
		dw_usec now)
{
	struct wire *wire = wire_of(link);
	struct sim *sim = wire->process->sim;

	if (!wire->up || sim->dead)
		return DW_ESTORE;
	if (!sim->faults.over && chance(sim, 5))
		return DW_ELIMIT;
	if (wire->under_way++ == 0)
		wire->waiting_from = now;
	server_send(wire, count, words, sizes);
	return DW_OK;
}

static struct reply *take(struct link *link)
{
	struct wire *wire = wire_of(link);
	struct packet *packet = wire->first;
	struct reply *reply;

	if (!packet)
		return NULL;
	wire->first = packet->next;
	reply = packet->reply;
	packet->reply = NULL;
	packet_free(wire->process->sim->town, packet);
	return reply;
}

static void drop(struct link *link, const char *why)
{
	struct wire *wire = wire_of(link);

	trace(wire->process->sim, "dropped", why, wire->process->number, 0);
	wire_cut(wire, false);
}

static const char *trouble(const struct link *link, bool *ret_fatal)
{
	(void)link;
	*ret_fatal = false;
	return "";
}

static void drop_replies(struct wire *wire)
{
	while (wire->first) {
		struct packet *packet = wire->first;

		wire->first = packet->next;
		packet_free(wire->process->sim->town, packet);
	}
	wire->under_way = 0;
}

static void free_wire(struct link *link)
{
	struct wire *wire = wire_of(link);
	struct process *process = wire->process;
	struct alloc alloc = memory_alloc(&process->sim->table_account);

	drop_replies(wire);
	server_cut(wire, false);
	server_forget(wire);
	if (wire->ear)
		process->ear = NULL;
	else
		process->wire = NULL;
	alloc_free(&alloc, wire);
}

static const struct link_class wire_class = {.descriptor = descriptor,
					     .work = work,
					     .due = due,
					     .connection = connection,
					     .send = send,
					     .take = take,
					     .drop = drop,
					     .trouble = trouble,
					     .free = free_wire};

struct wire *wire_new(struct process *process, bool ear)
{
	struct alloc alloc = memory_alloc(&process->sim->table_account);
	struct wire *wire = alloc_new(&alloc, sizeof *wire);

	wire->link.type = &wire_class;
	wire->process = process;
	wire->ear = ear;
	wire->up_at = process->sim->clocks.steady + (dw_usec)draw(process->sim, 3000);
	return wire;
}

void wire_cut(struct wire *wire, bool nothing_left)
{
	struct sim *sim = wire->process->sim;

	if (!wire->up)
		return;
	trace(sim, "cut", "", wire->process->number, wire->ear);
	wire->up = false;
	wire->up_at =
	    sim->clocks.steady + 100 + (dw_usec)draw(sim, chance(sim, 2000) ? 3000000 : 20000);
	drop_replies(wire);
	server_cut(wire, nothing_left);
	process_wake(wire->process);
	faults_disturb(sim, wire->up_at);
}

/* wire_reply takes the packet over. */
void wire_reply(struct wire *wire, struct packet *packet)
{
	if (!wire->ear) {
		wire->under_way--;
		wire->waiting_from = wire->process->sim->clocks.steady;
	}
	packet->next = NULL;
	if (wire->first)
		wire->last->next = packet;
	else
		wire->first = packet;
	wire->last = packet;
	process_wake(wire->process);
}
