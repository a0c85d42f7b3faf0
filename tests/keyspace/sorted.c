/* Commands of sorted sets. */
#include "keyspace/inside.h"

#include <stdint.h>

#define NOT_A_FLOAT "ERR min or max is not a float"
#define NOT_A_STRING "ERR min or max not valid string range item"
#define LIMIT_BY_PLACE                                                                             \
	"ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"
#define NOT_AN_INTEGER "ERR value is not an integer or out of range"

static const struct bytes nothing = {NULL, 0};

static void add_bytes(const struct call *call, struct bytes bytes, int number)
{
	(void)answer_bytes(call, bytes); /* it always pushes a value */
	lua_rawseti(call->lua, -2, number);
}

static struct bytes score_or_nothing(const struct key *key, struct bytes name, char room[32])
{
	const struct entry *entry = key_entry(key, name);

	return entry ? score_text(entry->score, room) : nothing;
}

/* ---- One member ---------------------------------------------------------------------------- */

struct zadd {
	bool nx, xx, ch;
	int at; /* the index of the first score */
};

static bool read_zadd(const struct call *call, struct zadd *zadd)
{
	double score;

	for (zadd->at = 2; zadd->at < call->count; zadd->at++)
		if (bytes_are(call->words[zadd->at], "NX"))
			zadd->nx = true;
		else if (bytes_are(call->words[zadd->at], "XX"))
			zadd->xx = true;
		else if (bytes_are(call->words[zadd->at], "CH"))
			zadd->ch = true;
		else
			break;
	if (zadd->at == call->count || (call->count - zadd->at) % 2 != 0)
		return answer_syntax(call);
	if (zadd->nx && zadd->xx)
		return answer_error(call,
				    "ERR XX and NX options at the same time are not compatible");
	for (int i = zadd->at; i < call->count; i += 2)
		if (!score_of(call->words[i], &score))
			return answer_error(call, "ERR value is not a valid float");
	return true;
}

/* add adds or changes a member. Returns 1 if the answer of ZADD counts the member, else 0. */
static int add(const struct call *call, struct key *key, const struct zadd *zadd, int at)
{
	struct bytes name = call->words[at + 1];
	const struct entry *entry = key_entry(key, name);
	double score = 0;

	(void)score_of(call->words[at], &score); /* it was checked before */
	if (entry ? zadd->nx || entry->score == score : zadd->xx)
		return 0;
	return key_rank(call->keyspace, key, name, score) || zadd->ch;
}

static bool run_zadd(const struct call *call)
{
	struct zadd zadd = {0};
	struct key *key;
	int count = 0;

	if (!read_zadd(call, &zadd) || !call_key(call, 1, KIND_SORTED, &key))
		return false;
	if (!key && zadd.xx)
		return answer_integer(call, 0);
	key = key_make(call->keyspace, call->words[1], KIND_SORTED);
	for (int i = zadd.at; i < call->count; i += 2)
		count += add(call, key, &zadd, i);
	return answer_integer(call, count);
}

static bool run_zscore(const struct call *call)
{
	struct key *key;
	char room[32];

	return call_key(call, 1, KIND_SORTED, &key) &&
	       answer_bytes(call, score_or_nothing(key, call->words[2], room));
}

static bool run_zmscore(const struct call *call)
{
	struct key *key;
	char room[32];

	if (!call_key(call, 1, KIND_SORTED, &key))
		return false;
	lua_createtable(call->lua, call->count - 2, 0);
	for (int i = 2; i < call->count; i++)
		add_bytes(call, score_or_nothing(key, call->words[i], room), i - 1);
	return true;
}

static bool answer_rank(const struct call *call, bool reverse)
{
	const struct entry *entry;
	struct key *key;
	size_t rank;

	if (!call_key(call, 1, KIND_SORTED, &key))
		return false;
	entry = key_entry(key, call->words[2]);
	if (!entry)
		return answer_bytes(call, nothing);
	rank = key_place(key, entry->score, call->words[2]);
	return answer_integer(call, (double)(reverse ? key->count - 1 - rank : rank));
}

static bool run_zrank(const struct call *call)
{
	return answer_rank(call, false);
}

static bool run_zrevrank(const struct call *call)
{
	return answer_rank(call, true);
}

/* ---- Ranges -------------------------------------------------------------------------------- */

/* A range of places in key->order, [from, to). */
struct range {
	enum { BY_PLACE, BY_SCORE, BY_NAME } by;
	bool reverse, has_scores;
	int64_t offset, limit; /* a negative limit means no limit */
	size_t from, to;
};

/* count_below returns the number of members with a lower score. `inclusive` also counts those with
 * this score. */
static size_t count_below(const struct key *key, double score, bool inclusive)
{
	size_t low = 0;
	size_t high = key ? key->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		double found = key->order[middle]->score;

		if (found < score || (inclusive && found == score))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* count_before returns the number of members with a lower name. `inclusive` also counts the member
 * with this name. All scores must be equal. */
static size_t count_before(const struct key *key, struct bytes name, bool inclusive)
{
	size_t low = 0;
	size_t high = key ? key->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = bytes_compare(entry_name(key->order[middle]), name);

		if (order < 0 || (inclusive && order == 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* place_of_score finds the first index of a range that begins with this bound, or the index after a
 * range that ends with it. Returns false if the bound is invalid. */
static bool place_of_score(const struct key *key, struct bytes bound, bool ends, size_t *ret_place)
{
	bool open = bound.size > 0 && bound.at[0] == '(';
	double score;

	if (open)
		bound = (struct bytes){bound.at + 1, bound.size - 1};
	if (!score_of(bound, &score))
		return false;
	*ret_place = count_below(key, score, ends != open);
	return true;
}

static bool place_of_name(const struct key *key, struct bytes bound, bool ends, size_t *ret_place)
{
	char sign = bound.size > 0 ? bound.at[0] : '\0';
	struct bytes name = {bound.at + 1, bound.size - 1};

	if (bound.size == 1 && (sign == '-' || sign == '+'))
		*ret_place = sign == '+' && key ? key->count : 0;
	else if (sign == '[' || sign == '(')
		*ret_place = count_before(key, name, ends != (sign == '('));
	else
		return false;
	return true;
}

static bool read_places(const struct call *call, const struct key *key, struct range *range)
{
	int64_t count = key ? (int64_t)key->count : 0;
	int64_t from, to;

	if (!integer_of(call->words[2], &from) || !integer_of(call->words[3], &to))
		return answer_error(call, NOT_AN_INTEGER);
	from = from < 0 ? from + count : from;
	to = to < 0 ? to + count : to;
	from = from < 0 ? 0 : from > count ? count : from;
	to = to < from ? from : to >= count ? count : to + 1;
	range->from = (size_t)(range->reverse ? count - to : from);
	range->to = (size_t)(range->reverse ? count - from : to);
	return true;
}

static bool read_bounds(const struct call *call, const struct key *key, struct range *range)
{
	bool by_score = range->by == BY_SCORE;
	struct bytes least = call->words[range->reverse ? 3 : 2];
	struct bytes most = call->words[range->reverse ? 2 : 3];
	bool (*place)(const struct key *, struct bytes, bool, size_t *) =
	    by_score ? place_of_score : place_of_name;

	if (range->by == BY_PLACE)
		return read_places(call, key, range);
	if (!place(key, least, false, &range->from) || !place(key, most, true, &range->to))
		return answer_error(call, by_score ? NOT_A_FLOAT : NOT_A_STRING);
	return true;
}

static bool read_options(const struct call *call, struct range *range)
{
	range->limit = -1;
	for (int i = 4; i < call->count; i++) {
		struct bytes word = call->words[i];

		if (bytes_are(word, "WITHSCORES") && range->by != BY_NAME) {
			range->has_scores = true;
		} else if (bytes_are(word, "BYSCORE") && bytes_are(call->words[0], "ZRANGE")) {
			range->by = BY_SCORE;
		} else if (bytes_are(word, "LIMIT") && i + 2 < call->count) {
			if (!integer_of(call->words[i + 1], &range->offset) ||
			    !integer_of(call->words[i + 2], &range->limit))
				return answer_error(call, NOT_AN_INTEGER);
			i += 2;
		} else {
			return answer_syntax(call);
		}
	}
	if (range->by == BY_PLACE && range->limit != -1)
		return answer_error(call, LIMIT_BY_PLACE);
	if (range->by == BY_PLACE) /* Redis ignores LIMIT N -1 here */
		range->offset = 0;
	return true;
}

static void push_range(const struct call *call, const struct key *key, const struct range *range)
{
	size_t at = range->from;
	int64_t left = range->limit;
	char room[32];
	int number = 0;

	lua_createtable(call->lua, 0, 0);
	if (range->offset < 0)
		return;
	for (at += (size_t)range->offset; at < range->to && left != 0; at++, left--) {
		size_t place = range->reverse ? range->from + range->to - 1 - at : at;
		const struct entry *entry = key->order[place];

		add_bytes(call, entry_name(entry), ++number);
		if (range->has_scores)
			add_bytes(call, score_text(entry->score, room), ++number);
	}
}

static bool answer_range(const struct call *call, struct range range)
{
	struct key *key;

	/* An invalid bound is an error even if the key does not exist. */
	if (!read_options(call, &range) || !read_bounds(call, NULL, &range) ||
	    !call_key(call, 1, KIND_SORTED, &key) || !read_bounds(call, key, &range))
		return false;
	push_range(call, key, &range);
	return true;
}

static bool run_zrange(const struct call *call)
{
	return answer_range(call, (struct range){.by = BY_PLACE});
}

static bool run_zrevrange(const struct call *call)
{
	return answer_range(call, (struct range){.by = BY_PLACE, .reverse = true});
}

static bool run_zrangebyscore(const struct call *call)
{
	return answer_range(call, (struct range){.by = BY_SCORE});
}

static bool run_zrangebylex(const struct call *call)
{
	return answer_range(call, (struct range){.by = BY_NAME});
}

static bool run_zrevrangebylex(const struct call *call)
{
	return answer_range(call, (struct range){.by = BY_NAME, .reverse = true});
}

static bool run_zcount(const struct call *call)
{
	struct range range = {.by = BY_SCORE};
	struct key *key;

	if (!read_bounds(call, NULL, &range) || !call_key(call, 1, KIND_SORTED, &key) ||
	    !read_bounds(call, key, &range))
		return false;
	return answer_integer(call, range.to > range.from ? (double)(range.to - range.from) : 0);
}

const struct command sorted_commands[] = {
    COMMAND("ZADD", -4, COMMAND_WRITES | COMMAND_NEEDS_MEMORY, run_zadd),
    COMMAND("ZMSCORE", -3, 0, run_zmscore),
    COMMAND("ZSCORE", 3, 0, run_zscore),
    COMMAND("ZCOUNT", 4, 0, run_zcount),
    COMMAND("ZRANGE", -4, 0, run_zrange),
    COMMAND("ZREVRANGE", -4, 0, run_zrevrange),
    COMMAND("ZRANGEBYSCORE", -4, 0, run_zrangebyscore),
    COMMAND("ZRANGEBYLEX", -4, 0, run_zrangebylex),
    COMMAND("ZREVRANGEBYLEX", -4, 0, run_zrevrangebylex),
    COMMAND("ZRANK", 3, 0, run_zrank),
    COMMAND("ZREVRANK", 3, 0, run_zrevrank),
    {NULL, 0, 0, 0, NULL},
};
