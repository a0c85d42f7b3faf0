/* Says what the reply to each command may look like. Every reply is compared with this table before
 * anything uses it, so no function needs to check again which items a reply has. If a reply does
 * not fit, the server is not a Redis as we know it, or something between us has changed the reply.
 *
 * A shape has alternatives, divided by '|'. Each alternative is one of these: WORD:ITEMS, an array
 * that begins with that word; :ITEMS, an array; =ITEM, a single item. A letter stands for an item:
 *
 *	b  a bulk          i  an integer      n  either      v  a bulk or nil
 *	B  an array of b   V  an array of v   k  a script's result for one timer: an integer,
 *	                                         a header, or an array of an integer and a bulk
 *
 * The items after '/' are repeated: once for each operation of the command, or any number of times
 * if the command has no operations. All arrays (B, V) in one reply have the same length. */
#include "store/redis/wire/shape.h"

#include <assert.h>
#include <string.h>

#include "store/redis/core.h"

#define REFUSED "|FENCED:|ERA:b|MARK:b|NOSESSION:"

static const struct shape shapes[COMMAND_COUNT] = {
    [COMMAND_EVAL] = {"EVAL", "=i"},
    [COMMAND_EVALSHA] = {"EVALSHA", "=i"},
    [COMMAND_CLUSTER] = {"CLUSTER", "=b"},
    [COMMAND_CONFIG] = {"CONFIG", ":/b"},
    [COMMAND_INFO] = {"INFO", "=b"},
    [COMMAND_TIME] = {"TIME", ":bb"},
    [COMMAND_HGET] = {"HGET", "=v"},
    [COMMAND_HMGET] = {"HMGET", ":/v"},
    [COMMAND_HSET] = {"HSET", "=i"},
    [COMMAND_SCRIPT] = {"SCRIPT", "=b"},
    [COMMAND_UNLINK] = {"UNLINK", "=i"},
    [COMMAND_ZCARD] = {"ZCARD", "=i"},
    [SCRIPT_ACK] = {"ack", "OK:/i" REFUSED},
    [SCRIPT_ACQUIRE] = {"acquire", "OK:bbbbiibb|HELD:bibbbb|YOUNG:i|SHARDS:b|NEWER:b"},
    [SCRIPT_ANSWER] = {"answer", "OK:/i|TYPE:bbb"},
    [SCRIPT_AWAIT] = {"await", "OK:|TYPE:bbb"},
    [SCRIPT_BURY] = {"bury", "OK:/k" REFUSED},
    [SCRIPT_CANCEL] = {"cancel", "OK:/k" REFUSED},
    [SCRIPT_CLAIM] = {"claim", "OK:/k" REFUSED},
    [SCRIPT_CLAIM_KNOWN] = {"claim_known", "OK:|LOOK:" REFUSED},
    [SCRIPT_CONFIRM] = {"confirm", "OK:/i"},
    [SCRIPT_DEAD_OF] = {"dead_of", "OK:|OK:bbv"},
    [SCRIPT_DEAD_PAGE] = {"dead_page", ":/bbv"},
    [SCRIPT_DROP] = {"drop", "OK:/n" REFUSED},
    [SCRIPT_DUE] = {"due", ":/i"},
    [SCRIPT_ENDED] = {"ended", "OK:v"},
    [SCRIPT_FORGET] = {"forget", "OK:ii" REFUSED},
    [SCRIPT_INBOX] = {"inbox", "OK:/bbv|FENCED:"},
    [SCRIPT_LETTER] = {"letter", "OK:i"},
    [SCRIPT_MEMBER] = {"member", "OK:bi/bbb"},
    [SCRIPT_MEND] = {"mend", "OK:/i" REFUSED},
    [SCRIPT_MOVE] = {"move", "OK:/k" REFUSED},
    [SCRIPT_NEXT] = {"next", "OK:/k" REFUSED},
    [SCRIPT_NEXT_KNOWN] = {"next_known", "OK:|LOOK:" REFUSED},
    [SCRIPT_ORPHANS] = {"orphans", ":b/b"},
    [SCRIPT_PAGE] = {"page", ":BVi|:BVibb"},
    [COMMAND_PAGE_SCORES] = {"page_scores", ":BVB"},
    [SCRIPT_PURGE] = {"purge", "OK:n/b" REFUSED},
    [SCRIPT_PUSH] = {"push", "OK:/ii|TYPE:bbb"},
    [SCRIPT_PUT] = {"put", "OK:|OK:/k" REFUSED},
    [SCRIPT_REDELETE] = {"redelete", "OK:/i" REFUSED},
    [SCRIPT_QUEUE_CHECK] = {"queue_check", ":b/bb"},
    [SCRIPT_QUEUE_NUMBERS] = {"queue_numbers", "OK:/bb"},
    [SCRIPT_QUEUE_PURGE] = {"queue_purge", "OK:|FENCED:"},
    [SCRIPT_RELEASE] = {"release", "OK:i|ERA:bnb"},
    [SCRIPT_RENEW] = {"renew", "OK:bbbiiiibb|HELD:bibb|ERA:bnb"},
    [SCRIPT_REPLAY] = {"replay", "OK:/i" REFUSED},
    [SCRIPT_REPORT] = {"report", "OK:" REFUSED},
    [SCRIPT_REPORTS] = {"reports", "OK:|OK:bb/bbbb"},
    [SCRIPT_REPUSH] = {"repush", "OK:/k" REFUSED},
    [SCRIPT_REQUEUE] = {"requeue", "OK:/k" REFUSED},
    [SCRIPT_RETRY] = {"retry", "OK:/k" REFUSED},
    [SCRIPT_SESSION] = {"session", "OK:bbbbbbb|NOSESSION:|SHARDS:b|NEW:i"},
    [SCRIPT_SETTLE] = {"settle", "OK:/k" REFUSED},
    [SCRIPT_SETTLE_KNOWN] = {"settle_known", "OK:|LOOK:" REFUSED},
    [SCRIPT_STATUS] = {"status", ":iiiivvivvvvvv"},
    [SCRIPT_TAKE] = {"take", "OK:n/bn|NONE:|EMPTY:|TYPE:bbb"},
    [SCRIPT_TELL] = {"tell", "OK:|NONE:"},
    [SCRIPT_TOPIC_CHANGES] = {"topic_changes", "OK:bi/bb"},
    [SCRIPT_TOPIC_COPY] = {"topic_copy", "OK:i|TYPE:bbb"},
    [SCRIPT_TOPIC_DROP] = {"topic_drop", "OK:b|NONE:|BUSY:|NOSESSION:|TYPE:bbb"},
    [SCRIPT_TOPIC_LIST] = {"topic_list", "OK:ibb/bb"},
    [SCRIPT_TOPIC_SET] = {"topic_set", "OK:b|LIMIT:|NOSESSION:|TYPE:bbb"},
    [SCRIPT_TYPES] = {"types", ":bbbbbbbbbbbbbbbbb"},
};

const struct shape *shape_of(unsigned command)
{
	assert(shapes[command].command);
	return &shapes[command];
}

/* is_plain returns true if the letter stands for this item. It does not know the letters B, V and
 * k. */
static bool is_plain(const struct reply *item, char letter)
{
	bool bulk = item->kind == REPLY_BULK;

	switch (letter) {
	case 'b':
		return bulk;
	case 'v':
		return bulk || item->kind == REPLY_NIL;
	case 'n':
		return bulk || is_number(item);
	default:
		return is_number(item);
	}
}

/* is_array_of returns true if the item is an array and the letter stands for each of its items. */
static bool is_array_of(const struct reply *item, char letter)
{
	if (item->kind != REPLY_ARRAY)
		return false;
	for (size_t i = 0; i < item->count; i++)
		if (!is_plain(&item->items[i], letter))
			return false;
	return true;
}

static bool is_of_timer(const struct reply *item)
{
	if (item->kind == REPLY_ARRAY)
		return item->count == 2 && is_plain(&item->items[0], 'i') &&
		       is_plain(&item->items[1], 'b');
	return is_number(item) || (item->kind == REPLY_BULK && item->size == VALUE_HEAD_SIZE);
}

static bool is_item(const struct reply *item, char letter)
{
	if (letter == 'B' || letter == 'V')
		return is_array_of(item, letter == 'B' ? 'b' : 'v');
	return letter == 'k' ? is_of_timer(item) : is_plain(item, letter);
}

/* are_items returns true if the items fit the letters. The first `fixed` letters stand for one item
 * each; the `repeated` letters after the '/' apply again and again. */
static bool are_items(const struct reply *items, size_t count, const char *letters, size_t fixed,
		      size_t repeated)
{
	/* The common length of the arrays seen so far; SIZE_MAX: no array was seen. */
	size_t length = SIZE_MAX;

	for (size_t i = 0; i < count; i++) {
		char letter = letters[i < fixed ? i : fixed + 1 + (i - fixed) % repeated];

		if (!is_item(&items[i], letter))
			return false;
		if (letter != 'B' && letter != 'V')
			continue;
		if (length != SIZE_MAX && items[i].count != length)
			return false;
		length = items[i].count;
	}
	return true;
}

/* is_count returns true if `count` items can be the `fixed` letters once, and then the repeated
 * letters. */
static bool is_count(size_t count, size_t fixed, size_t repeated, size_t operations)
{
	if (repeated == 0 || count < fixed)
		return count == fixed;
	if (operations > 0)
		return count - fixed == operations * repeated;
	return (count - fixed) % repeated == 0;
}

/* fits returns true if the reply fits one alternative. The alternative has `size` characters. */
static bool fits(const struct reply *reply, const char *shape, size_t size, size_t operations)
{
	size_t word = strcspn(shape, ":=");
	const char *letters = shape + word + 1;
	size_t fixed = strcspn(letters, "/|");
	size_t room = size - word - 1;
	size_t repeated = fixed < room ? room - fixed - 1 : 0;
	size_t first = word > 0;

	if (shape[word] == '=')
		return is_plain(reply, letters[0]);
	if (reply->kind != REPLY_ARRAY || reply->count < first ||
	    !is_count(reply->count - first, fixed, repeated, operations))
		return false;
	if (first && (!is_plain(&reply->items[0], 'b') || reply->items[0].size != word ||
		      memcmp(reply->items[0].bytes, shape, word) != 0))
		return false;
	return are_items(reply->items + first, reply->count - first, letters, fixed, repeated);
}

bool shape_fits(const struct shape *shape, const struct reply *reply, size_t operations)
{
	const char *at = shape->alternatives;
	bool found = reply->kind == REPLY_ERROR;

	while (!found && *at) {
		size_t size = strcspn(at, "|");

		found = fits(reply, at, size, operations);
		at += size + (at[size] == '|');
	}
	return found;
}
