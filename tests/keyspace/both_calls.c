/* Random calls of every script, good ones and bad ones, and what others do to the keys. */
#include "keyspace/both.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "store/redis/value.h"
#include "support/cmocka.h"
#include "timer/record.h"

enum { IDS = 6 };

void both_plainly(struct both *both)
{
	reply_free(both_call(both));
}

/* ---- Operands ------------------------------------------------------------------------------ */

static const char *const ids[IDS] = {
    "a", "b", "\xc3\xa4\xf0\x9f\x98\x80", "x{tag}y", "a longer id, with a comma", "b2"};

const char *both_id(struct both *both)
{
	return ids[both_draw(both, IDS)];
}

const char *both_id_at(uint64_t number)
{
	return ids[number % IDS];
}

dw_usec both_any_due(struct both *both)
{
	static const dw_usec odd[] = {
	    0, 1, -1, INT64_MIN, INT64_MAX, INT64_C(9007199254740991), INT64_C(9007199254740992)};

	if (both_draw(both, 8) == 0)
		return odd[both_draw(both, sizeof odd / sizeof *odd)];
	return both->now + (dw_usec)both_draw(both, 8) * 1000000; /* equal ones, too */
}

void both_due(struct both *both)
{
	unsigned char bytes[8];

	bytes_put(bytes, (uint64_t)both_any_due(both), 8);
	both_bytes(both, bytes, 8);
}

static void add_floor(struct both *both)
{
	if (both_draw(both, 5) == 0)
		both_text(both, "");
	else
		both_number(both, both_time(both, 2500000, 2500000));
}

/* both_delivery: id, version and attempt: mostly of what is stored. */
void both_delivery(struct both *both, const char *id)
{
	size_t size;
	const unsigned char *value = both_stored(both, id, &size);
	uint64_t ver = (uint64_t)both->now;
	uint64_t attempt = both_draw(both, 3);

	if (value && size >= VALUE_HEAD_SIZE && both_draw(both, 10) > 0) {
		ver = bytes_get(value + 8, 8) & ((UINT64_C(1) << 53) - 1);
		attempt = bytes_get(value + 4, 4);
	}
	if (both_draw(both, 12) == 0)
		attempt++;
	if (both_draw(both, 12) == 0 && attempt > 0)
		attempt--;
	if (both_draw(both, 20) == 0)
		ver++;
	both_text(both, id);
	both_number(both, ver);
	both_number(both, attempt);
}

static size_t make_body(struct both *both, const char *id, unsigned char *ret_body)
{
	unsigned char record[512], blocks[RECORD_BLOCKS_MAX];
	struct record_rule rule = {.text = "every 1s", .occurrence = (dw_usec)both_draw(both, 9)};
	uint64_t data = rng_next(&both->rng);
	struct record made = {.id = id,
			      .topic = "topic",
			      .data = &data,
			      .data_size = (uint32_t)both_draw(both, 9),
			      .late_after =
				  both_draw(both, 3) == 0 ? (dw_usec)both_draw(both, 1000) : 0,
			      .id_size = (uint8_t)strlen(id),
			      .topic_size = (uint8_t)(1 + both_draw(both, 5))};

	made.blocks = blocks;
	if (both_draw(both, 3) == 0)
		made.blocks_size = (uint16_t)record_rule_write(&rule, blocks);
	else if (both_draw(both, 4) == 0)
		made.blocks_size = (uint16_t)record_series_write(5, blocks);
	if (both_draw(both, 4) == 0)
		made.blocks_size +=
		    (uint16_t)record_keep_write(both_keep(both), blocks + made.blocks_size);
	record_encode(&made, record);
	return value_pack(record, record_size(&made), ret_body);
}

void both_body(struct both *both, const char *id)
{
	unsigned char body[512];

	both_bytes(both, body, make_body(both, id, body));
}

/* ---- Who calls ----------------------------------------------------------------------------- */

struct caller *both_caller(struct both *both, bool owner)
{
	return owner ? &both->owners[both->shard][both_draw(both, BOTH_OWNERS)]
		     : &both->clients[both->shard][both_draw(both, BOTH_CLIENTS)];
}

/* begin_guarded: the script, and what every changing one wants first, now and then wrong. */
void both_begin_guarded(struct both *both, const char *script, const struct caller *caller)
{
	uint64_t number = caller->number + 1;

	both_begin_script(both, script, caller->nonce);
	both_text(both, caller->owner ? "o" : "c");
	if (caller->owner)
		both_text(both, both_draw(both, 40) ? caller->token : "123:x:1");
	else
		both_number(both, both_draw(both, 40) ? caller->conn : caller->conn + 1);
	if (caller->owner || both_draw(both, 2))
		both_text(both, caller->owner && both_draw(both, 60) ? caller->era : "");
	else
		both_number(both, both_draw(both, 30) ? BOTH_SHARDS : BOTH_SHARDS + 3);
	if (both_draw(both, 25) == 0)
		number += both_draw(both, 5) - 2;
	both_number(both, number);
	both_number(both, BOTH_TTL_MS - both_draw(both, 1000));
	if (caller->owner && both_draw(both, 8) == 0)
		both_number(both, both_time(both, 5000000, 0));
	else
		both_text(both, !caller->owner && both_draw(both, 2) ? "{t}:wake" : "");
}

static void learn(struct caller *caller, const struct both *both, const struct reply *reply)
{
	const struct reply *items = reply->items;

	if (reply->kind != REPLY_ARRAY || strcmp(both->script, "inbox") == 0)
		return;
	if (reply_is(&items[0], "OK") || reply_is(&items[0], "OOM"))
		caller->number++;
	if (reply_is(&items[0], "MARK"))
		caller->number = strtoull(items[1].bytes, NULL, 10);
}

void both_guarded(struct both *both, struct caller *caller)
{
	struct reply *reply = both_call(both);

	/* With the wrong number a right one may have been guessed. */
	learn(caller, both, reply);
	reply_free(reply);
}

/* ---- The calls ----------------------------------------------------------------------------- */

unsigned both_some(struct both *both)
{
	return 1 + (unsigned)(both_draw(both, 3) ? 0 : both_draw(both, 4));
}

struct put {
	char flags;
	const char *id;
	dw_usec due;
	unsigned char value[VALUE_HEAD_SIZE + 512];
	size_t size;
};

/* make_put: with the header that its caller would make. */
static void make_put(struct both *both, struct put *put, const struct caller *caller, uint64_t ver)
{
	bool claimed;
	dw_head head = {.generation = ver, .due = both_any_due(both)};

	put->flags = (char)('0' + (both_draw(both, 3) ? 0 : both_draw(both, 32)));
	claimed = caller->owner && (put->flags - '0') & 2;
	head.state = claimed;
	head.attempt = claimed;
	put->due = head.due;
	put->size = VALUE_HEAD_SIZE + make_body(both, put->id, put->value + VALUE_HEAD_SIZE);
	value_head_write(put->value, &head, claimed ? strtoull(caller->token, NULL, 10) : 0,
			 (uint32_t)bytes_get(put->value + VALUE_HEAD_SIZE + 2, 4));
}

static void say_puts(struct both *both, const struct put *puts, unsigned count)
{
	char flags[BOTH_SOME] = {0};

	for (unsigned i = 0; i < count; i++)
		flags[i] = puts[i].flags;
	both_bytes(both, flags, count);
	for (unsigned i = 0; i < count; i++) {
		char score[24];
		bool claimed = puts[i].value[0] == DW_CLAIMED;

		(void)snprintf(score, sizeof score, "%s%lld", claimed ? "-" : "",
			       (long long)value_score(puts[i].due));
		both_text(both, score);
		both_text(both, puts[i].id);
	}
	for (unsigned i = 0; i < count; i++)
		both_bytes(both, puts[i].value, puts[i].size);
	for (unsigned i = 0; i < count; i++)
		if ((puts[i].flags - '0') % 16 >= 8)
			both_number(both, both_draw(both, 2) ? both_version(both, puts[i].id) : 0);
}

void both_put_one(struct both *both, const char *id)
{
	static const struct caller nobody;
	struct put put = {.id = id};

	make_put(both, &put, &nobody, 0);
	put.flags = '0';
	say_puts(both, &put, 1);
}

void both_value_of(struct both *both, const char *id, uint64_t ver)
{
	static const struct caller nobody;
	struct put put = {.id = id};

	make_put(both, &put, &nobody, ver);
	both_bytes(both, put.value, put.size);
}

void both_value(struct both *both, const char *id)
{
	both_value_of(both, id, both_time(both, 2500000, 2500000));
}

/* do_put: the ids of one call differ, as the store's do. */
static void do_put(struct both *both)
{
	static struct put puts[BOTH_SOME];
	struct caller *caller = both_caller(both, both_draw(both, 2));
	unsigned count = both_some(both);
	uint64_t ver = both_time(both, 2500000, 2500000);
	uint64_t first = both_draw(both, IDS);

	if (both_draw(both, 5) == 0)
		ver = 0;
	for (unsigned i = 0; i < count; i++) {
		puts[i].id = ids[(first + i) % IDS];
		make_put(both, &puts[i], caller, ver ? ver + i * 16 : 0);
	}
	both_begin_guarded(both, "put", caller);
	say_puts(both, puts, count);
	both_guarded(both, caller);
}

static void do_delivery(struct both *both, const char *script)
{
	struct caller *caller = both_caller(both, true);

	both_begin_guarded(both, script, caller);
	for (unsigned i = both_some(both); i > 0; i--)
		both_delivery(both, both_id(both));
	both_guarded(both, caller);
}

/* both_why: the text of dw_why(), often none. */
void both_why(struct both *both)
{
	char text[DW_WHY_MAX];
	size_t size = both_draw(both, 3) ? 0 : (size_t)both_draw(both, 20);

	if (both_draw(both, 30) == 0)
		size = sizeof text;
	memset(text, 'a' + (int)both_draw(both, 26), sizeof text);
	both_bytes(both, text, size);
}

static void do_retry(struct both *both)
{
	struct caller *caller = both_caller(both, true);

	both_begin_guarded(both, "retry", caller);
	for (unsigned i = both_some(both); i > 0; i--) {
		const char *id = both_id(both);
		size_t size;
		const unsigned char *value;

		both_delivery(both, id);
		value = both_stored(both, id, &size);
		if (value && size >= 24 && both_draw(both, 4) == 0)
			both_bytes(both, value + 16, 8); /* asked twice */
		else
			both_due(both);
		both_number(both, both_draw(both, 2));
		both_why(both);
	}
	both_guarded(both, caller);
}

static void do_cancel(struct both *both)
{
	struct caller *caller = both_caller(both, both_draw(both, 2));

	both_begin_guarded(both, "cancel", caller);
	for (unsigned i = both_some(both); i > 0; i--) {
		const char *id = both_id(both);

		both_number(both, both_draw(both, 3) ? 0 : 4);
		both_text(both, id);
		both_number(both, both_draw(both, 2) ? both_version(both, id) : 0);
	}
	both_guarded(both, caller);
}

static void do_move(struct both *both)
{
	struct caller *caller = both_caller(both, both_draw(both, 2));

	both_begin_guarded(both, "move", caller);
	for (unsigned i = both_some(both); i > 0; i--) {
		const char *id = both_id(both);

		both_number(both, both_draw(both, 3) ? 0 : 4);
		both_text(both, id);
		both_number(both, both_draw(both, 2) ? both_version(both, id) : 0);
		both_due(both);
		add_floor(both);
	}
	both_guarded(both, caller);
}

/* letter_ver: of some letter that is there; 0. */
struct pick {
	struct both *both;
	const char *id;
	uint64_t ver;
};

static void pick_letter(void *user, const struct keyspace_field *field)
{
	struct pick *pick = user;
	const char *key = field->key;

	if (strlen(key) == 8 && key[7] == 'd' && strcmp(field->name.at, pick->id) == 0 &&
	    (unsigned)(key[4] - '0') == pick->both->shard && both_draw(pick->both, 2))
		pick->ver = strtoull(field->name.at + strlen(pick->id) + 1, NULL, 10);
}

static uint64_t any_letter(struct both *both, const char *id)
{
	struct pick pick = {both, id, 0};

	if (both_draw(both, 2))
		keyspace_dump(both->keyspace, pick_letter, &pick);
	return pick.ver & ((UINT64_C(1) << 53) - 1);
}

static void do_requeue(struct both *both)
{
	struct caller *caller = both_caller(both, both_draw(both, 2));

	both_begin_guarded(both, "requeue", caller);
	for (unsigned i = both_some(both); i > 0; i--) {
		const char *id = both_id(both);

		both_text(both, id);
		both_number(both, any_letter(both, id));
		both_due(both);
		add_floor(both);
	}
	both_guarded(both, caller);
}

static void do_drop(struct both *both)
{
	struct caller *caller = both_caller(both, both_draw(both, 2));

	both_begin_guarded(both, "drop", caller);
	for (unsigned i = both_some(both); i > 0; i--) {
		const char *id = both_draw(both, 12) ? both_id(both) : "";

		both_text(both, id);
		both_number(both, any_letter(both, id));
	}
	both_guarded(both, caller);
}

static void do_forget(struct both *both)
{
	struct caller *caller = both_caller(both, true);

	both_begin_guarded(both, "forget", caller);
	both_number(both, both_draw(both, 12));
	both_number(both, (uint64_t)both->now - both_draw(both, 20000000));
	both_guarded(both, caller);
}

static void do_repush(struct both *both)
{
	struct caller *caller = both_caller(both, both_draw(both, 2));

	both_begin_guarded(both, "repush", caller);
	for (unsigned i = both_some(both); i > 0; i--) {
		const char *id = both_id(both);

		both_delivery(both, id);
		for (unsigned k = 0; k < 4; k++) /* state, retries, crashes, open */
			both_number(both, both_draw(both, k % 3 ? 256 : 2));
		both_due(both);
		both_body(both, id);
	}
	both_guarded(both, caller);
}

static void do_redelete(struct both *both)
{
	struct caller *caller = both_caller(both, true);

	both_begin_guarded(both, "redelete", caller);
	for (unsigned i = both_some(both); i > 0; i--) {
		both_text(both, both_id(both));
		both_number(both, both_time(both, 3000000, 0));
	}
	both_guarded(both, caller);
}

static void do_mend(struct both *both)
{
	struct caller *caller = both_caller(both, true);

	both_begin_guarded(both, "mend", caller);
	for (unsigned i = both_some(both); i > 0; i--)
		both_text(both, both_id(both));
	both_guarded(both, caller);
}

static void do_ack(struct both *both)
{
	struct caller *caller = both_caller(both, true);

	both_begin_guarded(both, "ack", caller);
	for (unsigned i = both_some(both); i > 0; i--) {
		both_text(both, both_id(both));
		both_number(both, both_time(both, 3000000, 0));
	}
	both_guarded(both, caller);
}

/* ---- What others do ------------------------------------------------------------------------ */

static void begin_plain(struct both *both, const char *word, const char *end)
{
	both_begin(both, word);
	both_key(both, end);
}

/* do_damage writes a value with a byte flipped, or cut off, or takes it away under its entry. */
static void do_damage(struct both *both)
{
	const char *id = both_id(both);
	unsigned char bytes[1024];
	size_t size;
	const unsigned char *value = both_stored(both, id, &size);

	if (!value || both->full)
		return;
	memcpy(bytes, value, size);
	if (both_draw(both, 4) == 0) {
		begin_plain(both, "HDEL", "h");
		both_text(both, id);
	} else {
		bytes[both_draw(both, size)] ^= (unsigned char)(1u << both_draw(both, 8));
		begin_plain(both, "HSET", "h");
		both_text(both, id);
		both_bytes(both, bytes,
			   both_draw(both, 4) ? size : 1 + (size_t)both_draw(both, size));
	}
	both_plainly(both);
}

/* do_tear takes an entry away under its value, or gives one to an id that has no value, or a value
 * to one that has no entry. */
static void do_tear(struct both *both)
{
	const char *id = both_id(both);
	const char *other = both_id(both);
	size_t size;
	const unsigned char *value = both_stored(both, other, &size);
	uint64_t dice = both_draw(both, 3);

	if (both->full)
		return;
	if (dice == 0) {
		begin_plain(both, "ZREM", "z");
		both_text(both, id);
	} else if (dice == 1) {
		begin_plain(both, "ZADD", "z");
		both_number(both, 1 + both_draw(both, 1000));
		both_text(both, id);
	} else if (value) {
		begin_plain(both, "HSET", "h");
		both_text(both, id);
		both_bytes(both, value, size);
	} else {
		return;
	}
	both_plainly(both);
}

/* do_forge writes a header that is sound and rare: counters at their ends, claims of others. */
static void do_forge(struct both *both)
{
	static const unsigned char counts[] = {0, 1, 254, 255};
	const char *id = both_id(both);
	unsigned char bytes[1024];
	size_t size;
	const unsigned char *value = both_stored(both, id, &size);

	if (!value || size < 42 || both->full)
		return;
	memcpy(bytes, value, size);
	bytes[0] = (unsigned char)both_draw(both, 2);
	bytes[1] = (unsigned char)both_draw(both, 2);
	bytes[2] = counts[both_draw(both, 4)];
	bytes[3] = counts[both_draw(both, 4)];
	bytes_put(bytes + 24, bytes[0] ? (uint64_t)both->now - both_draw(both, 1000) : 0, 8);
	bytes_put(bytes + 32, value_check(bytes, (uint32_t)bytes_get(bytes + 38, 4)), 4);
	begin_plain(both, "HSET", "h");
	both_text(both, id);
	both_bytes(both, bytes, size);
	both_plainly(both);
}

/* do_expire: a lease or a session ends. */
static void do_expire(struct both *both)
{
	char session[16];

	(void)snprintf(session, sizeof session, "s:%s", both_caller(both, false)->nonce);
	begin_plain(both, "DEL", both_draw(both, 2) ? "l" : session);
	both_plainly(both);
}

/* do_fill: the server has no memory left for a while. */
static void do_fill(struct both *both)
{
	both->full = !both->full && both_draw(both, 3) == 0;
	keyspace_refuse(both->keyspace, both->full ? KEYSPACE_FULL : KEYSPACE_ACCEPTS, NULL);
	freeReplyObject(both_command(both, "CONFIG SET maxmemory %d", both->full ? 1 : 0));
}

static void do_claim(struct both *both)
{
	do_delivery(both, "claim");
}

void both_step(struct both *both)
{
	static const struct {
		void (*fn)(struct both *);
		unsigned weight;
	} all[] = {
	    {do_put, 26},          {do_claim, 16},         {both_settle, 6},  {do_retry, 8},
	    {both_claim_known, 8}, {both_settle_known, 3}, {both_index, 4},   {both_tear_index, 3},
	    {both_topic_page, 6},  {both_bury, 8},         {do_cancel, 10},   {do_move, 10},
	    {do_requeue, 6},       {do_drop, 2},           {do_forget, 1},    {do_ack, 3},
	    {do_repush, 6},        {do_redelete, 3},       {both_inbox, 3},   {both_page, 6},
	    {both_dead_page, 2},   {both_status, 1},       {both_report, 1},  {both_purge, 1},
	    {both_acquire, 6},     {both_renew, 6},        {both_release, 1}, {both_session, 8},
	    {both_hand, 5},        {both_shard, 1},        {do_damage, 4},    {do_forge, 5},
	    {do_expire, 3},        {do_tear, 6},           {do_mend, 4},      {both_orphans, 3},
	    {both_types, 1},       {do_fill, 1},           {both_newer, 5},   {both_format, 2},
	    {both_replay, 10},     {both_confirm, 6},      {both_next, 8},    {both_ended, 4},
	    {both_keeps, 2},       {both_next_known, 8}};
	unsigned sum = 0;
	uint64_t dice;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		sum += all[i].weight;
	dice = both_draw(both, sum);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (dice < all[i].weight) {
			all[i].fn(both);
			return;
		}
		dice -= all[i].weight;
	}
}
