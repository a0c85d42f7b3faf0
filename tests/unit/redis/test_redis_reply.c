/* The RESP reader: every reply in every chunking, and what a hostile or broken server may send. */
#include "redis/reply.h"

#include <stdlib.h>
#include <string.h>

#include "durawheel/durawheel.h"
#include "support/cmocka.h"
#include "support/environment.h"
#include "support/seed.h"
#include "support/shortage.h"

static struct reply_reader *new_reader(void)
{
	struct alloc alloc = alloc_default();
	struct reply_reader *reader = reply_reader_new(&alloc);

	assert_non_null(reader);
	return reader;
}

/* feed_all feeds text in chunks and returns what reply_next() says in the end; the first reply. */
static int feed_all(struct reply_reader *reader, const void *text, size_t size, size_t chunk,
		    struct reply **ret_reply)
{
	const char *bytes = text;
	int status = DW_OK;

	*ret_reply = NULL;
	for (size_t at = 0; at < size && status == DW_OK && !*ret_reply; at += chunk) {
		assert_true(reply_feed(reader, bytes + at, size - at < chunk ? size - at : chunk));
		status = reply_next(reader, ret_reply);
	}
	return status;
}

static void expect_corrupt(const void *text, size_t size)
{
	for (size_t chunk = 1; chunk <= size; chunk = chunk < 8 ? chunk + 1 : chunk * 4) {
		struct reply_reader *reader = new_reader();
		struct reply *reply;

		assert_int_equal(feed_all(reader, text, size, chunk, &reply), DW_ECORRUPT);
		assert_null(reply);
		reply_reader_free(reader);
	}
}

static const char nested[] = "*7\r\n$5\r\nhello\r\n:-42\r\n$-1\r\n*-1\r\n*2\r\n+OK\r\n*0\r\n"
			     "-NOSCRIPT No matching script.\r\n$3\r\n\r\n\0\r\n";

static void check_nested(const struct reply *reply)
{
	assert_int_equal(reply->kind, REPLY_ARRAY);
	assert_int_equal(reply->count, 7);
	assert_true(reply_is(&reply->items[0], "hello"));
	assert_int_equal(reply->items[1].kind, REPLY_INTEGER);
	assert_int_equal(reply->items[1].integer, -42);
	assert_int_equal(reply->items[2].kind, REPLY_NIL);
	assert_int_equal(reply->items[3].kind, REPLY_NIL);
	assert_int_equal(reply->items[4].count, 2);
	assert_true(reply_is(&reply->items[4].items[0], "OK"));
	assert_int_equal(reply->items[4].items[1].kind, REPLY_ARRAY);
	assert_int_equal(reply->items[4].items[1].count, 0);
	assert_true(reply_fails(&reply->items[5], "NOSCRIPT"));
	assert_int_equal(reply->items[6].kind, REPLY_BULK);
	assert_memory_equal(reply->items[6].bytes, "\r\n\0", 4); /* and its NUL */
	assert_int_equal(reply->items[6].size, 3);
}

static void reader_in_every_chunking_gives_the_same(void **state)
{
	size_t size = sizeof nested - 1;

	(void)state;
	for (size_t chunk = 1; chunk <= size; chunk++) {
		struct reply_reader *reader = new_reader();
		struct reply *reply;

		assert_int_equal(feed_all(reader, nested, size, chunk, &reply), DW_OK);
		assert_non_null(reply);
		check_nested(reply);
		reply_free(reply);
		assert_int_equal(reply_next(reader, &reply), DW_OK);
		assert_null(reply);
		reply_reader_free(reader);
	}
}

static void reader_of_many_gives_them_in_order(void **state)
{
	struct reply_reader *reader = new_reader();
	struct reply *reply;
	char text[32];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		(void)snprintf(text, sizeof text, ":%d\r\n", i);
		assert_true(reply_feed(reader, text, strlen(text)));
	}
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(reply_next(reader, &reply), DW_OK);
		assert_non_null(reply);
		assert_int_equal(reply->integer, i);
		reply_free(reply);
	}
	assert_int_equal(reply_next(reader, &reply), DW_OK);
	assert_null(reply);
	reply_reader_free(reader);
}

static void reader_of_nonsense_says_corrupt(void **state)
{
	static const char *const texts[] = {
	    "*2147483647\r\n",
	    "*1048577\r\n",
	    "*99999999999999999999\r\n",
	    "*-2\r\n",
	    "$-2\r\n",
	    "$99999999999999999999\r\n",
	    "$67108865\r\n",
	    "$1000000000\r\n",
	    "$00000000000000000000000000000000000000\r\n",
	    "$3\nabc",
	    "$3\rabc",
	    "$\r\n\r\n",
	    "HTTP/1.1 400 Bad Request\r\n",
	    "%1\r\n+a\r\n+b\r\n",
	    ",1.5\r\n",
	    "#t\r\n",
	    "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		expect_corrupt(texts[i], strlen(texts[i]));
}

static void reader_of_too_many_items_in_all_says_corrupt(void **state)
{
	static const char text[] = "*2\r\n*1048574\r\n*2\r\n";

	(void)state;
	expect_corrupt(text, sizeof text - 1);
}

static void reader_of_seven_levels_reads_them(void **state)
{
	static const char text[] = "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:7\r\n";
	struct reply_reader *reader = new_reader();
	struct reply *reply;
	const struct reply *inner;

	(void)state;
	assert_int_equal(feed_all(reader, text, sizeof text - 1, 3, &reply), DW_OK);
	inner = reply;
	for (int depth = 0; depth < REPLY_DEPTH_MAX; depth++)
		inner = &inner->items[0];
	assert_int_equal(inner->integer, 7);
	reply_free(reply);
	reply_reader_free(reader);
}

/* An endless line is refused before it is large, whatever it is the line of. */
static void reader_of_an_endless_line_says_corrupt(void **state)
{
	char block[4096];

	(void)state;
	memset(block, '7', sizeof block);
	for (const char *kind = "+-:*$"; *kind; kind++) {
		struct reply_reader *reader = new_reader();
		struct reply *reply = NULL;
		int status = DW_OK;
		size_t fed = 1;

		assert_true(reply_feed(reader, kind, 1));
		for (; status == DW_OK && fed < 1000000; fed += sizeof block) {
			assert_true(reply_feed(reader, block, sizeof block));
			status = reply_next(reader, &reply);
			assert_null(reply);
		}
		assert_int_equal(status, DW_ECORRUPT);
		assert_true(fed < 100000);
		reply_reader_free(reader);
	}
}

static void read_bulk(size_t size)
{
	char *text = malloc(size + 32);
	struct reply_reader *reader = new_reader();
	struct reply *reply;
	size_t head;

	assert_non_null(text);
	head = (size_t)snprintf(text, 32, "$%zu\r\n", size);
	memset(text + head, 'x', size);
	memcpy(text + head + size, "\r\n", 2);
	assert_int_equal(feed_all(reader, text, head + size + 2, 65536, &reply), DW_OK);
	assert_int_equal(reply->size, size);
	assert_memory_equal(reply->bytes, text + head, size);
	reply_free(reply);
	reply_reader_free(reader);
	free(text);
}

static void reader_of_a_large_bulk_gives_it(void **state)
{
	(void)state;
	read_bulk(5u << 20);
	read_bulk(REPLY_BULK_MAX);
}

/* Random bytes from the alphabet of RESP: a reply, or a defined failure, and nothing else. */
static void reader_of_random_bytes_stays_sane(void **state)
{
	static const char alphabet[] = "*$:+-\r\n\r\n\r\n0123456789ab";
	struct rng rng = seed_of_test();
	uint64_t rounds = environment_scaled(1000000);
	struct reply_reader *reader = new_reader();

	(void)state;
	for (uint64_t i = 0; i < rounds; i++) {
		struct reply *reply = NULL;
		char chunk[12];
		size_t size = 1 + rng_below(&rng, sizeof chunk);
		int status;

		for (size_t k = 0; k < size; k++)
			chunk[k] = alphabet[rng_below(&rng, sizeof alphabet - 1)];
		assert_true(reply_feed(reader, chunk, size));
		while ((status = reply_next(reader, &reply)) == DW_OK && reply)
			reply_free(reply);
		if (status == DW_OK)
			continue;
		assert_int_equal(status, DW_ECORRUPT);
		reply_reader_free(reader);
		reader = new_reader();
	}
	reply_reader_free(reader);
}

/* Each allocation fails once: no memory is said, and nothing is left over. */
static void reader_without_memory_says_so(void **state)
{
	struct shortage shortage = SHORTAGE_NONE;
	struct alloc alloc = {.resize = shortage_resize, .user = &shortage};
	static const char text[] = "*3\r\n$5\r\nhello\r\n*40\r\n";
	bool failed = true;

	(void)state;
	for (size_t nth = 1; failed; nth++) {
		struct reply_reader *reader;
		struct reply *reply = NULL;

		shortage.failed = false;
		shortage_begin(&shortage, nth, false);
		reader = reply_reader_new(&alloc);
		if (reader) {
			int status = feed_all(reader, text, sizeof text - 1, 4, &reply);

			assert_int_equal(status, shortage_failed(&shortage) ? DW_ENOMEM : DW_OK);
		}
		failed = shortage_failed(&shortage);
		shortage_end(&shortage);
		reply_free(reply);
		reply_reader_free(reader);
		assert_int_equal(shortage.blocks, 0);
		assert_true(failed || nth > 3);
	}
}

static void reply_made_by_hand_is_like_one_read(void **state)
{
	struct alloc alloc = alloc_default();
	struct reply *reply = reply_new(&alloc);

	(void)state;
	assert_non_null(reply);
	assert_int_equal(reply->kind, REPLY_NIL);
	assert_true(reply_items(reply, reply, 100));
	for (size_t i = 0; i < 100; i++) {
		assert_int_equal(reply->items[i].kind, REPLY_NIL);
		assert_true(reply_bytes(reply, &reply->items[i], REPLY_BULK, "some bytes", 10));
	}
	for (size_t i = 0; i < 100; i++)
		assert_true(reply_is(&reply->items[i], "some bytes"));
	assert_false(reply_is(&reply->items[0], "some byte"));
	reply_free(reply);
	reply_free(NULL);
}

/* Redis 7 adds the script's name to an error in it. */
static void an_error_has_no_name_of_a_script(void **state)
{
#define SHA "66303b2102dd560f75cb7cf55879095ad893bc7b"
	static const struct {
		const char *text, *wanted;
	} errors[] = {
	    {"-NOREPLICAS Not enough good replicas to write. script: " SHA
	     ", on @user_script:73.\r\n",
	     "NOREPLICAS Not enough good replicas to write."},
	    {"-ERR no script: here\r\n", "ERR no script: here"},
	    {"-ERR script: 66303b2102dd560f75cb7cf55879095ad893bc7\r\n",
	     "ERR script: 66303b2102dd560f75cb7cf55879095ad893bc7"},
	    {"-ERR script: " SHA "\r\n", "ERR"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
		struct reply_reader *reader = new_reader();
		struct reply *reply;

		assert_int_equal(
		    feed_all(reader, errors[i].text, strlen(errors[i].text), 7, &reply), DW_OK);
		assert_int_equal(reply->kind, REPLY_ERROR);
		assert_string_equal(reply->bytes, errors[i].wanted);
		assert_int_equal(reply->size, strlen(errors[i].wanted));
		reply_free(reply);
		reply_reader_free(reader);
	}
#undef SHA
}

static void reply_fails_matches_whole_words(void **state)
{
	struct alloc alloc = alloc_default();
	struct reply *reply = reply_new(&alloc);

	(void)state;
	assert_true(reply_bytes(reply, reply, REPLY_ERROR, "NOAUTH Authentication", 21));
	assert_true(reply_fails(reply, "NOAUTH"));
	assert_false(reply_fails(reply, "NO"));
	assert_false(reply_fails(reply, "NOAUTH A"));
	assert_false(reply_is(reply, "NOAUTH Authentication"));
	assert_true(reply_bytes(reply, reply, REPLY_ERROR, "BUSY", 4));
	assert_true(reply_fails(reply, "BUSY"));
	reply_free(reply);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reader_in_every_chunking_gives_the_same),
	    cmocka_unit_test(reader_of_many_gives_them_in_order),
	    cmocka_unit_test(reader_of_nonsense_says_corrupt),
	    cmocka_unit_test(reader_of_too_many_items_in_all_says_corrupt),
	    cmocka_unit_test(reader_of_seven_levels_reads_them),
	    cmocka_unit_test(reader_of_an_endless_line_says_corrupt),
	    cmocka_unit_test(reader_of_a_large_bulk_gives_it),
	    cmocka_unit_test(reader_of_random_bytes_stays_sane),
	    cmocka_unit_test(reader_without_memory_says_so),
	    cmocka_unit_test(reply_made_by_hand_is_like_one_read),
	    cmocka_unit_test(an_error_has_no_name_of_a_script),
	    cmocka_unit_test(reply_fails_matches_whole_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
