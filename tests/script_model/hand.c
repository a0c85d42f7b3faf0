/* add.lua, cancel_one.lua, shard.lua: the scripts for people. */
#include "script_model/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "calendar/rule_text.h"
#include "store/redis/store.h"
#include "store/redis/value.h"
#include "timer/record.h"

#define NUMBER_MAX 9007199254740991.0
#define EVERY_MIN 1000.0
#define EVERY_MAX 316224000000000.0

enum { DATA_MAX = 65536 };

/* shard_of: of an id, among so many. */
static unsigned shard_of(struct bytes id, double shards)
{
	char room[NAME_ROOM];
	size_t size = id.size < sizeof room - 1 ? id.size : sizeof room - 1;

	memcpy(room, id.at, size);
	room[size] = '\0';
	return crc16_of(room) % (unsigned)shards;
}

static bool by_hand(struct run *run, struct bytes id)
{
	struct bytes shards = key_text(run->meta, "shards");
	char words[512];

	if (!shards.at) {
		(void)snprintf(words, sizeof words, "ERR there is no %s; start its owner once",
			       run->meta->name);
		fail(run, words);
		return false;
	}
	begin(run, key_text(run->meta, "ver"), shards);
	if (shard_of(id, run->shards) == (unsigned)run->shard)
		return true;
	(void)snprintf(words, sizeof words, "ERR %.*s is in shard %02u of %d", (int)id.size, id.at,
		       shard_of(id, run->shards), (int)run->shards);
	fail(run, words);
	return false;
}

static void post_by_hand(struct run *run, struct bytes id, double news)
{
	const char *colon = strrchr(run->lease->name, ':'); /* of the key's own name */
	char room[32];
	char channel[128];
	int size = (int)(colon - run->lease->name);

	while (size > 0 && run->lease->name[size - 1] != ':')
		size--;
	key_set_text(run->model, run->meta, "ver", digits(run->last, room));
	post(run, id, news);
	(void)snprintf(channel, sizeof channel, "%.*s}:wake", size - 1, run->lease->name);
	(void)publish(run, text_of(channel)); /* or nobody hears it */
}

/* ---- add ----------------------------------------------------------------------------------- */

static bool is_number(struct bytes text, double least)
{
	double number = number_of(text);

	return text.size > 0 && strspn(text.at, "0123456789") == text.size && number >= least &&
	       number <= NUMBER_MAX;
}

static bool is_name(struct bytes text, size_t size_max)
{
	return text.size > 0 && text.size <= size_max && utf8_is_name(text.at, text.size);
}

static struct bytes late_after_of(const struct run *run)
{
	return run->argc >= 5 ? arg(run, 5) : text_of("0");
}

static double every_of(const struct run *run)
{
	return number_of(arg(run, 6));
}

static const char *complaint(const struct run *run)
{
	if (run->argc < 4 || run->argc > 6)
		return "ERR add takes id, topic, due, data and perhaps late_after and every";
	if (!is_name(arg(run, 1), 255))
		return "ERR an id is 1 to 255 bytes of UTF-8 without control characters";
	if (!is_name(arg(run, 2), 63) || same(arg(run, 2), text_of("*")))
		return "ERR a topic is 1 to 63 bytes of UTF-8 without control characters, and not "
		       "*";
	if (!is_number(arg(run, 3), 1))
		return "ERR due is in microseconds since 1970, 1 to 9007199254740991";
	if (arg(run, 4).size > DATA_MAX)
		return "ERR data is at most 65536 bytes";
	if (!is_number(late_after_of(run), 0))
		return "ERR late_after is in microseconds, 0 to 9007199254740991";
	if (run->argc == 6 && (!is_number(arg(run, 6), EVERY_MIN) || every_of(run) > EVERY_MAX))
		return "ERR every is in microseconds, 1000 to 316224000000000";
	if (run->argc == 6 && number_of(late_after_of(run)) > 0)
		return "ERR a recurring timer has no late_after";
	return NULL;
}

/* write_rule writes the block of the rule, as the library does. Returns its size. */
static size_t write_rule(const struct run *run, unsigned char *ret_blocks)
{
	dw_rule rule = {.size = sizeof rule, .every = (dw_usec)every_of(run)};
	dw_usec due = (dw_usec)number_of(arg(run, 3));
	char text[64];
	struct record_rule stored = {
	    .text = text, .occurrence = due, .start = due, .until = DW_NEVER};

	(void)rule_write(&rule, text, sizeof text); /* it fits */
	return record_rule_write(&stored, ret_blocks);
}

/* body_of writes the packed body into room (that of the record and 14 bytes). */
static struct bytes body_of(const struct run *run, unsigned char *record, unsigned char *room)
{
	unsigned char blocks[RECORD_BLOCKS_MAX];
	struct record made = {.id = arg(run, 1).at,
			      .topic = arg(run, 2).at,
			      .data = arg(run, 4).at,
			      .late_after = (dw_usec)number_of(late_after_of(run)),
			      .data_size = (uint32_t)arg(run, 4).size,
			      .id_size = (uint8_t)arg(run, 1).size,
			      .topic_size = (uint8_t)arg(run, 2).size};

	if (run->argc == 6) {
		made.blocks = blocks;
		made.blocks_size = (uint16_t)write_rule(run, blocks);
	}
	record_encode(&made, record);
	return (struct bytes){(const char *)room, value_pack(record, record_size(&made), room)};
}

/* keeps: the same recurring timer is there, and stays. */
static bool keeps(struct bytes before, struct bytes body)
{
	struct words words;
	char *value = malloc(HEAD_SIZE + body.size);
	bool same;

	if (!value)
		abort();
	memcpy(value + HEAD_SIZE, body.at, body.size);
	same =
	    decode(before, &words) && is_same(before, (struct bytes){value, HEAD_SIZE + body.size});
	free(value);
	return same;
}

static void add(struct run *run, struct bytes body)
{
	struct bytes id = arg(run, 1);
	struct bytes before = key_value(run->values, id);
	struct words words = {0};
	double unused;
	char room[HEAD_SIZE];
	char ver[32];

	if (before.at && keeps(before, body)) {
		(void)decode(before, &words); /* it is sound */
		say(run, run->reply, digits(ver_of(&words), ver));
		return;
	}
	if (no_room(run))
		return;
	if (before.at ? is_open(before) : left_open(run, id))
		words.flags = 256;
	halves(next_ver(run, -1), &words.v0, &words.v1);
	halves(number_of(arg(run, 3)), &words.d0, &words.d1);
	due_of((struct bytes){body.at + 2, 8}, &words.crc, &unused);
	store(run, id, encode(&words, room), body);
	set_rank(run, id, &words);
	post_by_hand(run, id, run->last);
	say(run, run->reply, digits(run->last, ver));
}

void model_add(struct run *run)
{
	const char *wrong = complaint(run);
	size_t size = 28 + 255 + 63 + RECORD_BLOCKS_MAX + DATA_MAX;
	unsigned char *room;

	if (wrong) {
		fail(run, wrong);
		return;
	}
	if (!by_hand(run, arg(run, 1)))
		return;
	if (is_newer(key_value(run->values, arg(run, 1)))) {
		fail(run, NEWER_ERROR);
		return;
	}
	room = malloc(2 * size + 14);
	if (!room)
		abort();
	add(run, body_of(run, room, room + size));
	free(room);
}

/* ---- cancel_one, shard --------------------------------------------------------------------- */

static void status(struct run *run, const char *word)
{
	say(run, run->reply, text_of(word));
}

void model_cancel_one(struct run *run)
{
	struct bytes id = arg(run, 1);
	struct bytes value;
	bool open;

	if (!by_hand(run, id))
		return;
	value = key_value(run->values, id);
	if (!value.at) {
		status(run, left_open(run, id) ? "ELATE" : "ENOENT");
	} else if (is_newer(value)) {
		fail(run, NEWER_ERROR);
	} else if (client_cancels(value, &open)) {
		status(run, "ELATE");
	} else {
		double ver = next_ver(run, -1);
		struct words words;

		if (decode(value, &words))
			end_timer(run, &(struct ending){
					   .id = id, .value = value, .how = ENDED_CANCELLED});
		write_ends(run);
		remove_timer(run, id);
		post_by_hand(run, id, open ? -ver : ver);
		status(run, open ? "ELATE" : key_text(run->meta, "fire").at ? "EUNKNOWN" : "OK");
	}
}

void model_shard(struct run *run)
{
	struct bytes shards = key_text(run->meta, "shards");
	char words[256];

	if (!shards.at) {
		(void)snprintf(words, sizeof words, "ERR there is no %s; start its owner once",
			       run->meta->name);
		fail(run, words);
		return;
	}
	(void)snprintf(words, sizeof words, "%02u", shard_of(arg(run, 1), number_of(shards)));
	status(run, words);
}
