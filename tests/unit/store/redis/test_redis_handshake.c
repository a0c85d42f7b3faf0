/* Two handshakes of a shard are under way: only the last one counts. The mark that the first reply
 * names is from before the commands that were sent on it, so their numbers would be given twice. */
#include <string.h>

#include "store/redis/owner/session.h"
#include "support/cmocka.h"
#include "support/stub_link.h"

enum { SHARDS = 4, FIELDS = 8 };

static const char *mark; /* the last number that the server has applied; NULL: no reply */

static struct reply *answer_session(struct stub_link *stub)
{
	const char *words[FIELDS] = {"OK", mark, "", "100000000", "", "0", "1", "0"};
	struct reply *reply;

	if (!mark)
		return NULL;
	reply = reply_new(&stub->alloc);
	assert_non_null(reply);
	assert_true(reply_items(reply, reply, FIELDS));
	for (unsigned i = 0; i < FIELDS; i++)
		assert_true(
		    reply_bytes(reply, &reply->items[i], REPLY_BULK, words[i], strlen(words[i])));
	mark = NULL;
	return reply;
}

static void reply_to_an_earlier_handshake_does_not_count(void **state)
{
	struct stub_link stub;
	struct redis_store *store = stub_open(&stub, SHARDS);
	struct channel *channel = &store->shards[1].channel;

	(void)state;
	stub.answer = answer_session;
	handshake_begin(store, &store->shards[1]);
	channel_forget(channel);
	handshake_begin(store, &store->shards[1]);
	assert_int_equal(stub.unanswered, 2);
	mark = "4";
	node_wire(store, &store->node);
	assert_int_equal(channel->handshake, HANDSHAKE_ASKED);
	mark = "6";
	node_wire(store, &store->node);
	assert_int_equal(channel->handshake, HANDSHAKE_DONE);
	assert_int_equal(channel->next, 7);
	stub_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reply_to_an_earlier_handshake_does_not_count),
	};

	return cmocka_run_group_tests_name("redis_handshake", tests, NULL, NULL);
}
