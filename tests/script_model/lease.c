/* acquire.lua, renew.lua, release.lua, session.lua, status.lua, types.lua, report.lua,
 * purge.lua. */
#include "script_model/inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timer/record.h"

static struct bytes or_empty(struct bytes bytes)
{
	return bytes.at ? bytes : text_of("");
}

/* array replies so many items. */
static struct reply *array(struct run *run, size_t count)
{
	answer_ok(run, count - 1);
	return run->reply->items;
}

/* told: a fence, or a token, as a refusal tells it. */
static struct bytes told(const struct run *run, struct bytes number)
{
	bool planted = run->model->bug == MODEL_LOWER_FENCE && number.size > 0;

	return planted ? text_of("9007199254740991:other:1") : number;
}

static void held(struct run *run, struct reply *items, struct bytes token)
{
	say(run, &items[0], text_of("HELD"));
	say(run, &items[1], told(run, token));
	say_number(&items[2], token.size > 0 ? (double)key_ttl(run->model, run->lease) : 0);
	say(run, &items[3], or_empty(key_text(run->meta, "holder")));
}

/* stand notes a caller that stands by, every 2 s, if there is memory. */
static void stand(struct run *run)
{
	struct bytes stood = key_text(run->meta, "stood");
	double now = (double)run->model->now;
	char text[32];

	if (run->model->full || !same(arg(run, 11), text_of("1")) ||
	    !key_text(run->meta, "fence").at ||
	    fabs(now - (stood.at ? number_of(stood) : 0)) <= 2e6)
		return;
	key_set_text(run->model, run->meta, "standby", arg(run, 5));
	key_set_text(run->model, run->meta, "stood", digits(now, text));
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static void set(struct run *run, const char *field, struct bytes value)
{
	key_set_text(run->model, run->meta, field, value);
}

static void set_token(struct run *run, struct bytes token, struct bytes ttl)
{
	key_set_string(run->model, run->lease, token);
	key_expire(run->model, run->lease, number_of(ttl));
}

/* token_of writes "number:nonce:conn". */
static struct bytes token_of(struct run *run, struct bytes number, char *room, size_t size)
{
	struct bytes nonce = arg(run, 1);
	struct bytes conn = arg(run, 2);
	int written = snprintf(room, size, "%.*s:%.*s:%.*s", (int)number.size, number.at,
			       (int)nonce.size, nonce.at, (int)conn.size, conn.at);

	return (struct bytes){room, (size_t)written};
}

/* is_of: the token has that nonce. */
static bool is_of(struct bytes token, struct bytes nonce)
{
	const char *colon = token.at ? strchr(token.at, ':') : NULL;

	return colon && strncmp(colon + 1, nonce.at, nonce.size) == 0 &&
	       colon[1 + nonce.size] == ':';
}

/* renumber: what clients have written into the emptied shard is later than what its owner knows. */
static void renumber(struct run *run, char *ver)
{
	size_t count = run->inbox->count;
	struct entry *written;

	if (count == 0)
		return;
	written = alloc_new(&run->model->alloc, count * sizeof *written);
	if (!written)
		abort();
	memcpy(written, run->inbox->entries, count * sizeof *written); /* to write moves them */
	begin(run, text_of(ver), arg(run, 6));
	for (size_t i = 0; i < count; i++) {
		struct bytes id = entry_name(&written[i]);
		struct bytes value = key_value(run->values, id);
		struct words words;
		char room[HEAD_SIZE];

		(void)next_ver(run, NAN);
		if (value.at && decode(value, &words)) {
			halves(run->last, &words.v0, &words.v1);
			store_value(run, id, encode(&words, room),
				    (struct bytes){value.at + HEAD_SIZE, value.size - HEAD_SIZE});
		}
		key_set_score(run->model, run->inbox, id,
			      written[i].score < 0 ? -run->last : run->last);
	}
	alloc_free(&run->model->alloc, written);
	(void)digits(run->last, ver);
}

static void set_jump(struct run *run, const char *ver)
{
	struct bytes before = key_text(run->meta, "jump");
	const char *colon = before.at ? memchr(before.at, ':', before.size) : NULL;
	long step = colon ? strtol(colon + 1, NULL, 10) : 0;
	char text[64];

	(void)snprintf(text, sizeof text, "%s:%ld", ver, step + 16);
	set(run, "jump", text_of(text));
}

/* note_fire: whether this owner fires while it is cut off, and whether the last one did. */
static void note_fire(struct run *run, const char *ver)
{
	struct bytes before = key_text(run->meta, "fire");

	if (before.at && !same(before, arg(run, 1)) && run->model->bug != MODEL_NO_JUMP)
		set_jump(run, ver);
	if (same(arg(run, 10), text_of("1")))
		set(run, "fire", arg(run, 1));
	else
		(void)key_remove(run->model, run->meta, text_of("fire"));
	(void)key_remove(run->model, run->meta, text_of("late"));
}

/* drop_journals: those that have replayed nothing for 90 days. */
static void drop_journals(struct run *run)
{
	double oldest = (double)run->model->now - (double)DW_DAYS(90);

	for (size_t i = run->meta->count; i-- > 0;) {
		const struct entry *entry = &run->meta->entries[i];

		if (entry->name_size > 2 && memcmp(entry->name, "j:", 2) == 0 &&
		    number_of(entry_value(entry)) < oldest)
			(void)key_remove(run->model, run->meta, entry_name(entry));
	}
}

static void take(struct run *run)
{
	struct bytes fence = key_text(run->meta, "fence");
	struct bytes last = key_text(run->meta, "ver");
	double time = (double)run->model->now;
	double floor = number_of(arg(run, 4));
	char number[32];
	char ver[32];
	char now[32];
	char token[256];
	struct bytes made;
	bool again = arg(run, 9).size > 0;
	bool is_own = again || is_of(key_string(run->lease), arg(run, 1));
	struct bytes shards = key_text(run->meta, "shards");
	char before[32] = "", last_fence[32];
	char format[32];

	(void)snprintf(last_fence, sizeof last_fence, "%.*s", fence.at ? (int)fence.size : 1,
		       fence.at ? fence.at : "0");
	if (shards.at)
		(void)snprintf(before, sizeof before, "%.*s", (int)shards.size, shards.at);
	(void)digits(larger(larger((fence.at ? number_of(fence) : 0) + 1, time), floor), number);
	(void)digits(larger(last.at ? number_of(last) : 0, floor), ver);
	if (again && !same(key_text(run->meta, "era"), arg(run, 9)))
		renumber(run, ver);
	made = token_of(run, text_of(number), token, sizeof token);
	set_token(run, made, arg(run, 3));
	set(run, "fence", text_of(number));
	set(run, "before", text_of(last_fence));
	set(run, "ver", text_of(ver));
	set(run, "mark", text_of("0"));
	set(run, "holder", arg(run, 5));
	(void)key_remove(run->model, run->meta, text_of("standby"));
	(void)key_remove(run->model, run->meta, text_of("stood"));
	set(run, "since", digits(time, now));
	set(run, "shards", arg(run, 6));
	set(run, "conn", arg(run, 2));
	set(run, "format", digits(RECORD_VERSION, format));
	if (!key_text(run->meta, "era").at)
		set(run, "era", arg(run, 7));
	note_fire(run, ver);
	drop_journals(run);
	answer_ok(run, 8);
	item_bytes(run, 8, or_empty(key_text(run->meta, "jump")));
	item_bytes(run, 1, made);
	item_bytes(run, 2, key_text(run->meta, "era"));
	item_bytes(run, 3, text_of(ver));
	item_bytes(run, 4, text_of(now));
	item_code(run, 5, (int)run->inbox->count);
	item_code(run, 6, (int)run->dead->count);
	item_bytes(run, 7, text_of(before));
	if (!is_own)
		key_clear(run->model, run->inbox); /* it reads all */
}

/* has_other_fence: another owner was here since the caller saw the shard. */
static bool has_other_fence(const struct run *run)
{
	struct bytes seen = arg(run, 12);

	return arg(run, 9).size > 0 && seen.size > 0 &&
	       same(key_text(run->meta, "era"), arg(run, 9)) &&
	       !same(key_text(run->meta, "fence"), seen);
}

void model_acquire(struct run *run)
{
	struct bytes token = key_string(run->lease);
	struct bytes shards = key_text(run->meta, "shards");
	struct bytes fence = key_text(run->meta, "fence");
	bool stands = arg(run, 9).size > 0 && !fence.at;

	if (has_other_fence(run) || (token.at && !same(token, arg(run, 8)))) {
		struct reply *items = array(run, 6);

		held(run, items, or_empty(token));
		say(run, &items[4], or_empty(key_text(run->meta, "era")));
		say(run, &items[5], fence.at ? fence : text_of("0"));
		if (token.at)
			stand(run);
	} else if (may_have_newer(run))
		refuse(run, "NEWER", key_text(run->meta, "format"));
	else if (shards.at && !same(shards, arg(run, 6)) && !stands)
		refuse(run, "SHARDS", shards);
	else
		take(run);
}

/* conn_of: the digits at the end of the new token. */
static struct bytes conn_of(const struct run *run)
{
	struct bytes token = arg(run, 2);
	size_t at = token.size;

	while (at > 0 && token.at[at - 1] >= '0' && token.at[at - 1] <= '9')
		at--;
	return (struct bytes){token.at + at, token.size - at};
}

static double or_zero(struct bytes number)
{
	return number.size > 0 ? number_of(number) : 0;
}

/* is_outdated: a later connection of the owner has had the lease, which ran out. */
static bool is_outdated(const struct run *run)
{
	struct bytes last = key_text(run->meta, "conn");

	return !key_string(run->lease).at && or_zero(conn_of(run)) < or_zero(last);
}

static void renewed(struct run *run)
{
	char now[32];

	key_expire(run->model, run->lease, number_of(arg(run, 3)));
	if (!same(key_string(run->lease), arg(run, 2))) {
		set_token(run, arg(run, 2), arg(run, 3));
		set(run, "conn", conn_of(run));
	}
	forget_ends(run);
	answer_ok(run, 9);
	item_bytes(run, 1, or_empty(key_text(run->meta, "mark")));
	item_bytes(run, 2, or_empty(key_text(run->meta, "ver")));
	item_bytes(run, 3, digits((double)run->model->now, now));
	item_code(run, 4, (int)run->inbox->count);
	item_code(run, 5, (int)run->dead->count);
	item_code(run, 6, (int)run->timers->count);
	item_code(run, 7, (int)run->values->count);
	item_bytes(run, 8, text_of("0"));
	item_code(run, 9, (int)run->index->count);
}

/* was_last: nobody has had the lease since the old token. */
static bool was_last(const struct run *run)
{
	struct bytes old = arg(run, 1);
	struct bytes fence = key_text(run->meta, "fence");

	old.size = strspn(old.at, "0123456789");
	return same(fence, old) && key_text(run->meta, "holder").at;
}

void model_renew(struct run *run)
{
	struct bytes token = key_string(run->lease);
	struct bytes era = key_text(run->meta, "era");
	struct bytes fence = key_text(run->meta, "fence");
	bool mine = same(token, arg(run, 1)) || same(token, arg(run, 2));
	struct reply *items;

	if (token.at && !mine) {
		items = array(run, 5);
		held(run, items, token);
		say(run, &items[4], or_empty(era));
	} else if ((!mine && !was_last(run)) || !same(era, arg(run, 4))) {
		items = array(run, 3);
		say(run, &items[0], text_of("ERA"));
		say(run, &items[1], or_empty(era));
		if (fence.at)
			say(run, &items[2], told(run, fence));
		else
			say_number(&items[2], 0);
	} else if (is_outdated(run)) {
		items = array(run, 5);
		held(run, items, text_of(""));
		say_number(&items[2], 0);
		say(run, &items[4], era);
	} else {
		renewed(run);
	}
}

/* model_topic_list: in the model no topic has settings. */
void model_topic_list(struct run *run)
{
	answer_ok(run, 1);
	item_code(run, 1, 0);
}

void model_topic_changes(struct run *run)
{
	answer_ok(run, 2);
	item_bytes(run, 1, text_of("0"));
	item_code(run, 2, 1);
}

void model_release(struct run *run)
{
	bool mine = same(key_string(run->lease), arg(run, 1));

	answer_ok(run, 1);
	item_code(run, 1, mine);
	if (!mine)
		return;
	if (arg(run, 2).at && arg(run, 2).size > 0)
		set(run, "format", arg(run, 2));
	(void)key_remove(run->model, run->meta, text_of("holder"));
	(void)key_remove(run->model, run->meta, text_of("fire"));
	key_clear(run->model, run->lease);
}

static void live_on(struct run *run, struct bytes count)
{
	struct bytes last = key_text(run->session, "last");
	struct bytes conn = key_text(run->session, "conn");
	struct bytes first = key_text(run->session, "first");
	char now[32];

	answer_ok(run, 6);
	item_bytes(run, 6, first.at ? first : arg(run, 1));
	item_bytes(run, 5, conn.at ? conn : text_of("0"));
	item_bytes(run, 1, last.at ? last : text_of("0"));
	item_bytes(run, 2, or_empty(key_text(run->meta, "ver")));
	item_bytes(run, 3, digits((double)run->model->now, now));
	item_bytes(run, 4, count);
	if (!last.at)
		key_set_text(run->model, run->session, "last", text_of("0"));
	if (!first.at)
		key_set_text(run->model, run->session, "first", arg(run, 1));
	key_set_text(run->model, run->session, "conn", arg(run, 1));
	key_set_text(run->model, run->session, "who", or_empty(arg(run, 6)));
	key_expire(run->model, run->session, number_of(arg(run, 2)));
	if (!key_text(run->meta, "shards").at && count.size > 0)
		set(run, "shards", count);
}

static void say_new(struct run *run)
{
	struct bytes channel = arg(run, 5);
	struct reply *items = array(run, 2);

	begin(run, (struct bytes){NULL, 0}, (struct bytes){NULL, 0}); /* which shard it is */
	say(run, &items[0], text_of("NEW"));
	say_number(&items[1], channel.size > 0 ? publish(run, channel) : 0);
}

void model_session(struct run *run)
{
	struct bytes conn = key_text(run->session, "conn");
	struct bytes count = key_text(run->meta, "shards");
	bool fixed = count.at != NULL;

	if (!fixed)
		count = arg(run, 3);
	if (conn.at && number_of(conn) > number_of(arg(run, 1)))
		refuse(run, "NOSESSION", (struct bytes){NULL, 0});
	else if (arg(run, 3).size > 0 && !same(count, arg(run, 3)))
		refuse(run, "SHARDS", count);
	else if (arg(run, 3).size > 0 && !fixed && !same(arg(run, 4), text_of("1")))
		say_new(run);
	else
		live_on(run, count);
}

void model_status(struct run *run)
{
	static const char *const fields[] = {"holder", "since", "seen", "report", "shards"};
	struct bytes stood = key_text(run->meta, "stood");
	struct reply *items = array(run, 13);
	const struct key *timers = run->timers;
	char next[32];
	size_t claimed = 0;

	while (claimed < timers->count && timers->entries[claimed].score < 0)
		claimed++;
	say_number(&items[0], (double)(timers->count - claimed));
	say_number(&items[1], (double)claimed);
	say_number(&items[2], (double)run->dead->count);
	say_number(&items[3], (double)run->inbox->count);
	items[4] = (struct reply){.kind = REPLY_NIL};
	if (claimed < timers->count)
		say(run, &items[4], digits(timers->entries[claimed].score, next));
	say(run, &items[5], key_string(run->lease));
	say_number(&items[6], (double)key_ttl(run->model, run->lease));
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		say(run, &items[7 + i], key_text(run->meta, fields[i]));
	items[12] = (struct reply){.kind = REPLY_NIL};
	if (stood.at && fabs((double)run->model->now - number_of(stood)) < 5e6)
		say(run, &items[12], key_text(run->meta, "standby"));
}

void model_types(struct run *run)
{
	static const char *const types[] = {[KIND_NONE] = "none",
					    [KIND_STRING] = "string",
					    [KIND_HASH] = "hash",
					    [KIND_SORTED] = "zset"};
	const struct key *keys[] = {run->lease,   run->meta,  run->timers,  run->values,
				    run->inbox,   run->dead,  run->letters, run->names,
				    run->session, run->index, run->ends,    run->untils};
	struct reply *items = array(run, 12);

	for (size_t i = 0; i < 12; i++)
		say(run, &items[i], text_of(types[keys[i]->kind]));
}

void model_report(struct run *run)
{
	if (!owner_enters(run))
		return;
	touch(run);
	set(run, "report", arg(run, 7));
	set(run, "seen", arg(run, 8));
	leave(run);
	answer_ok(run, 0);
}

void model_purge(struct run *run)
{
	struct key *all[] = {run->timers, run->values, run->inbox, run->dead,  run->letters,
			     run->names,  run->index,  run->ends,  run->untils};

	if (!owner_enters(run))
		return;
	answer_ok(run, 1);
	item_code(run, 1, (int)(run->values->count + run->dead->count));
	touch(run);
	if (may_have_newer(run))
		item_bytes(run, 1, text_of("NEWER"));
	for (size_t i = 0; !may_have_newer(run) && i < sizeof all / sizeof *all; i++)
		key_clear(run->model, all[i]);
	leave(run);
}
