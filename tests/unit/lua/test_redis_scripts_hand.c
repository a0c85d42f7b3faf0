/* The scripts for people and other languages: add, cancel_one, shard; and the commands of
 * lua/README.md, as they stand there. */
#include "support/cmocka.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "store/redis/wire/script.h"
#include "store/redis/wire/value.h"
#include "support/script_fixture.h"
#include "support/seed.h"
#include "timer/record.h"

#define DATA_MAX 65536

static uint32_t crc16(const char *bytes, size_t size)
{
	uint32_t crc = 0;

	for (size_t i = 0; i < size; i++) {
		crc ^= (uint32_t)(unsigned char)bytes[i] << 8;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 0x8000 ? (crc << 1 ^ 0x1021) & 0xffff : crc << 1;
	}
	return crc;
}

/* shard_of: by what of the id Redis Cluster hashes. */
static unsigned shard_of(const char *id)
{
	const char *open = strchr(id, '{'), *close = open ? strchr(open, '}') : NULL;

	if (!close || close == open + 1)
		return crc16(id, strlen(id)) % 16;
	return crc16(open + 1, (size_t)(close - open - 1)) % 16;
}

static redisReply *ask_shard(struct scripts *s, const char *id)
{
	call(s, "shard");
	call_text(s, id);
	return call_go(s);
}

static redisReply *add(struct scripts *s, const struct record *record, uint64_t due)
{
	call(s, "add");
	call_word(s, record->id, record->id_size);
	call_word(s, record->topic, record->topic_size);
	call_number(s, due);
	call_word(s, record->data, record->data_size);
	if (record->late_after)
		call_number(s, (uint64_t)record->late_after);
	return call_go(s);
}

static redisReply *cancel_one(struct scripts *s, const char *id)
{
	call(s, "cancel_one");
	call_text(s, id);
	return call_go(s);
}

static void an_id_is_in_the_shard_of_its_part_in_braces(void **state)
{
	static const char *const ids[] = {"a",     "{user:7}:a", "{user:7}:b", "{}a",
					  "{}{a}", "a{b",        "a}{b}",      "{a{b}c}",
					  "}{",    "{a}b",       "\xc3\xa9"};
	struct scripts *s = *state;

	assert_int_equal(crc16("123456789", 9), 0x31c3);
	for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
		ask_shard(s, ids[i]);
		assert_int_equal(strlen(s->reply->str), 2);
		assert_int_equal(strtoul(s->reply->str, NULL, 10), shard_of(ids[i]));
	}
	s->shard = 8;
	assert_true(is(ask_shard(s, "a"), "ERR there is no {t:08}:m"));
}

/* expect_stored: the value is that of the record, and a claim finds nothing wrong with it. */
static void expect_stored(struct scripts *s, const struct record *record, uint64_t due)
{
	static unsigned char body[RECORD_HEADER_SIZE + 255 + 63 + DATA_MAX];
	size_t head = record->late_after ? 50 : 42, size = record->topic_size + record->data_size;
	const unsigned char *value;
	uint64_t ver = strtoull(s->reply->str, NULL, 10);

	record_encode(record, body);
	command(s, "HGET {t:%02u}:h %b", s->shard, record->id, (size_t)record->id_size);
	assert_int_equal(s->reply->len, head + size);
	value = (const unsigned char *)s->reply->str;
	assert_int_equal(value[36], record->late_after ? 2 : 1);
	assert_int_equal(value[37], record->topic_size);
	assert_memory_equal(value + 38, body + 8, 4);
	assert_int_equal(record->late_after ? bytes_get(value + 42, 8) : 0, record->late_after);
	assert_memory_equal(value + head, body + RECORD_HEADER_SIZE + record->id_size, size);
	assert_int_equal(bytes_get(value + 16, 8), due);
	command(s, "ZSCORE {t:%02u}:i %b", s->shard, record->id, (size_t)record->id_size);
	assert_int_equal(strtoull(s->reply->str, NULL, 10), ver);
	command(s, "ZSCORE {t:%02u}:z %b", s->shard, record->id, (size_t)record->id_size);
	assert_int_equal(strtoull(s->reply->str, NULL, 10), due);
	call_owner(s, "claim");
	call_word(s, record->id, record->id_size);
	call_number(s, ver);
	call_text(s, "0");
	assert_int_equal(version_in(call_go(s)->element[1]), ver);
}

static void what_is_added_is_what_the_library_writes(void **state)
{
	static const uint32_t sizes[] = {0, 1, 3, 100, 4096, DATA_MAX};
	static unsigned char data[DATA_MAX];
	struct scripts *s = *state;
	struct rng rng = seed_of_test();

	for (unsigned i = 0; i < 60; i++) {
		char id[32];
		uint64_t due = 1 + rng_next(&rng) % UINT64_C(9007199254740991);
		struct record record = {
		    .id = id, .topic = "caf\xc3\xa9", .topic_size = 5, .data = data};

		(void)snprintf(id, sizeof id, "\xe2\x82\xac %" PRIx64, rng_next(&rng));
		record.id_size = (uint8_t)strlen(id);
		record.data_size = sizes[i % 6];
		record.late_after = i % 2 ? (dw_usec)(rng_next(&rng) >> 12) : 0;
		for (uint32_t k = 0; k < record.data_size; k++)
			data[k] = (unsigned char)rng_next(&rng);
		if (shard_of(id) != s->shard) {
			assert_true(is(add(s, &record, due), "ERR \xe2\x82\xac "));
			s->shard = shard_of(id);
			s->token[0] = '\0';
			command(s, "DEL {t:%02u}:l", s->shard);
			own(s);
		}
		assert_int_equal(add(s, &record, due)->type, REDIS_REPLY_STRING);
		expect_stored(s, &record, due);
	}
}

/* A recurring timer is stored as the library stores it, and the same one again stays as it is. */
static void what_is_added_may_recur(void **state)
{
	static const struct {
		const char *every, *text;
	} samples[] = {{"90000000", "every 90s"},
		       {"86400000000", "every 1d"},
		       {"1500", "every 1500us"},
		       {"7200000000", "every 2h"}};
	struct scripts *s = *state;

	s->shard = shard_of("a");
	own(s);
	for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
		struct record_rule rule = {
		    .text = samples[i].text, .occurrence = 5, .start = 5, .until = DW_NEVER};
		unsigned char blocks[RECORD_BLOCKS_MAX], body[512], packed[512];
		struct record record = {.id = "a",
					.topic = "t",
					.data = "data",
					.data_size = 4,
					.blocks = blocks,
					.blocks_size = (uint16_t)record_rule_write(&rule, blocks),
					.id_size = 1,
					.topic_size = 1};
		const char *const dues[] = {"5", "7"};
		char versions[2][32];
		size_t size;

		record_encode(&record, body);
		size = value_pack(body, record_size(&record), packed);
		for (int k = 0; k < 2; k++) {
			call(s, "add");
			call_text(s, "a");
			call_text(s, "t");
			call_text(s, dues[k]);
			call_text(s, "data");
			call_text(s, "0");
			call_text(s, samples[i].every);
			(void)snprintf(versions[k], sizeof versions[k], "%s", call_go(s)->str);
			command(s, "HGET {t:%02u}:h a", s->shard);
			assert_int_equal(s->reply->len, VALUE_HEAD_SIZE + size);
			assert_memory_equal(s->reply->str + VALUE_HEAD_SIZE, packed, size);
			assert_int_equal(bytes_get((unsigned char *)s->reply->str + 16, 8), 5);
		}
		assert_string_equal(versions[0], versions[1]);
	}
}

static void wrong_words_are_refused(void **state)
{
	static char long_text[DATA_MAX + 2];
	static const struct {
		const char *words[6];
		const char *why;
	} calls[] = {
	    {{"", "t", "5", ""}, "ERR an id"},
	    {{"a\n", "t", "5", ""}, "ERR an id"},
	    {{"\x7f", "t", "5", ""}, "ERR an id"},
	    {{"\xc2\x80", "t", "5", ""}, "ERR an id"},
	    {{"\xc3", "t", "5", ""}, "ERR an id"},
	    {{"\xed\xa0\x80", "t", "5", ""}, "ERR an id"},
	    {{"\xf4\x90\x80\x80", "t", "5", ""}, "ERR an id"},
	    {{"\xe0\x80\xaf", "t", "5", ""}, "ERR an id"},
	    {{long_text + DATA_MAX + 1 - 256, "t", "5", ""}, "ERR an id"},
	    {{"a", "", "5", ""}, "ERR a topic"},
	    {{"a", long_text + DATA_MAX + 1 - 64, "5", ""}, "ERR a topic"},
	    {{"a", "*", "5", ""}, "ERR a topic"},
	    {{"a", "t", "0", ""}, "ERR due"},
	    {{"a", "t", "-1", ""}, "ERR due"},
	    {{"a", "t", "1e9", ""}, "ERR due"},
	    {{"a", "t", "0x10", ""}, "ERR due"},
	    {{"a", "t", "", ""}, "ERR due"},
	    {{"a", "t", "9007199254740992", ""}, "ERR due"},
	    {{"a", "t", "5", long_text}, "ERR data"},
	    {{"a", "t", "5", "", "-5"}, "ERR late_after"},
	    {{"a", "t", "5"}, "ERR add takes"},
	    {{"a", "t", "5", "", "0", "999"}, "ERR every"},
	    {{"a", "t", "5", "", "0", "316224000000001"}, "ERR every"},
	    {{"a", "t", "5", "", "0", "1m"}, "ERR every"},
	    {{"a", "t", "5", "", "7", "1000"}, "ERR a recurring timer"},
	};
	struct scripts *s = *state;

	memset(long_text, 'x', DATA_MAX + 1);
	s->shard = shard_of("a");
	own(s);
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		call(s, "add");
		for (int k = 0; k < 6 && calls[i].words[k]; k++)
			call_text(s, calls[i].words[k]);
		if (!is(call_go(s), calls[i].why))
			fail_msg("%zu: %s", i, s->reply->str);
	}
	assert_int_equal(command(s, "EXISTS {t:%02u}:h", s->shard)->integer, 0);
}

static void a_topic_without_intake_is_refused(void **state)
{
	struct scripts *s = *state;
	struct record record = {.id = "a",
				.id_size = 1,
				.topic = "mail",
				.topic_size = 4,
				.data = (const unsigned char *)""};

	s->shard = shard_of("a");
	own(s);
	command(s, "HSET {t:%02u}:m closed %b", s->shard, "e\nmail\n", (size_t)7);
	assert_true(is(add(s, &record, 5), "ERR the topic is paused: it takes nothing new"));
	assert_int_equal(command(s, "EXISTS {t:%02u}:h", s->shard)->integer, 0);
	record.topic_size = 3; /* mai */
	assert_int_equal(add(s, &record, 5)->type, REDIS_REPLY_STRING);
}

static void one_is_cancelled_as_by_a_client(void **state)
{
	struct scripts *s = *state;
	struct record record = {.id = "a", .topic = "t", .data = "", .id_size = 1, .topic_size = 1};

	s->shard = shard_of("a");
	own(s);
	assert_string_equal(cancel_one(s, "a")->str, "ENOENT");
	add(s, &record, 5);
	assert_string_equal(cancel_one(s, "a")->str, "OK");
	assert_string_equal(cancel_one(s, "a")->str, "ENOENT");
	put_one(s, true, "a", 5, 2); /* claimed */
	assert_string_equal(cancel_one(s, "a")->str, "ELATE");
	assert_int_equal(command(s, "HLEN {t:%02u}:h", s->shard)->integer, 1);
	add(s, &record, 5);
	assert_string_equal(cancel_one(s, "a")->str, "ELATE"); /* the claim may still start */
	assert_int_equal(command(s, "HLEN {t:%02u}:h", s->shard)->integer, 0);
	assert_string_equal(cancel_one(s, "a")->str, "ELATE");
	add(s, &record, 5);
	assert_string_equal(cancel_one(s, "a")->str, "ELATE");
	assert_true(is(cancel_one(s, "b"), "ERR b is in shard"));
}

/* The script has no session, so nobody is known who has cancelled. */
static void the_end_of_one_that_is_cancelled_is_kept(void **state)
{
	struct scripts *s = *state;
	struct record record = {.id = "a", .topic = "t", .data = "", .id_size = 1, .topic_size = 1};
	unsigned n = s->shard = shard_of("a");
	const char *sha1 = redis_scripts[SCRIPT_CANCEL_ONE].sha1;
	redisReply *end;

	own(s);
	command(s, "HSET {t:%02u}:m keeps %s", n, "t\t60000000\n");
	add(s, &record, 5);
	command(s,
		"EVALSHA %s 6 {t:%02u}:m {t:%02u}:z {t:%02u}:h {t:%02u}:i {t:%02u}:E {t:%02u}:x a",
		sha1, n, n, n, n, n, n);
	assert_string_equal(s->reply->str, "OK");
	end = command(s, "HGET {t:%02u}:E a", n);
	assert_int_equal(end->type, REDIS_REPLY_STRING);
	assert_int_equal(end->str[4], 0); /* the size of who has ended it */
}

/* ---- The commands of lua/README.md ---- */

/* write_script copies the commands. The namespace is the test's, and the scripts are those of the
 * build, whose folder tests/ has this program. */
static void write_script(const char *root, const char *path)
{
	char program[TEMP_SIZE] = "", command[4 * TEMP_SIZE];

	assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
	*strstr(program, "/tests/test_") = '\0';
	(void)snprintf(
	    command, sizeof command,
	    "sed -n '/^```sh$/,/^```$/{s/^ns=orders/ns=t/;s|^lua=.*|lua=%s/lua|;/^```/!p}' "
	    "'%s/lua/README.md' > '%s'",
	    program, root, path);
	assert_int_equal(system(command), 0);
}

static void the_commands_of_the_readme_do_what_it_says(void **state)
{
	struct scripts *s = *state;
	char root[TEMP_SIZE] = __FILE__, path[TEMP_SIZE], line[4 * TEMP_SIZE], out[128] = "";
	FILE *file;

	*strstr(root, "/tests/unit/") = '\0';
	write_script(root, temp_file(path, s->server.folder, "commands"));
	file = fopen(temp_file(path, s->server.folder, "redis-cli"), "w");
	assert_non_null(file);
	(void)fprintf(file, "#!/bin/sh\nexec /usr/bin/redis-cli -s '%s' \"$@\"\n", s->server.path);
	(void)fclose(file); /* what follows finds out */
	assert_int_equal(chmod(path, 0700), 0);
	for (s->shard = 0; s->shard <= 3; s->shard += 3) {
		s->token[0] = '\0';
		own(s);
	}
	(void)snprintf(line, sizeof line, "cd '%s' && PATH=\"%s:$PATH\" bash -eu '%s/commands'",
		       root, s->server.folder, s->server.folder);
	file = popen(line, "r");
	assert_non_null(file);
	assert_true(fread(out, 1, sizeof out - 1, file) > 0);
	assert_int_equal(pclose(file), 0);
	assert_int_equal(strspn(out, "0123456789"), 16);
	assert_string_equal(out + 16, "\nOK\n");
	assert_int_equal(command(s, "ZCARD {t:03}:i")->integer, 1);
}

/* ---- The user of lua/README.md ---- */

static void make_user(struct scripts *s, const char *root)
{
	char line[2 * TEMP_SIZE + 256], words[2048] = "";
	FILE *file;

	(void)snprintf(
	    line, sizeof line,
	    "sed -n 's/^    ACL SETUSER/ACL SETUSER/; s/orders/t/gp' '%s/lua/README.md' | "
	    "grep '^ACL SETUSER' | redis-cli -s '%s'",
	    root, s->server.path);
	file = popen(line, "r");
	assert_non_null(file);
	assert_true(fread(words, 1, sizeof words - 1, file) > 0);
	assert_int_equal(pclose(file), 0);
	assert_string_equal(words, "OK\n");
}

static void call_each(struct scripts *s)
{
	static const char *const calls[][10] = {
	    {"release", "1:n:1"},
	    {"session", "1", "60000", ""},
	    {"put", "c", "1", "", "1", "60000", "{t:07}:wake"},
	    {"page", "+", "5", "5", "0"},
	    {"page", "-", "5", "-5", "0"},
	    {"page", "+", "5", "5", "a"},
	    {"page", "-", "5", "-5", "b"},
	    {"dead_page", "", "", "5"},
	    {"dead_page", "5", "a", "5"},
	    {"due", "1", "5", "9007199254740992"},
	    {"status"},
	    {"types"},
	    {"shard", "a"},
	    {"add", "a", "t", "5", ""},
	    {"cancel_one", "a"},
	};

	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		call(s, calls[i][0]);
		for (int k = 1; k < 10 && calls[i][k]; k++)
			call_text(s, calls[i][k]);
		call_go(s); /* what it must not do is in the log */
	}
}

static void mutate_each(struct scripts *s, bool owner)
{
	static const char *const calls[][8] = {
	    {"claim", "a", "1", "0"},
	    {"settle", "x", "1", "0", "12345678", ""},
	    {"retry", "a", "1", "0", "12345678", "1", ""},
	    {"bury", "a", "1", "0", "2", "5", "", "12345678"},
	    {"ack", "a", "1"},
	    {"forget", "0", "0"},
	    {"report", "x", "5"},
	    {"move", "0", "a", "0", "12345678", ""},
	    {"requeue", "a", "0", "12345678", ""},
	    {"drop", "a", "0"},
	    {"cancel", "0", "a", "0"},
	    {"drop", "", "0"},
	    {"purge"},
	};

	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		if (!owner && i < 7)
			continue;
		if (!owner && strcmp(calls[i][0], "purge") == 0)
			continue;
		(owner ? call_owner : call_client)(s, calls[i][0]);
		for (int k = 1; k < 8 && calls[i][k]; k++)
			call_text(s, calls[i][k]);
		if (!is(call_go(s), "OK"))
			fail_msg("%s: %s", calls[i][0], s->reply->str);
	}
}

static void the_user_of_the_readme_may_do_what_the_scripts_do(void **state)
{
	struct scripts *s = *state;
	char root[TEMP_SIZE] = __FILE__;

	*strstr(root, "/tests/unit/") = '\0';
	make_user(s, root);
	s->shard = shard_of("a");
	s->sent = 0;
	command(s, "ACL LOG RESET");
	assert_true(is(command(s, "AUTH timers SECRET"), "OK"));
	assert_true(is(command(s, "SET other 1"), "NOPERM"));
	own(s);
	call(s, "renew");
	for (int i = 0; i < 4; i++)
		call_text(s, ((const char *[]){s->token, s->token, "60000", "era"})[i]);
	assert_true(is(call_go(s), "OK"));
	call_each(s);
	for (int i = 0; i < 2; i++) {
		put_one(s, i == 0, "a", 5, 0);
		put_one(s, true, "b", 5, 2);
		mutate_each(s, i == 0);
		call_each(s);
	}
	assert_true(is(command(s, "AUTH default x"), "OK"));
	assert_int_equal(command(s, "ACL LOG")->elements, 1); /* the SET */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(an_id_is_in_the_shard_of_its_part_in_braces, scripts_empty),
	    cmocka_unit_test_setup(what_is_added_is_what_the_library_writes, scripts_empty),
	    cmocka_unit_test_setup(what_is_added_may_recur, scripts_empty),
	    cmocka_unit_test_setup(wrong_words_are_refused, scripts_empty),
	    cmocka_unit_test_setup(a_topic_without_intake_is_refused, scripts_empty),
	    cmocka_unit_test_setup(one_is_cancelled_as_by_a_client, scripts_empty),
	    cmocka_unit_test_setup(the_end_of_one_that_is_cancelled_is_kept, scripts_empty),
	    cmocka_unit_test_setup(the_user_of_the_readme_may_do_what_the_scripts_do,
				   scripts_empty),
	    cmocka_unit_test_setup(the_commands_of_the_readme_do_what_it_says, scripts_empty),
	};

	return cmocka_run_group_tests(tests, scripts_set_up, scripts_tear_down);
}
