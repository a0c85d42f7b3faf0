/* The server: what is on its way to it and from it, and the twin that carries it out. */
#include "sim/fleet/fleet.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

static struct alloc alloc_of(struct town *town)
{
	return memory_alloc(&town->sim->table_account);
}

/* ---- Packets ------------------------------------------------------------------------------- */

void packet_free(struct town *town, struct packet *packet)
{
	struct alloc alloc = alloc_of(town);

	if (packet->reply)
		reply_free(packet->reply);
	alloc_free(&alloc, packet->words);
	alloc_free(&alloc, packet->sizes);
	alloc_free(&alloc, packet);
}

/* post puts it behind those that arrive at the same time. */
static void post(struct town *town, struct packet *packet)
{
	struct packet **at = &town->packets;

	while (*at && (*at)->at <= packet->at)
		at = &(*at)->next;
	packet->next = *at;
	*at = packet;
}

static struct packet *new_packet(struct wire *wire, enum packet_kind kind)
{
	struct alloc alloc = alloc_of(wire->process->sim->town);
	struct packet *packet = alloc_new(&alloc, sizeof *packet);

	packet->kind = kind;
	packet->wire = wire;
	packet->connection = wire->connection;
	return packet;
}

/* delay of one way: mostly short, sometimes long. */
static dw_usec delay(struct sim *sim)
{
	dw_usec time;

	if (!chance(sim, sim->knobs.slow))
		return 20 + (dw_usec)draw(sim, chance(sim, 500) ? 5000 : 300);
	time = (dw_usec)draw(sim, (uint64_t)DW_MILLISECONDS(900));
	faults_disturb(sim, sim->clocks.steady + time);
	return time;
}

/* copy_words: the words and their bytes in one block. */
static void copy_words(struct town *town, struct packet *packet, const char *const *words,
		       const size_t *sizes)
{
	struct alloc alloc = alloc_of(town);
	size_t count = (size_t)packet->count;
	size_t total = count * sizeof(char *);
	char *at;

	for (size_t i = 0; i < count; i++)
		total += sizes[i] + 1;
	packet->words = alloc_new(&alloc, total);
	packet->sizes = alloc_new(&alloc, count * sizeof *sizes);
	at = (char *)(packet->words + count);
	for (size_t i = 0; i < count; i++) {
		packet->words[i] = memcpy(at, words[i], sizes[i]);
		packet->sizes[i] = sizes[i];
		at += sizes[i] + 1;
	}
}

void server_send(struct wire *wire, int count, const char *const *words, const size_t *sizes)
{
	struct sim *sim = wire->process->sim;
	struct town *town = sim->town;
	struct packet *packet = new_packet(wire, PACKET_REQUEST);
	dw_usec at = sim->clocks.steady + delay(sim);

	packet->count = count;
	copy_words(town, packet, words, sizes);
	wire->sent_until = usec_max(usec_max(at, wire->sent_until), town->halted_until);
	packet->at = wire->sent_until;
	post(town, packet);
}

/* ---- What is lost -------------------------------------------------------------------------- */

static bool is_over(const struct packet *packet, const struct wire *wire)
{
	return packet->wire == wire && !packet->late && packet->connection == wire->connection;
}

/* take_out removes what is on its way over the wire's connection and returns the requests. */
static struct packet *take_out(struct town *town, const struct wire *wire)
{
	struct packet *requests = NULL;
	struct packet **tail = &requests;
	struct packet **at = &town->packets;

	while (*at) {
		struct packet *packet = *at;

		if (!is_over(packet, wire)) {
			at = &packet->next;
			continue;
		}
		*at = packet->next;
		packet->next = NULL;
		if (packet->kind == PACKET_REQUEST) {
			*tail = packet;
			tail = &packet->next;
		} else {
			packet_free(town, packet);
		}
	}
	return requests;
}

void server_cut(struct wire *wire, bool nothing_left)
{
	struct sim *sim = wire->process->sim;
	struct packet *packet = take_out(sim->town, wire);
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
			post(sim->town, packet);
		else
			packet_free(sim->town, packet);
		packet = next;
	}
}

void server_forget(struct wire *wire)
{
	for (struct packet *packet = wire->process->sim->town->packets; packet;
	     packet = packet->next)
		if (packet->wire == wire)
			packet->wire = NULL;
}

/* ---- Carrying out -------------------------------------------------------------------------- */

void server_time(struct town *town)
{
	dw_usec steady = town->sim->clocks.steady;

	twin_set_time(town->twin, steady + town->wall_offset + steady / 1000000 * town->drift_ppm);
}

static struct reply *refusal(struct town *town)
{
	static const char *const all[] = {"BUSY Redis is busy running a script.",
					  "LOADING Redis is loading the dataset in memory",
					  "OOM command not allowed when used memory > 'maxmemory'.",
					  "MISCONF Redis is configured to save RDB snapshots",
					  "READONLY You can't write against a read only replica."};
	const char *words = all[town->refusal % (sizeof all / sizeof *all)];
	struct alloc alloc = alloc_of(town);
	struct reply *reply = reply_new(&alloc);

	(void)reply_bytes(reply, reply, REPLY_ERROR, words, strlen(words)); /* endless memory */
	return reply;
}

/* script_of: the name of the file; NULL: another command. */
static const char *script_of(const struct packet *packet)
{
	if (strcmp(packet->words[0], "EVALSHA") == 0)
		return twin_script(packet->words[1], packet->sizes[1]);
	return strcmp(packet->words[0], "EVAL") == 0
		   ? twin_script_of(packet->words[1], packet->sizes[1])
		   : NULL;
}

static void tell(struct town *town, const struct packet *packet, const struct reply *reply)
{
	const char *script = script_of(packet);
	struct effect effect = {.town = town,
				.script = script,
				.reply = reply,
				.caller = packet->wire ? packet->wire->process : NULL};

	trace(town->sim, script ? script : packet->words[0],
	      reply->kind == REPLY_ARRAY && reply->count > 0 && reply->items[0].kind == REPLY_BULK
		  ? reply->items[0].bytes
		  : "",
	      packet->wire ? (int)packet->wire->process->number : -1, packet->late);
	if (!script)
		return;
	effect.shard = (unsigned)strtoul(strchr(packet->words[3], ':') + 1, NULL, 10);
	effect.argc = packet->count - 12;
	effect.argv = packet->words + 12;
	effect.sizes = packet->sizes + 12;
	effects_tell(&effect);
}

/* note_known: a command names each timer at most once. */
static void note_known(void *user, const char *value, size_t size)
{
	struct town *town = user;

	if (value && size < 16)
		abort();
	town->known[town->known_count++] =
	    value ? bytes_get((const unsigned char *)value + 8, 8) : 0;
}

static enum twin_bug bug_of(const struct town *town, const struct packet *packet)
{
	switch (town->sim->bug) {
	case BUG_NO_HELLO:
		return packet->late ? TWIN_ANY_TOKEN : TWIN_SOUND;
	case BUG_CLAIM_UNSEEN:
		return TWIN_CLAIM_ANY;
	case BUG_NEVER_OPEN:
		return TWIN_CANCEL_NEVER_OPEN;
	case BUG_ACK_UNSEEN:
		return TWIN_ACK_BY_ID;
	case BUG_ATTEMPT_KEPT:
		return TWIN_ATTEMPT_KEPT;
	case BUG_PUSH_LOST:
		return TWIN_PUSH_LOST;
	case BUG_PUSH_FRESH:
		return TWIN_PUSH_FRESH;
	case BUG_DELETE_LOST:
		return TWIN_DELETE_LOST;
	default:
		return TWIN_SOUND;
	}
}

static void carry_out(struct town *town, struct packet *packet)
{
	struct sim *sim = town->sim;
	struct wire *wire = packet->wire;
	struct packet *answer;
	struct reply *reply;

	server_time(town);
	twin_set_bug(town->twin, bug_of(town, packet));
	if (sim->clocks.steady < town->refusing_until || chance(sim, sim->knobs.fail / 4)) {
		reply = refusal(town);
		trace(sim, "refused", reply->bytes, 0, 0);
		faults_disturb(sim, sim->clocks.steady);
	} else {
		town->known_count = 0;
		reply = twin_call(town->twin, packet->count, packet->words, packet->sizes);
		tell(town, packet, reply);
	}
	if (!wire || packet->late) {
		reply_free(reply);
		return;
	}
	answer = new_packet(wire, PACKET_REPLY);
	answer->reply = reply;
	wire->reply_until = usec_max(wire->reply_until, sim->clocks.steady + delay(sim));
	answer->at = wire->reply_until;
	post(town, answer);
}

dw_usec server_next(const struct town *town)
{
	return town->packets ? town->packets->at : DW_NEVER;
}

void server_work(struct town *town)
{
	struct packet *packet = town->packets;

	town->packets = packet->next;
	if (packet->kind == PACKET_REPLY) {
		wire_reply(packet->wire, packet);
		return;
	}
	carry_out(town, packet);
	packet_free(town, packet);
}

/* ---- News ---------------------------------------------------------------------------------- */

static struct reply *message(struct town *town, const char *channel, size_t size, long long shard)
{
	struct alloc alloc = alloc_of(town);
	struct reply *reply = reply_new(&alloc);
	char number[24];
	int digits = snprintf(number, sizeof number, "%lld", shard);

	/* The memory is endless. */
	(void)reply_items(reply, reply, 3);
	(void)reply_bytes(reply, &reply->items[0], REPLY_BULK, "message", 7);
	(void)reply_bytes(reply, &reply->items[1], REPLY_BULK, channel, size);
	(void)reply_bytes(reply, &reply->items[2], REPLY_BULK, number, (size_t)digits);
	return reply;
}

static unsigned heard(void *user, const char *channel, size_t size, long long shard)
{
	struct town *town = user;
	unsigned count = 0;

	for (unsigned i = 0; i < PROCESSES; i++) {
		struct wire *ear = town->processes[i].ear;
		struct packet *packet;

		if (!ear || !ear->up)
			continue;
		packet = new_packet(ear, PACKET_REPLY);
		packet->reply = message(town, channel, size, shard);
		ear->reply_until =
		    usec_max(ear->reply_until, town->sim->clocks.steady + delay(town->sim));
		packet->at = ear->reply_until;
		post(town, packet);
		count++;
	}
	return count;
}

/* ---- The whole server ---------------------------------------------------------------------- */

void server_init(struct town *town)
{
	struct alloc alloc = alloc_of(town);

	town->twin = twin_new(&alloc);
	twin_listen(town->twin, heard, town);
	twin_watch_known(town->twin, note_known, town);
	if (town->sim->bug == BUG_NONE)
		twin_be_strict(town->twin);
	town->wall_offset = clocks_wall(town->sim) - town->sim->clocks.steady;
	town->wall_offset += (dw_usec)draw(town->sim, DW_SECONDS(20)) - DW_SECONDS(10);
	town->drift_ppm = (int64_t)draw(town->sim, 1001) - 500;
}

void server_free(struct town *town)
{
	while (town->packets) {
		struct packet *packet = town->packets;

		town->packets = packet->next;
		packet_free(town, packet);
	}
	twin_free(town->twin);
}

/* server_halt: nothing is carried out until then. */
void server_halt(struct town *town, dw_usec until)
{
	struct packet *packet = town->packets;

	until = usec_max(until, town->halted_until); /* or what comes next would overtake */
	trace(town->sim, "halt", "", until, 0);
	town->halted_until = until;
	town->packets = NULL;
	while (packet) {
		struct packet *next = packet->next;

		if (packet->kind == PACKET_REQUEST)
			packet->at = usec_max(packet->at, until);
		post(town, packet);
		packet = next;
	}
	faults_disturb(town->sim, until);
}

/* server_drop_requests: those of lost connections are gone, too. */
void server_drop_requests(struct town *town)
{
	struct packet **at = &town->packets;

	while (*at) {
		struct packet *packet = *at;

		if (packet->kind == PACKET_REQUEST) {
			*at = packet->next;
			packet_free(town, packet);
		} else {
			at = &packet->next;
		}
	}
}

void server_flush(struct town *town)
{
	static const char *const words[] = {"SCRIPT", "FLUSH"};
	static const size_t sizes[] = {6, 5};

	trace(town->sim, "script flush", "", 0, 0);
	reply_free(twin_call(town->twin, 2, words, sizes));
}
