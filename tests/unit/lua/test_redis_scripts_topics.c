/* The scripts of topics, one at a time: what one of them leaves, before another one goes on. */
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/script_fixture.h"

static const redisReply *set(struct scripts *s, const char *topic, const char *settings,
			     uint64_t most)
{
	call_topic(s, "topic_set", topic);
	call_text(s, topic);
	call_text(s, settings);
	call_number(s, 0);
	call_number(s, most);
	call_text(s, "");
	call_number(s, 0);
	return call_go(s);
}

static const redisReply *mark(struct scripts *s, const char *field)
{
	return command(s, "HGET {t:%02u}:m %s", s->shard, field);
}

/* The copy of the drop may not come: then nothing else tells the shard. */
static void a_drop_leaves_no_marks(void **state)
{
	struct scripts *s = *state;

	assert_true(is(set(s, "p", "paused=2 keep=5", 9), "OK"));
	assert_string_equal(mark(s, "closed")->str, "p\n");
	assert_string_equal(mark(s, "keeps")->str, "p\t5\n");
	call_topic(s, "topic_drop", "p");
	call_text(s, "p");
	call_text(s, "");
	assert_true(is(call_go(s), "OK"));
	assert_int_equal(mark(s, "closed")->type, REDIS_REPLY_NIL);
	assert_int_equal(mark(s, "keeps")->type, REDIS_REPLY_NIL);
}

static void at_the_limit_a_topic_can_be_changed(void **state)
{
	struct scripts *s = *state;

	assert_true(is(set(s, "p", "paused=2", 2), "OK"));
	assert_true(is(set(s, "q", "queue=1", 2), "OK"));
	assert_true(is(set(s, "r", "queue=1", 2), "LIMIT"));
	assert_true(is(set(s, "p", "paused=0", 2), "OK"));
}

static const redisReply *put_into_closed(struct scripts *s, bool owner)
{
	static const char body[] = "\1\1sum.z"; /* without data */
	const struct put put = {.id = "a", .due = 1, .body = body, .body_size = 7};

	(owner ? call_owner : call_client)(s, "put");
	call_puts(s, &put, 1);
	return call_go(s);
}

/* A handshake tells the number. The numbers of the next ownership begin again. */
static void a_refusal_by_a_pause_notes_its_number(void **state)
{
	struct scripts *s = *state;
	const redisReply *reply;

	assert_true(is(set(s, "z", "paused=2", 9), "OK"));
	put_one(s, true, "x", 1, 0);
	assert_int_equal(mark(s, "refused")->type, REDIS_REPLY_NIL);
	reply = put_into_closed(s, true);
	assert_int_equal(reply->element[1]->integer, 9);
	assert_int_equal(strtoull(mark(s, "refused")->str, NULL, 10), s->mark);
	own(s);
	assert_int_equal(mark(s, "refused")->type, REDIS_REPLY_NIL);
	put_one(s, false, "y", 1, 0);
	assert_int_equal(put_into_closed(s, false)->element[1]->integer, 9);
	assert_int_equal(mark(s, "refused")->type, REDIS_REPLY_NIL);
	call(s, "session");
	call_text(s, "1");
	call_number(s, 60000);
	call_text(s, "");
	reply = call_go(s);
	assert_int_equal(strtoull(reply->element[7]->str, NULL, 10), s->sent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(a_drop_leaves_no_marks, scripts_empty),
	    cmocka_unit_test_setup(at_the_limit_a_topic_can_be_changed, scripts_empty),
	    cmocka_unit_test_setup(a_refusal_by_a_pause_notes_its_number, scripts_empty),
	};

	return cmocka_run_group_tests(tests, scripts_set_up, scripts_tear_down);
}
