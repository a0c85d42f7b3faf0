/* lua/common/, function by function. Lua counts in doubles, so this does, too. */
#include "script_model/inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "timer/record.h"

#define WORD 4294967296.0
#define SCORE_MAX 9007199254740991.0

/* ---- Words --------------------------------------------------------------------------------- */

struct bytes text_of(const char *text)
{
	return (struct bytes){text, strlen(text)};
}

bool same(struct bytes a, struct bytes b)
{
	return a.at && b.at && a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

struct bytes arg(const struct run *run, int number)
{
	if (number > run->argc)
		return (struct bytes){NULL, 0};
	return (struct bytes){run->argv[number - 1], run->sizes[number - 1]};
}

double number_of(struct bytes text)
{
	char room[64];
	char *end;
	double number;

	if (!text.at || text.size == 0 || text.size >= sizeof room)
		return NAN;
	memcpy(room, text.at, text.size);
	room[text.size] = '\0';
	number = strtod(room, &end);
	return *end ? NAN : number;
}

struct bytes digits(double number, char *room)
{
	int size = snprintf(room, 32, "%.0f", number);

	return (struct bytes){room, (size_t)size};
}

/* ---- Values -------------------------------------------------------------------------------- */

double word_at(struct bytes bytes, size_t at)
{
	return (double)bytes_get((const unsigned char *)bytes.at + at, 4);
}

static double check(const struct words *w)
{
	return fmod(w->flags * 40503 + w->attempt * 52163 + w->v0 * 60497 + w->v1 * 39769 +
			w->d0 * 45503 + w->d1 * 57037 + w->c0 * 33923 + w->c1 * 63793 +
			w->crc * 50021 + 64951,
		    4294967291.0);
}

double byte_of(double flags, unsigned number)
{
	return (double)((uint32_t)flags >> (8 * number) & 0xff);
}

bool decode(struct bytes value, struct words *ret_words)
{
	struct words words;

	if (value.size < VALUE_MIN)
		return false;
	words = (struct words){word_at(value, 0),  word_at(value, 4),  word_at(value, 8),
			       word_at(value, 12), word_at(value, 16), word_at(value, 20),
			       word_at(value, 24), word_at(value, 28), word_at(value, 38)};
	if (byte_of(words.flags, 0) > 1 || word_at(value, 32) != check(&words))
		return false;
	*ret_words = words;
	return true;
}

struct bytes encode(const struct words *w, char *room)
{
	const double all[] = {w->flags, w->attempt, w->v0, w->v1,   w->d0,
			      w->d1,    w->c0,      w->c1, check(w)};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		bytes_put((unsigned char *)room + 4 * i, (uint64_t)all[i], 4);
	return (struct bytes){room, HEAD_SIZE};
}

double ver_of(const struct words *words)
{
	return words->v1 * WORD + words->v0;
}

double claim_of(const struct words *words)
{
	return words->c1 * WORD + words->c0;
}

double jump_of(const struct run *run, const struct words *words)
{
	struct bytes jump = key_text(run->meta, "jump");
	const char *colon = jump.at ? memchr(jump.at, ':', jump.size) : NULL;

	if (!colon || ver_of(words) > number_of((struct bytes){jump.at, (size_t)(colon - jump.at)}))
		return 0;
	return number_of((struct bytes){colon + 1, jump.size - (size_t)(colon + 1 - jump.at)});
}

void halves(double number, double *ret_low, double *ret_high)
{
	*ret_low = fmod(number, WORD);
	*ret_high = (number - *ret_low) / WORD;
}

double score_of(double d0, double d1)
{
	if (d1 >= 2147483648.0 || d0 + d1 == 0)
		return 1;
	return d1 >= 2097152 ? SCORE_MAX : d1 * WORD + d0;
}

void due_of(struct bytes due, double *ret_d0, double *ret_d1)
{
	*ret_d0 = word_at(due, 0);
	*ret_d1 = word_at(due, 4);
}

/* form_of the body of a value. */
static unsigned form_of(struct bytes value)
{
	return (unsigned char)value.at[HEAD_SIZE] % 16;
}

bool is_newer(struct bytes value)
{
	struct words words;

	return value.size >= VALUE_MIN + 4 && form_of(value) == 3 &&
	       memcmp(value.at + VALUE_MIN, "DWT", 3) == 0 &&
	       (unsigned char)value.at[VALUE_MIN + 3] > RECORD_VERSION && decode(value, &words);
}

/* record_in: the record of a value, if its sizes are those of a timer with a rule; or NULL. */
static const char *record_in(struct bytes value)
{
	enum { AT_RECORD_SIZE = 4, AT_NAMES = 12, AT_DATA_SIZE = 16, NUMBERS = 36 };
	const unsigned char *record = (const unsigned char *)value.at + VALUE_MIN;
	double size, at;

	if (value.size < VALUE_MIN + RECORD_HEADER_SIZE + 1 || form_of(value) != 3 ||
	    memcmp(record, "DWT\2", 4) != 0)
		return NULL;
	size = (double)bytes_get(record + AT_RECORD_SIZE, 4);
	at = RECORD_HEADER_SIZE + record[AT_NAMES] + record[AT_NAMES + 1];
	if (VALUE_MIN + size > (double)value.size ||
	    size - (double)bytes_get(record + AT_DATA_SIZE, 4) < at + 4 + NUMBERS)
		return NULL;
	return value.at + VALUE_MIN;
}

bool recurs(struct bytes value)
{
	const char *record = record_in(value);

	return record && record_recurs(record, record);
}

bool is_same(struct bytes a, struct bytes b)
{
	return record_in(a) && record_in(b) && record_recurs(record_in(a), record_in(b));
}

bool may_have_newer(const struct run *run)
{
	struct bytes format = key_text(run->meta, "format");

	return format.at && !(number_of(format) <= RECORD_VERSION); /* or no number */
}

bool is_open(struct bytes value)
{
	struct words words;

	return !decode(value, &words) || fmod(words.flags, 65536) != 0;
}

struct raw raw_of(struct bytes value)
{
	unsigned char room[32] = {0};

	memcpy(room, value.at, value.size < sizeof room ? value.size : sizeof room);
	return (struct raw){.state = room[0],
			    .open = room[1],
			    .ver = (double)bytes_get(room + 8, 8),
			    .claim = (double)bytes_get(room + 24, 8)};
}

bool client_cancels(struct bytes value, bool *ret_open)
{
	struct words words;
	struct raw raw;

	if (!decode(value, &words)) {
		raw = raw_of(value);
		*ret_open = raw.state != 0 || raw.open != 0 || raw.claim != 0;
		return false;
	}
	*ret_open = fmod(words.flags, 65536) >= 256;
	if (byte_of(words.flags, 0) == 1 && recurs(value)) {
		*ret_open = true;
		return false;
	}
	return byte_of(words.flags, 0) == 1;
}

void store_value(struct run *run, struct bytes id, struct bytes header, struct bytes body)
{
	char *room = malloc(header.size + body.size);

	if (!room)
		abort();
	memcpy(room, header.at, header.size);
	if (body.size > 0)
		memcpy(room + header.size, body.at, body.size);
	key_set(run->model, run->values, id, (struct bytes){room, header.size + body.size});
	free(room);
}

void store(struct run *run, struct bytes id, struct bytes header, struct bytes body)
{
	char before_room[MEMBER_ROOM], room[MEMBER_ROOM];
	struct bytes value = key_value(run->values, id);
	struct bytes before = value;
	struct bytes now;

	if (value.at)
		before = member_of(id, value, before_room);
	store_value(run, id, header, body);
	now = member_of(id, key_value(run->values, id), room);
	if (before.at && !same(before, now))
		(void)key_remove(run->model, run->index, before); /* perhaps it is not there */
	key_set_score(run->model, run->index, now, 0);
}

void remove_timer(struct run *run, struct bytes id)
{
	member_remove(run, id);
	(void)key_remove(run->model, run->timers, id); /* perhaps it is not there */
	(void)key_remove(run->model, run->values, id);
}

char *told_value(struct bytes value, struct bytes why, size_t *ret_size)
{
	unsigned char form = (unsigned char)value.at[HEAD_SIZE];
	size_t tail = form & 16 ? 1u + (unsigned char)value.at[value.size - 1] : 0;
	size_t size = value.size;
	char *room = malloc(value.size + why.size + 1);

	if (!room)
		abort();
	/* A damaged size may name more than the body has. Its form stays. */
	size = size > HEAD_SIZE + 1 + tail ? size - tail : HEAD_SIZE + 1;
	memcpy(room, value.at, size);
	form = (unsigned char)(form & ~16u);
	if (why.size > 0) {
		memcpy(room + size, why.at, why.size);
		size += why.size;
		room[size++] = (char)(unsigned char)why.size;
		form += 16;
	}
	room[HEAD_SIZE] = (char)form;
	*ret_size = size;
	return room;
}

void store_told(struct run *run, struct bytes id, struct bytes header, struct bytes value,
		struct bytes why)
{
	size_t size;
	char *told = told_value(value, why, &size);

	store(run, id, header, (struct bytes){told + HEAD_SIZE, size - HEAD_SIZE});
	free(told);
}

void set_rank(struct run *run, struct bytes id, const struct words *words)
{
	double score = score_of(words->d0, words->d1);

	key_set_score(run->model, run->timers, id, byte_of(words->flags, 0) == 1 ? -score : score);
}

/* ---- Versions ------------------------------------------------------------------------------ */

double congruent(const struct run *run, double least)
{
	double left = fmod(run->shard - least, run->shards);

	return least + (left < 0 ? left + run->shards : left);
}

double next_ver(struct run *run, double floor)
{
	double base = run->now;

	if (floor >= run->now - 2000000 && floor <= run->now + AHEAD) /* not NAN */
		base = floor;
	run->last = congruent(run, base > run->last ? base : run->last + 1);
	return run->last;
}

/* ---- Guards -------------------------------------------------------------------------------- */

void begin(struct run *run, struct bytes ver, struct bytes count)
{
	const char *colon = strrchr(run->lease->name, '}');

	run->now = (double)run->model->now;
	run->first = ver.at ? number_of(ver) : 0;
	run->last = run->first;
	while (colon && *colon != ':')
		colon--;
	run->shard = colon ? strtod(colon + 1, NULL) : 0;
	run->shards = number_of(count);
}

bool owner_enters(struct run *run)
{
	struct bytes era = key_text(run->meta, "era");
	struct bytes mark = key_text(run->meta, "mark");
	struct bytes ver = key_text(run->meta, "ver");
	double known = ver.at ? number_of(ver) : 0;

	if (!same(key_string(run->lease), arg(run, 2)) &&
	    (run->model->bug != MODEL_ANY_TOKEN || !key_string(run->lease).at)) {
		refuse(run, "FENCED", (struct bytes){NULL, 0});
		return false;
	}
	if (!same(era, arg(run, 3))) {
		refuse(run, "ERA", era.at ? era : text_of(""));
		return false;
	}
	if (number_of(mark) != number_of(arg(run, 4)) - 1 && run->model->bug != MODEL_ANY_TOKEN) {
		refuse(run, "MARK", mark.at ? mark : text_of(""));
		return false;
	}
	if (number_of(arg(run, 6)) > known) {
		refuse(run, "ERA", era);
		return false;
	}
	run->fence = strtod(arg(run, 2).at, NULL);
	begin(run, ver, key_text(run->meta, "shards"));
	return true;
}

static bool client_enters(struct run *run)
{
	struct bytes conn = key_text(run->session, "conn");
	struct bytes last = key_text(run->session, "last");
	struct bytes shards = key_text(run->meta, "shards");

	if ((!same(conn, arg(run, 2)) && (run->model->bug != MODEL_ANY_TOKEN || !conn.at)) ||
	    !shards.at || (arg(run, 3).size > 0 && !same(shards, arg(run, 3)))) {
		refuse(run, "NOSESSION", (struct bytes){NULL, 0});
		return false;
	}
	if (number_of(last) != number_of(arg(run, 4)) - 1 && run->model->bug != MODEL_ANY_TOKEN) {
		refuse(run, "MARK", last.at ? last : text_of(""));
		return false;
	}
	begin(run, key_text(run->meta, "ver"), shards);
	return true;
}

bool enter(struct run *run)
{
	return run->owner ? owner_enters(run) : client_enters(run);
}

void touch(struct run *run)
{
	key_expire(run->model, run->owner ? run->lease : run->session, number_of(arg(run, 5)));
}

void use_up(struct run *run)
{
	char room[32];

	if (run->last != run->first)
		key_set_text(run->model, run->meta, "ver", digits(run->last, room));
	if (run->owner)
		key_set_text(run->model, run->meta, "mark", arg(run, 4));
	else
		key_set_text(run->model, run->session, "last", arg(run, 4));
}

bool no_room(struct run *run)
{
	if (run->model->full)
		fail(run, "OOM command not allowed when used memory > 'maxmemory'.");
	return run->model->full;
}

void post(struct run *run, struct bytes id, double score)
{
	key_set_score(run->model, run->inbox, id, score);
	run->news = true;
}

void leave(struct run *run)
{
	struct bytes channel = arg(run, 6);

	use_up(run);
	if (run->news && !run->owner && channel.size > 0)
		(void)publish(run, channel); /* or nobody hears it */
}

unsigned publish(struct run *run, struct bytes channel)
{
	struct script_model *model = run->model;

	if (!model->heard)
		return 0;
	return model->heard(model->heard_user, channel.at, channel.size, (long long)run->shard);
}

bool left_open(const struct run *run, struct bytes id)
{
	const struct entry *entry = key_find(run->inbox, id);

	return entry && entry->score < 0;
}

struct bytes letter_name(struct bytes id, double ver, char *room)
{
	size_t size = id.size < 300 ? id.size : 300;
	int more;

	memcpy(room, id.at, size);
	room[size] = '\0';
	more = snprintf(room + size + 1, NAME_ROOM - size - 1, "%016.0f", ver);
	return (struct bytes){room, size + 1 + (size_t)more};
}

/* ---- Replies ------------------------------------------------------------------------------- */

static struct reply *item(struct run *run, size_t at)
{
	return &run->reply->items[at];
}

void say(struct run *run, struct reply *reply, struct bytes bytes)
{
	if (!bytes.at)
		*reply = (struct reply){.kind = REPLY_NIL};
	else if (!reply_bytes(run->reply, reply, REPLY_BULK, bytes.at, bytes.size))
		abort();
}

void say_number(struct reply *reply, double number)
{
	*reply = (struct reply){.kind = REPLY_INTEGER, .integer = (int64_t)number};
}

void fail(struct run *run, const char *words)
{
	if (!reply_bytes(run->reply, run->reply, REPLY_ERROR, words, strlen(words)))
		abort();
}

void answer_ok(struct run *run, size_t items)
{
	if (!reply_items(run->reply, run->reply, 1 + items))
		abort();
	say(run, item(run, 0), text_of("OK"));
}

void item_code(struct run *run, size_t at, int code)
{
	say_number(item(run, at), code);
}

void item_bytes(struct run *run, size_t at, struct bytes bytes)
{
	say(run, item(run, at), bytes);
}

void item_pair(struct run *run, size_t at, int code, struct bytes value)
{
	struct reply *pair = item(run, at);

	if (!reply_items(run->reply, pair, 2))
		abort();
	say_number(&pair->items[0], code);
	say(run, &pair->items[1], value);
}

void refuse(struct run *run, const char *word, struct bytes text)
{
	if (!reply_items(run->reply, run->reply, text.at ? 2 : 1))
		abort();
	say(run, item(run, 0), text_of(word));
	if (text.at)
		say(run, item(run, 1), text);
}

/* ---- Changes that wait for an owner that fires while it is cut off --------------------------- */

bool must_wait(const struct run *run)
{
	return !run->owner && key_text(run->meta, "fire").at &&
	       run->model->bug != MODEL_CANCEL_SURE;
}

void item_wait(struct run *run, size_t at, double ver, int code)
{
	struct bytes fence = key_text(run->meta, "fence");
	char version[32];
	char text[80];
	int size;

	(void)digits(fabs(ver), version);
	size = snprintf(text, sizeof text, "%s:%.*s:%d", version, (int)fence.size, fence.at, code);
	item_pair(run, at, WAIT_CODE, (struct bytes){text, (size_t)size});
}

static struct bytes cut(struct bytes *left, char end)
{
	const char *at = memchr(left->at, end, left->size);
	struct bytes part = {left->at, (size_t)(at - left->at)};

	left->size -= part.size + 1;
	left->at = at + 1;
	return part;
}

bool late_next(struct bytes *left, struct late_change *ret_change)
{
	if (!left->at || left->size == 0)
		return false;
	ret_change->ver = (struct bytes){left->at, strspn(left->at, "0123456789")};
	ret_change->gone = left->at[ret_change->ver.size] == ';';
	(void)cut(left, ret_change->gone ? ';' : ':');
	ret_change->id = cut(left, '\n');
	return true;
}
