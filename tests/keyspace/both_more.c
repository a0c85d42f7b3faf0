/* Random calls of the scripts that are not about one timer: leases, sessions, pages, people. */
#include "keyspace/both.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/value.h"

void both_status(struct both *both)
{
	both_begin_script(both, "status", "n");
	both_plainly(both);
}

void both_types(struct both *both)
{
	both_begin_script(both, "types", "n");
	both_plainly(both);
}

void both_report(struct both *both)
{
	struct caller *caller = both_caller(both, true);

	both_begin_guarded(both, "report", caller);
	both_text(both, "counters");
	both_number(both, (uint64_t)both->now);
	both_guarded(both, caller);
}

void both_purge(struct both *both)
{
	struct caller *caller = both_caller(both, true);

	both_begin_guarded(both, "purge", caller);
	both_guarded(both, caller);
}

/* any_fence: perhaps that of an owner's token. */
static const char *any_fence(struct both *both)
{
	static char fence[24];
	const char *token = both_caller(both, true)->token;

	(void)snprintf(fence, sizeof fence, "%.*s", (int)strspn(token, "0123456789"), token);
	return both_draw(both, 4) ? fence : "77";
}

void both_acquire(struct both *both)
{
	struct caller *caller = both_caller(both, true);
	struct reply *reply;

	both_begin_script(both, "acquire", caller->nonce);
	both_text(both, caller->nonce);
	both_number(both, ++caller->conn);
	both_number(both, BOTH_TTL_MS);
	both_number(both, both_draw(both, 3) ? 0 : (uint64_t)both->now + both_draw(both, 1000000));
	both_text(both, both_draw(both, 2) ? "somebody|1.2" : "vm, pid 12, durawheel 0.1|1.2");
	both_number(both, both_draw(both, 30) ? BOTH_SHARDS : BOTH_SHARDS + 1);
	both_text(both, both_draw(both, 2) ? "era1" : "era2");
	both_text(both, both_draw(both, 6) ? "" : both_caller(both, true)->token);
	both_text(both, (const char *const[]){"", "", "era1", "era2"}[both_draw(both, 4)]);
	if (both_draw(both, 2)) {
		both_text(both, both_draw(both, 3) ? "1" : "");
		if (both_draw(both, 2)) {
			both_text(both, both_draw(both, 3) ? "1" : "");
			both_text(both, any_fence(both));
		}
	}
	reply = both_call(both);
	if (reply_is(&reply->items[0], "OK")) {
		(void)snprintf(caller->token, sizeof caller->token, "%s", reply->items[1].bytes);
		(void)snprintf(caller->era, sizeof caller->era, "%s", reply->items[2].bytes);
		caller->number = 0;
	}
	reply_free(reply);
}

void both_renew(struct both *both)
{
	struct caller *caller = both_caller(both, true);
	char fresh[96];
	struct reply *reply;

	(void)snprintf(fresh, sizeof fresh, "%s", caller->token);
	if (both_draw(both, 2) && strrchr(fresh, ':'))
		(void)snprintf(strrchr(fresh, ':') + 1, 12, "%u", ++caller->conn);
	both_begin_script(both, "renew", caller->nonce);
	both_text(both, both_draw(both, 20) ? caller->token : "77:x:1");
	both_text(both, fresh);
	both_number(both, BOTH_TTL_MS);
	both_text(both, both_draw(both, 40) ? caller->era : "other");
	reply = both_call(both);
	if (reply_is(&reply->items[0], "OK")) {
		memcpy(caller->token, fresh, sizeof fresh);
		caller->number = strtoull(reply->items[1].bytes, NULL, 10);
	}
	reply_free(reply);
}

void both_release(struct both *both)
{
	both_begin_script(both, "release", "n");
	both_text(both, both_caller(both, true)->token);
	if (both_draw(both, 2))
		both_text(both, both_draw(both, 4) ? "" : "2");
	both_plainly(both);
}

void both_session(struct both *both)
{
	struct caller *caller = both_caller(both, false);
	struct reply *reply;

	if (both_draw(both, 6) > 0)
		caller->conn++;
	both_begin_script(both, "session", caller->nonce);
	both_number(both, both_draw(both, 10) ? caller->conn : caller->conn - 1);
	both_number(both, BOTH_TTL_MS);
	if (both_draw(both, 4))
		both_number(both, both_draw(both, 30) ? BOTH_SHARDS : BOTH_SHARDS + 3);
	else
		both_text(both, "");
	both_text(both, both_draw(both, 3) ? "1" : "");
	both_text(both, both_draw(both, 2) ? "{t}:wake" : "");
	if (both_draw(both, 4))
		both_text(both, both_draw(both, 3) ? "web, pid 12, durawheel 1|b 1 2 3" : "x");
	reply = both_call(both);
	if (reply_is(&reply->items[0], "OK"))
		caller->number = strtoull(reply->items[1].bytes, NULL, 10);
	reply_free(reply);
}

/* add_every: late_after and every, now and then wrong. */
static void add_every(struct both *both)
{
	static const char *const periods[] = {
	    "90000000", "1000", "1001", "86400000000", "999", "316224000000001", "x"};

	both_text(both, both_draw(both, 10) ? "0" : "7");
	both_text(both, periods[both_draw(both, both_draw(both, 10) ? 4 : 7)]);
}

void both_hand(struct both *both)
{
	static const char *const dues[] = {"0", "1", "x", "9007199254740991", "9007199254740992"};
	bool adds = both_draw(both, 2);

	both_begin_script(both, adds ? "add" : "cancel_one", "n");
	both_text(both, both_draw(both, 20) ? both_id(both) : "a\tb");
	if (adds) {
		both_text(both, both_draw(both, 20) ? "topic" : "");
		if (both_draw(both, 5))
			both_number(both, (uint64_t)both->now + both_draw(both, 5) * 1000000);
		else
			both_text(both, dues[both_draw(both, sizeof dues / sizeof *dues)]);
		both_text(both, "some data");
		if (both_draw(both, 3) == 0)
			both_number(both, both_draw(both, 2000));
		else if (both_draw(both, 3) == 0)
			add_every(both);
	}
	both_plainly(both);
}

void both_shard(struct both *both)
{
	both_begin_script(both, "shard", "n");
	both_text(both, both_id(both));
	both_plainly(both);
}

void both_inbox(struct both *both)
{
	const struct caller *caller = both_caller(both, true);

	both_begin_guarded(both, "inbox", caller);
	both_number(both, 1 + both_draw(both, 8));
	both_number(both, both_draw(both, 4) == 0 ? 1 + both_draw(both, 3) : 0);
	both_plainly(both);
}

void both_page(struct both *both)
{
	static const char *const signs[] = {"+", "-"};
	static const char *const prefixes[] = {"", "i", "t"};
	bool pending = both_draw(both, 2);
	int64_t score = both_score(both);
	char place[24];

	both_begin_script(both, "page", "n");
	both_text(both, signs[!pending]);
	both_number(both, 1 + both_draw(both, 4));
	(void)snprintf(place, sizeof place, "%s%lld", pending ? "" : "-", (long long)score);
	if (both_draw(both, 3) == 0)
		place[0] = '\0';
	both_text(both, place);
	both_text(both, place[0] && both_draw(both, 4) ? both_id(both) : "");
	if (both_draw(both, 2) == 0) {
		both_text(both, both_draw(both, 2) ? "s" : "");
		if (both_draw(both, 2))
			both_text(both, prefixes[both_draw(both, 3)]);
	}
	both_plainly(both);
}

/* A place among the dead letters. */
struct pick {
	struct both *both;
	char score[32];
	char member[512];
	size_t member_size;
};

/* pick_place: the last letter's place that is looked at, or now and then an earlier one's. */
static void pick_place(void *user, const struct keyspace_field *field)
{
	struct pick *pick = user;
	size_t size = strlen(field->key);

	if (strcmp(field->key + size - 2, ":d") != 0 || both_draw(pick->both, 3) == 0)
		return;
	(void)snprintf(pick->score, sizeof pick->score, "%.*s", (int)field->value.size,
		       field->value.at);
	memcpy(pick->member, field->name.at, field->name.size);
	pick->member_size = field->name.size;
}

static void both_dead_of(struct both *both)
{
	both_begin_script(both, "dead_of", "n");
	both_text(both, both_id(both));
	both_plainly(both);
}

void both_dead_page(struct both *both)
{
	struct pick pick = {.both = both};

	if (both_draw(both, 2) == 0) {
		both_dead_of(both);
		return;
	}
	if (both_draw(both, 3) > 0)
		keyspace_dump(both->keyspace, pick_place, &pick);
	if (both_draw(both, 4) == 0)
		(void)snprintf(pick.score, sizeof pick.score, "%lld",
			       (long long)both->now - (long long)both_draw(both, 10000000));
	both_begin_script(both, "dead_page", "n");
	both_text(both, pick.score);
	both_bytes(both, pick.member, pick.member_size);
	both_number(both, 1 + both_draw(both, 5));
	both_plainly(both);
}

void both_orphans(struct both *both)
{
	both_begin_script(both, "orphans", "n");
	both_text(both, (const char *const[]){"z", "h", "x", "E"}[both_draw(both, 4)]);
	both_text(both, "0");
	both_plainly(both);
}
