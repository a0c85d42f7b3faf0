/* Random calls of every script and every command, good ones and bad ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keyspace/both.h"
#include "support/cmocka.h"

static void begin_shard(struct both *both, const char *script)
{
	both_begin_script(both, script, both->caller->nonce);
}

/* ---- Scripts whose callers learn from the answer --------------------------------------------- */

static struct caller *any_caller(struct both *both, bool owner)
{
	return owner ? &both->owners[both->shard][both_draw(both, BOTH_OWNERS)]
		     : &both->clients[both->shard][both_draw(both, BOTH_CLIENTS)];
}

static bool is_ok(const struct reply *reply)
{
	return reply->kind == REPLY_ARRAY && reply->count > 0 && reply_is(&reply->items[0], "OK");
}

static void acquire(struct both *both)
{
	struct caller *caller = both->caller = any_caller(both, true);
	struct reply *reply;

	begin_shard(both, "acquire");
	both_text(both, caller->nonce);
	both_number(both, ++caller->conn);
	both_number(both, BOTH_TTL_MS);
	both_words(both, "[0|0|1767225603000000][somebody|vm, pid 12, durawheel 0.1]");
	both_number(both, both_draw(both, 30) ? BOTH_SHARDS : BOTH_SHARDS + 1);
	both_words(both, "[era1|era2]");
	both_text(both, both_draw(both, 4) ? "" : any_caller(both, true)->token);
	both_words(both, "[||era1|era2][1|1|][1|1|]");
	reply = both_call(both);
	if (is_ok(reply)) {
		(void)snprintf(caller->token, sizeof caller->token, "%s", reply->items[1].bytes);
		(void)snprintf(caller->era, sizeof caller->era, "%s", reply->items[2].bytes);
		caller->number = 0;
	}
	reply_free(reply);
}

static void renew(struct both *both)
{
	struct caller *caller = both->caller = any_caller(both, true);
	char fresh[96];
	struct reply *reply;

	(void)snprintf(fresh, sizeof fresh, "%s", caller->token);
	if (both_draw(both, 2) && strrchr(fresh, ':'))
		(void)snprintf(strrchr(fresh, ':') + 1, 12, "%u", ++caller->conn);
	begin_shard(both, "renew");
	both_text(both, both_draw(both, 20) ? caller->token : "77:x:1");
	both_text(both, fresh);
	both_number(both, BOTH_TTL_MS);
	both_text(both, both_draw(both, 40) ? caller->era : "other");
	reply = both_call(both);
	if (is_ok(reply)) {
		memcpy(caller->token, fresh, sizeof fresh);
		caller->number = strtoull(reply->items[1].bytes, NULL, 10);
	}
	reply_free(reply);
}

static void session(struct both *both)
{
	struct caller *caller = both->caller = any_caller(both, false);
	struct reply *reply;

	caller->conn += both_draw(both, 6) > 0;
	begin_shard(both, "session");
	both_number(both, both_draw(both, 10) ? caller->conn : caller->conn - 1);
	both_number(both, BOTH_TTL_MS);
	both_words(both, "[2|2|2|][1|1|][{t:00}:wake|][web, pid 12, durawheel 1|x]");
	reply = both_call(both);
	if (is_ok(reply))
		caller->number = strtoull(reply->items[1].bytes, NULL, 10);
	reply_free(reply);
}

static void release(struct both *both)
{
	both->caller = any_caller(both, true);
	begin_shard(both, "release");
	both_text(both, both->caller->token);
	both_words(both, "[||||2]");
	if (both_draw(both, 2)) {
		both_text(both, both_draw(both, 8) ? both->caller->era : "other");
		both_number(both, both->caller->number + (both_draw(both, 8) == 0));
		both_words(both, "[||1|1767225603000000][|{t}:free]");
	}
	reply_free(both_call(both));
}

/* ---- Scripts by a format --------------------------------------------------------------------- */

/* guarded makes a call with the caller's next number. From the answer the caller learns whether the
 * number was right. After a wrong number the answer contains the last right one. */
static void guarded(struct both *both, const char *script, const char *format)
{
	struct caller *caller = any_caller(both, format[0] == 'o' || both_draw(both, 2));
	struct reply *reply;

	both->caller = caller;
	begin_shard(both, script);
	both_words(both, format);
	reply = both_call(both);
	if (is_ok(reply) && strcmp(script, "inbox") != 0)
		caller->number++;
	else if (reply->kind == REPLY_ARRAY && reply->count > 1 &&
		 reply_is(&reply->items[0], "MARK"))
		caller->number = strtoull(reply->items[1].bytes, NULL, 10);
	reply_free(reply);
}

static void of_shard(struct both *both, const char *script, const char *format)
{
	both->caller = any_caller(both, false);
	begin_shard(both, script);
	both_words(both, format);
	reply_free(both_call(both));
}

static void of_queue(struct both *both, const char *script, const char *format)
{
	both_begin_script(both, script, "");
	both_words(both, format);
	reply_free(both_call(both));
}

/* of_command sends a command as a client, or in a script that catches its error or does not.
 * Sometimes the command lacks a word. */
static void of_command(struct both *both, const char *command, const char *format)
{
	static const char *const texts[] = {"return redis.call(unpack(ARGV))",
					    "return redis.pcall(unpack(ARGV))",
					    "redis.pcall('HDEL', 'p:2', 'x') "
					    "return redis.call(unpack(ARGV))"};
	uint64_t how = both_draw(both, 5);

	both_begin(both, how < 3 ? "EVAL" : command);
	if (how < 3) {
		both_text(both, texts[how]);
		both_text(both, "0");
		both_text(both, command);
	}
	both_words(both, format);
	if (both_draw(both, 20) == 0 && both->count > 1)
		both->count--;
	reply_free(both_call(both));
}

/* refuse makes both sides refuse some commands for a while. */
static void refuse(struct both *both)
{
	static const char *const denied[] = {"HSET", "ZADD", "HDEL", "PEXPIRE", "ZREM"};
	bool begins = both->refusal == KEYSPACE_ACCEPTS && both_draw(both, 2) == 0;

	both_refuse(both, begins ? 1 + (enum keyspace_refusal)both_draw(both, 3) : KEYSPACE_ACCEPTS,
		    denied[both_draw(both, 5)]);
}

#define KEY "[p:1|p:2|p:3|p:4|p:5|p:6]"
#define FIELD "[a|b|c|\xff|]"
#define SCORE "[1|2|-7|3.25|0.1|9007199254740993|1e300|inf|-inf|nan|x]"
#define BOUND "[1|(1|-inf|+inf|(2.5|0|x]"
#define NAME "[-|+|[a|(b|[|a]"
#define INDEX "[0|1|2|-1|-2|100|x]"

static const struct {
	void (*run)(struct both *, const char *name, const char *format);
	const char *name, *format;
	unsigned weight;
} formats[] = {
    {guarded, "put", "bP(UI)(V)(x)", 26},
    {guarded, "claim", "o(iva)", 16},
    {guarded, "settle", "o(iva8w)", 6},
    {guarded, "retry", "o(ivad[0|1]w)", 8},
    {guarded, "claim_known", "o(KI)(V)", 8},
    {guarded, "settle_known", "o(I)([topic|to|])", 3},
    {guarded, "next", "o(ivaNDwW8)", 8},
    {guarded, "next_known", "o(DI)(W)", 8},
    {guarded, "bury", "o(ivaNDw8)", 8},
    {guarded, "cancel", "b([0|4]iy)", 10},
    {guarded, "move", "b([0|4]iyd[])", 5},
    {guarded, "move", "b([0|4]iydD)", 5},
    {guarded, "requeue", "b(ildD)", 6},
    {guarded, "drop", "b(il)", 2},
    {guarded, "drop", "b[][0]", 1},
    {guarded, "forget", "onD", 1},
    {guarded, "ack", "o(iD)", 3},
    {guarded, "repush", "b(iva[0|1]NN[0|1]dB)", 6},
    {guarded, "redelete", "o(iD)", 3},
    {guarded, "mend", "o(i)", 4},
    {guarded, "inbox", "on[0|0|1|3]", 3},
    {guarded, "report", "o[counters]D", 1},
    {guarded, "purge", "o", 1},
    {guarded, "replay", "b[aa](ID[P]NDaD[0]dB)", 3},
    {guarded, "replay", "b[aa](ID[S|R|C|M|L]NvaDFd[])", 8},
    {of_shard, "replay", "", 1},
    {of_shard, "confirm", "(ivD)", 4},
    {of_shard, "ended", "(i)", 4},
    {of_shard, "due", "[1|500][1000|1799000000000000|x][9007199254740992]", 3},
    {of_shard, "status", "", 1},
    {of_shard, "types", "", 1},
    {of_shard, "member", "[in|in|in|out|][a|b|c|d][one|another|]", 3},
    {of_shard, "tell", "[a|b|c|d][r]D[{\"fired\":3,\"late\":2}|{\"put\":7}|]", 2},
    {of_shard, "tell", "[a|b|c|d][t]D[mail\tdone=3 late=1|mail\tdone=2\nnews\tstarted=5|]", 2},
    {of_shard, "reports", "[r|t]", 2},
    {of_command, "ZADD", "#o[0|1767225600000000|1799000000000000][a|x]", 1},
    {of_shard, "add", "[a|b|x{tag}y|a\tb][topic]D[some data]", 1},
    {of_shard, "add", "i[topic|topic|]D[some data]", 3},
    {of_shard, "add", "i[beat]D[][0|7][1000|1001|86400000000|999|x]", 2},
    {of_shard, "cancel_one", "i", 3},
    {of_shard, "shard", "i", 1},
    {of_shard, "page", "[+|-]nq[|a|b|b2]", 4},
    {of_shard, "page", "[+|-]nqi[s|r|][|i|t]", 4},
    {of_shard, "page", "[+|-]nqi[r|][||i|a][t|to|topic|]", 6},
    {of_shard, "dead_page", "Ln", 2},
    {of_shard, "dead_of", "i", 2},
    {of_shard, "orphans", "[z|h|x|E][0]", 3},
    {of_queue, "queue_check", "[][1000]", 2},
    {of_queue, "queue_numbers", "[game]", 2},
    {of_shard, "queue_purge", "[77:x:1]", 1},
    {of_shard, "letter", "ivND[some value]", 1},
    {of_queue, "topic_set",
     "[game|topic|to][queue=1 max=3|paused=2|keep=5000000|x][0|1][9][|keep=9 "
     "ver=7][0]",
     3},
    {of_queue, "topic_copy",
     "[5]["
     "|{t:00}:wake][game|topic][queue=1 ver=1767225603000000|ver=5 gone=1|x]",
     3},
    {of_queue, "topic_drop", "[game|topic|to][|ver=5]", 2},
    {of_queue, "topic_list", "[game|topic|][|1]", 2},
    {of_queue, "topic_changes", "[0|4097|]", 2},
    {of_queue, "push", "[game][1][0][5 0 7 a\n]w", 6},
    {of_queue, "push", "[game][2]v[5 0 7 a\n]wv[1767225600000000 1 7 b\n]w", 3},
    {of_queue, "take", "[game]n[1000000|10][|me/1/]", 4},
    {of_queue, "take", "[game]n[1000000|10][|me/1/][0|70|1000]", 2},
    {of_queue, "answer", "[game][done|retry|hold|dead|damaged]D[7]w", 2},
    {of_queue, "await", "[][|me/1/](w)", 1},
    {of_command, "DEL", "[{t:00}:s:c0|{t:00}:s:c1|{t:01}:s:c0|{t:01}:s:c2]", 2},
    {of_command, "ZADD", "[{t:00}:qt:game|{t:00}:ql:game][5][x|7-1-0/1]", 1},
    {of_command, "HSET", "[{t:00}:qm:game][7|x][1 2 3]", 1},
    {of_command, "HSET", "#hiX", 8},
    {of_command, "HDEL", "#hi", 3},
    {of_command, "ZREM", "#zi", 2},
    {of_command, "ZADD", "#zni", 2},
    {of_command, "DEL", "#l", 1},
    {of_command, "HSET", "#m[format][1|1|1|1|2|x|]", 2},
    {of_command, "HSET", "#m[shards][2|2|2|400000]", 1},
    {of_command, "HSET", "#m[keeps][topic\t5000\nto\t3000000\n|t\t90000000000000\n]", 2},
    {of_command, "HDEL", "#m[keeps|format|closed]", 1},
    {of_command, "SET", "#D[x]", 1},
    {of_command, "DEL", "#D", 1},
    {of_command, "SET", KEY FIELD, 1},
    {of_command, "SET", KEY FIELD "[PX|x][1000000000|0|x]", 1},
    {of_command, "GET", KEY, 1},
    {of_command, "DEL", KEY KEY, 2},
    {of_command, "UNLINK", KEY KEY, 1},
    {of_command, "EXISTS", KEY KEY, 1},
    {of_command, "TYPE", KEY, 1},
    {of_command, "PEXPIRE", KEY "[1000000000|x]", 1},
    {of_command, "HSET", KEY FIELD FIELD, 4},
    {of_command, "HSET", KEY FIELD FIELD FIELD "[5]", 2},
    {of_command, "HGET", KEY FIELD, 1},
    {of_command, "HMGET", KEY FIELD FIELD, 1},
    {of_command, "HDEL", KEY FIELD FIELD, 2},
    {of_command, "HEXISTS", KEY FIELD, 1},
    {of_command, "HSTRLEN", KEY FIELD, 1},
    {of_command, "HLEN", KEY, 1},
    {of_command, "HGETALL", KEY, 1},
    {of_command, "HINCRBY", KEY FIELD "[1|-5|x|01]", 2},
    {of_command, "HSCAN", KEY "[0][COUNT][500]", 1},
    {of_command, "HSCAN", KEY "[0][MATCH][a*|?]", 1},
    {of_command, "RPUSH", KEY FIELD FIELD, 3},
    {of_command, "LPOP", KEY, 1},
    {of_command, "LPOP", KEY "[0|1|2|-1]", 1},
    {of_command, "LLEN", KEY, 1},
    {of_command, "LRANGE", KEY INDEX INDEX, 2},
    {of_command, "LINDEX", KEY INDEX, 1},
    {of_command, "ZADD", KEY SCORE FIELD, 6},
    {of_command, "ZADD", KEY "[NX|XX|CH]" SCORE FIELD SCORE FIELD, 3},
    {of_command, "ZADD", KEY "[NX|XX][CH|XX]" SCORE FIELD, 2},
    {of_command, "ZREM", KEY FIELD FIELD, 2},
    {of_command, "ZCARD", KEY, 1},
    {of_command, "ZSCORE", KEY FIELD, 1},
    {of_command, "ZMSCORE", KEY FIELD FIELD, 1},
    {of_command, "ZRANK", KEY FIELD, 1},
    {of_command, "ZREVRANK", KEY FIELD, 1},
    {of_command, "ZCOUNT", KEY BOUND BOUND, 2},
    {of_command, "ZSCAN", KEY "[0][COUNT][500]", 1},
    {of_command, "ZRANGE", KEY INDEX INDEX, 2},
    {of_command, "ZRANGE", KEY INDEX INDEX "[WITHSCORES|x]", 1},
    {of_command, "ZRANGE", KEY BOUND BOUND "[BYSCORE][LIMIT]" INDEX INDEX, 2},
    {of_command, "ZREVRANGE", KEY INDEX INDEX "[WITHSCORES]", 2},
    {of_command, "ZRANGEBYSCORE", KEY BOUND BOUND "[WITHSCORES][LIMIT]" INDEX INDEX, 2},
    {of_command, "ZRANGEBYLEX", "[p:lex]" NAME NAME, 2},
    {of_command, "ZREVRANGEBYLEX", "[p:lex]" NAME NAME "[LIMIT]" INDEX INDEX, 2},
    {of_command, "ZADD", "[p:lex][0]" FIELD, 1},
    {of_command, "PUBLISH", "[x][y]", 1},
    {of_command, "NONSENSE", KEY, 1},
};

static const struct {
	void (*run)(struct both *);
	unsigned weight;
} others[] = {{acquire, 6}, {renew, 6}, {session, 8}, {release, 1}, {refuse, 1}};

void both_step(struct both *both)
{
	uint64_t sum = 0;
	uint64_t dice;

	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		sum += formats[i].weight;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		sum += others[i].weight;
	dice = both_draw(both, sum);
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		if (dice < formats[i].weight) {
			formats[i].run(both, formats[i].name, formats[i].format);
			return;
		}
		dice -= formats[i].weight;
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		if (dice < others[i].weight) {
			others[i].run(both);
			return;
		}
		dice -= others[i].weight;
	}
}
