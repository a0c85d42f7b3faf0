/* Random calls about the index by topic, and what other programs do to it. */
#include "keyspace/both.h"

#include <stdio.h>
#include <string.h>

enum { MEMBER_MAX = 512 };

/* A member of the shard's index. */
struct pick {
	struct both *both;
	char key[32];
	char member[MEMBER_MAX];
	size_t size;    /* 0: none */
	const char *id; /* NULL: of any */
};

static void pick_member(void *user, const struct keyspace_field *field)
{
	struct pick *pick = user;

	size_t size = pick->id ? strlen(pick->id) : 0;

	if (strcmp(field->key, pick->key) != 0 || field->name.size > MEMBER_MAX ||
	    both_draw(pick->both, pick->id ? 9 : 3) == 0 || field->name.size < size ||
	    memcmp(field->name.at + field->name.size - size, pick->id ? pick->id : "", size) != 0)
		return;
	memcpy(pick->member, field->name.at, field->name.size);
	pick->size = field->name.size;
}

static struct pick member_with(struct both *both, const char *id)
{
	struct pick pick = {.both = both, .id = id};

	(void)snprintf(pick.key, sizeof pick.key, "{t:%02u}:k", both->shard);
	keyspace_dump(both->keyspace, pick_member, &pick);
	return pick;
}

static struct pick any_member(struct both *both)
{
	return member_with(both, NULL);
}

void both_member(struct both *both, const char *id)
{
	struct pick pick = member_with(both, id);

	both_bytes(both, pick.member, pick.size);
}

void both_index(struct both *both)
{
	both_begin_script(both, "index", "n");
	both_text(both, both_draw(both, 2) ? "k" : "h");
	both_text(both, "0");
	if (both_draw(both, 3))
		both_text(both, both_caller(both, true)->token);
	else
		both_text(both, both_draw(both, 2) ? "" : "7:x:1");
	both_plainly(both);
}

/* both_tear_index deletes a member, or all, or adds one that is no timer's. */
void both_tear_index(struct both *both)
{
	static const char *const foreign[] = {"", "x", "topic", "topic\1"};
	struct pick pick = any_member(both);
	uint64_t dice = both_draw(both, 8);
	const char *add = foreign[both_draw(both, 4)];

	if (both->full)
		return;
	both_begin(both, dice == 0 ? "DEL" : dice < 4 ? "ZREM" : "ZADD");
	both_key(both, "k");
	if (dice >= 4)
		both_text(both, "0");
	if (dice > 0 && dice < 6)
		both_bytes(both, pick.member, pick.size);
	else if (dice >= 6)
		both_bytes(both, add, strlen(add) + (dice == 7));
	both_plainly(both);
}

/* say_score: a place among the timers, or none. */
static void say_score(struct both *both, unsigned often)
{
	char score[24];

	(void)snprintf(score, sizeof score, "%lld", (long long)both_score(both));
	both_text(both, both_draw(both, often) ? score : "");
}

void both_topic_page(struct both *both)
{
	static const char *const topics[] = {"t", "to", "topic", "topics", ""};
	static const char *const prefixes[] = {"", "i", "t"};
	struct pick pick = any_member(both);
	size_t size = both_draw(both, 3) == 0 ? pick.size : 0;

	both_begin_script(both, "topic_page", "n");
	both_text(both, topics[both_draw(both, 5)]);
	both_number(both, 1 + both_draw(both, 4));
	say_score(both, 3);
	both_bytes(both, pick.member, size);
	say_score(both, 2);
	both_text(both, prefixes[both_draw(both, 3)]);
	both_plainly(both);
}
