/* The link and time: replies that come too slowly, probes. */
#include <string.h>

#include "base/usec.h"
#include "support/cmocka.h"
#include "support/fake_server.h"
#include "support/peer.h"

static void open_up(struct peer *peer, const struct socket_options *options, const char *welcome)
{
	peer_open(peer, options);
	peer->greets = welcome;
	peer_pass(peer, 0);
	assert_true(peer_is_up(peer));
}

/* was_left: the link has hung up once, for that reason. */
static void was_left(struct peer *peer, const char *words)
{
	assert_int_equal(peer->dials, 2);
	assert_non_null(strstr(peer->linked.log, words));
	peer_close(peer);
}

/* ---- Replies ------------------------------------------------------------------------------- */

/* trickle says text, a byte every 0.9 s, until the link hangs up: how long it has listened. */
static dw_usec trickle(struct peer *peer, const char *text)
{
	dw_usec begin = peer->now;
	char byte[2] = "";

	for (; *text && peer->dials == 1; text++) {
		byte[0] = *text;
		peer_say(peer, byte);
		peer_pass(peer, DW_MILLISECONDS(900));
	}
	return usec_sub(peer->now, begin);
}

static void reply_that_trickles_is_late(void **state)
{
	static const char *const replies[] = {"$20\r\n12345678901234567890\r\n",
					      "*1000\r\n:1\r\n:2\r\n:3\r\n:4\r\n",
					      "+OK and so on and on\r\n"};

	(void)state;
	for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
		struct peer peer;

		open_up(&peer, NULL, FAKE_WELCOME);
		assert_int_equal(link_send(peer.linked.link, 1, (const char *[]){"A"},
					   (const size_t[]){1}, peer.now),
				 DW_OK);
		assert_true(trickle(&peer, replies[i]) <= DW_SECONDS(2));
		was_left(&peer, "slowly");
	}
}

static void send_get(struct peer *peer)
{
	static const char *const words[] = {"GET", "a"};
	static const size_t sizes[] = {3, 1};

	assert_int_equal(link_send(peer->linked.link, 2, words, sizes, peer->now), DW_OK);
	peer_pass(peer, 0);
}

/* A second more for each MiB: what is announced has come in time, what trickles has not. */
static void reply_that_is_large_has_more_time(void **state)
{
	struct peer peer;
	struct reply *reply;

	(void)state;
	open_up(&peer, NULL, FAKE_WELCOME);
	send_get(&peer);
	peer_say(&peer, "$4194304\r\n");
	for (int i = 0; i < 4; i++) {
		peer_pass(&peer, DW_MILLISECONDS(900));
		peer_fill(&peer, 1 << 20);
	}
	peer_say(&peer, "\r\n");
	peer_pass(&peer, 0);
	reply = link_take(peer.linked.link);
	assert_non_null(reply);
	assert_int_equal(reply->size, 4 << 20);
	reply_free(reply);
	send_get(&peer);
	peer_say(&peer, "$4194304\r\n");
	assert_true(trickle(&peer, "123456789012345678901234567890") <= DW_SECONDS(6));
	was_left(&peer, "slowly");
}

/* The time of a reply begins with it: many that come one after the other have theirs each. */
static void replies_that_come_apart_are_in_time(void **state)
{
	struct peer peer;

	(void)state;
	open_up(&peer, NULL, FAKE_WELCOME);
	for (int i = 0; i < 8; i++)
		send_get(&peer);
	for (int i = 0; i < 8; i++) {
		peer_say(&peer, "$3\r\nab");
		peer_pass(&peer, DW_MILLISECONDS(800));
		peer_say(&peer, "c\r\n");
		link_work(peer.linked.link, peer.now);
		reply_free(link_take(peer.linked.link));
	}
	assert_true(peer_is_up(&peer));
	peer_close(&peer);
}

/* A program whose handlers take their time reads what has come when it comes back. */
static void reply_to_a_program_that_is_away_is_in_time(void **state)
{
	struct peer peer;
	struct reply *reply;

	(void)state;
	open_up(&peer, NULL, FAKE_WELCOME);
	send_get(&peer);
	peer_say(&peer, "$1048576\r\n");
	for (int i = 0; i < 16; i++) {
		peer_fill(&peer, 1 << 16);
		peer_away(&peer, DW_MILLISECONDS(900));
		assert_true(peer_is_up(&peer));
	}
	peer_say(&peer, "\r\n");
	peer_away(&peer, 0);
	reply = link_take(peer.linked.link);
	assert_non_null(reply);
	reply_free(reply);
	peer_close(&peer);
}

#define HEARS "+OK\r\n*3\r\n$9\r\nsubscribe\r\n$4\r\nbell\r\n:1\r\n"
#define RINGS "*3\r\n$7\r\nmessage\r\n$4\r\nbell\r\n$1\r\n7\r\n"

/* What nobody has asked for is late, too: a listener would be deaf meanwhile. */
static void message_that_trickles_is_late(void **state)
{
	struct socket_options options = {.name = "t", .channels = "bell"};
	struct peer peer;

	(void)state;
	open_up(&peer, &options, HEARS);
	assert_true(trickle(&peer, RINGS) <= DW_SECONDS(2));
	was_left(&peer, "slowly");
	open_up(&peer, NULL, FAKE_WELCOME);
	assert_true(trickle(&peer, RINGS) <= DW_SECONDS(2));
	was_left(&peer, "slowly");
}

/* ---- Probes -------------------------------------------------------------------------------- */

static void link_that_idles_probes(void **state)
{
	struct peer peer;

	(void)state;
	open_up(&peer, NULL, FAKE_WELCOME);
	for (unsigned i = 1; i <= 20; i++) {
		peer_pass(&peer, DW_MILLISECONDS(400));
		assert_int_equal(peer_saw(&peer, "PING"), 1 + i); /* one in the hello */
		peer_say(&peer, "+PONG\r\n");
	}
	peer_pass(&peer, DW_MILLISECONDS(1399));
	assert_int_equal(peer.dials, 1);
	peer_pass(&peer, DW_MILLISECONDS(200));
	was_left(&peer, "does not answer");
}

/* A probe goes between commands, too: its reply is told from theirs by its place. */
static void link_that_works_probes(void **state)
{
	struct peer peer;
	struct reply *reply;

	(void)state;
	open_up(&peer, NULL, FAKE_WELCOME);
	for (unsigned i = 1; i <= 10; i++) {
		bool probes = i % 2 == 0; /* every 0.4 s: in every other round */

		send_get(&peer);
		peer_pass(&peer, DW_MILLISECONDS(199));
		send_get(&peer);
		peer_pass(&peer, DW_MILLISECONDS(1));
		assert_int_equal(peer_saw(&peer, "PING"), 1 + i / 2);
		send_get(&peer);
		peer_say(&peer, probes ? ":1\r\n:2\r\n+PONG\r\n:3\r\n" : ":1\r\n:2\r\n:3\r\n");
		link_work(peer.linked.link, peer.now);
		for (int k = 1; k <= 3; k++) {
			reply = link_take(peer.linked.link);
			assert_non_null(reply);
			assert_int_equal(reply->integer, k);
			reply_free(reply);
		}
		assert_null(link_take(peer.linked.link));
	}
	assert_int_equal(peer.dials, 1);
	peer_close(&peer);
}

#define PROBE "call('UNLINK',KEYS[1])\r\n$1\r\n1\r\n$11\r\n{t:00}:test\r\n"
#define REFUSAL "-NOREPLICAS Not enough good replicas to write.\r\n"

static const struct socket_options probing = {.name = "t", .probe_key = "{t:00}:test"};

static bool says(const struct peer *peer, const char *words)
{
	bool fatal;

	return strstr(link_trouble(peer->linked.link, &fatal), words);
}

/* answer_probe: the next one that is a change. */
static void answer_probe(struct peer *peer, const char *reply)
{
	unsigned asked = peer_saw(peer, PROBE);

	for (unsigned i = 0; i < 100 && peer_saw(peer, PROBE) == asked; i++) {
		unsigned infos = peer_saw(peer, "INFO\r\n");

		peer_pass(peer, DW_MILLISECONDS(400));
		if (peer_saw(peer, "INFO\r\n") > infos)
			peer_say(peer, "-ERR no INFO\r\n");
	}
	peer_say(peer, reply);
	peer_pass(peer, 0);
}

/* The connection stays up: what reads is answered. */
static void server_that_refuses_changes_is_told(void **state)
{
	struct peer peer;

	(void)state;
	open_up(&peer, &probing, FAKE_WELCOME ":0\r\n");
	assert_int_equal(peer_saw(&peer, PROBE), 1);
	for (unsigned i = 1; i <= 3; i++) {
		answer_probe(&peer, i == 2 ? "-NOPERM no permissions\r\n" : REFUSAL);
		assert_true(says(&peer, i == 2 ? "refuses every change: NOPERM no permissions"
					       : "refuses every change: NOREPLICAS"));
		answer_probe(&peer, ":0\r\n");
		assert_false(says(&peer, "refuses"));
	}
	answer_probe(&peer, "-NOPERM no permissions to access one of the keys\r\n");
	assert_true(says(&peer, "the user may not write") && says(&peer, "give it ~"));
	answer_probe(&peer, ":0\r\n");
	assert_non_null(strstr(peer.linked.log, "takes changes again"));
	/* A new connection is told the same. */
	peer.greets = FAKE_WELCOME REFUSAL;
	link_drop(peer.linked.link, "for the test");
	peer_pass(&peer, DW_MILLISECONDS(100));
	assert_true(peer_is_up(&peer));
	assert_true(says(&peer, "refuses every change: NOREPLICAS"));
	peer_close(&peer);
}

/* answer_probes says what a server does that takes changes, until it is asked for INFO. */
static void answer_probes(struct peer *peer, const char *info)
{
	unsigned asked = peer_saw(peer, "INFO\r\n");

	for (unsigned i = 0; i < 100 && peer_saw(peer, "INFO\r\n") == asked; i++) {
		peer_pass(peer, DW_MILLISECONDS(400));
		if (peer_saw(peer, "INFO\r\n") == asked)
			peer_say(peer, ":0\r\n");
	}
	assert_int_equal(peer_saw(peer, "INFO\r\n"), asked + 1);
	peer_say(peer, info);
	peer_pass(peer, 0);
}

static void policy_that_is_changed_is_told(void **state)
{
	static const char *const evicting[] = {"$30\r\nmaxmemory_policy:allkeys-lru\r\n\r\n",
					       "$31\r\nmaxmemory_policy:volatile-ttl\r\n\r\n"};
	struct peer peer;

	(void)state;
	open_up(&peer, &probing, FAKE_WELCOME ":0\r\n");
	for (unsigned i = 0; i < 2; i++) {
		answer_probes(&peer, "-NOPERM no INFO\r\n");
		assert_false(says(&peer, "maxmemory-policy"));
		answer_probes(&peer, evicting[i]);
		assert_true(says(&peer, i ? "is volatile-ttl" : "is allkeys-lru"));
		answer_probes(&peer, evicting[i]);
		assert_true(says(&peer, i ? "throw leases away" : "throw timers away"));
		answer_probes(&peer, "$29\r\nmaxmemory_policy:noeviction\r\n\r\n");
		assert_false(says(&peer, "maxmemory-policy"));
	}
	assert_true(peer_is_up(&peer));
	assert_non_null(strstr(peer.linked.log, "does not throw timers or leases away any more"));
	peer_close(&peer);
}

/* CLIENT PAUSE WRITE: whatever reads is answered, and the probe is not. */
static void server_that_holds_changes_back_is_told(void **state)
{
	struct peer peer;

	(void)state;
	open_up(&peer, &probing, FAKE_WELCOME ":0\r\n");
	peer.greets = FAKE_WELCOME;
	peer_pass(&peer, DW_MILLISECONDS(1500));
	assert_false(peer_is_up(&peer));
	assert_true(says(&peer, "does not answer"));
	peer_pass(&peer, DW_MILLISECONDS(2500));
	assert_true(says(&peer, "holds every change back"));
	assert_false(peer_is_up(&peer));
	peer_say(&peer, ":0\r\n");
	peer_pass(&peer, 0);
	assert_true(peer_is_up(&peer));
	assert_false(says(&peer, "back"));
	peer_close(&peer);
}

/* ---- Coming back --------------------------------------------------------------------------- */

#define LOADING "-LOADING Redis is loading the dataset in memory\r\n"

/* away: from now on every connection ends like this. */
static void away(struct peer *peer, const char *greets, bool hangs_up)
{
	peer->greets = greets;
	peer->hangs_up = hangs_up;
	link_drop(peer->linked.link, "for the test");
	peer->dials = 0;
}

/* dialled: how often it has tried in that time. */
static unsigned dialled(struct peer *peer, dw_usec span)
{
	unsigned before = peer->dials;

	peer_pass(peer, span);
	return peer->dials - before;
}

/* Ten times a second for the first minute, however a connection fails; then ever more seldom. */
static void server_that_is_away_is_asked_often_first(void **state)
{
	static const char *const greets[] = {"", "-ERR max number of clients reached\r\n",
					     FAKE_WELCOME};

	(void)state;
	for (size_t i = 0; i < sizeof greets / sizeof *greets; i++) {
		struct peer peer;
		unsigned first;

		open_up(&peer, NULL, FAKE_WELCOME);
		away(&peer, greets[i], true);
		first = dialled(&peer, DW_MINUTES(1));
		assert_in_range(first, 600, 1100);
		assert_in_range(dialled(&peer, DW_MINUTES(1)), 40, first / 4);
		assert_in_range(dialled(&peer, DW_MINUTES(10)), 300, 500);
		/* What is there to stay begins a new outage. */
		peer.hangs_up = false;
		peer.greets = FAKE_WELCOME;
		peer_pass(&peer, DW_MILLISECONDS(3100));
		assert_true(peer_is_up(&peer));
		away(&peer, greets[i], true);
		assert_in_range(dialled(&peer, DW_MINUTES(1)), 600, 1100);
		peer_close(&peer);
	}
}

static void server_that_loads_is_asked_often(void **state)
{
	struct peer peer;

	(void)state;
	open_up(&peer, NULL, FAKE_WELCOME);
	away(&peer, "", true);
	peer_pass(&peer, DW_MINUTES(10));
	away(&peer, LOADING, false);
	peer_pass(&peer, DW_SECONDS(3));
	assert_in_range(dialled(&peer, DW_MINUTES(10)), 6000, 11000);
	peer.greets = FAKE_WELCOME;
	peer_pass(&peer, DW_MILLISECONDS(100));
	assert_true(peer_is_up(&peer));
	peer_close(&peer);
}

/* Many that lost the same server do not come back as one. */
static void links_come_back_at_times_of_their_own(void **state)
{
	dw_usec gaps[2][20];
	unsigned same = 0;

	(void)state;
	for (uint64_t k = 0; k < 2; k++) {
		struct socket_options options = {.name = "t", .seed = k};
		struct peer peer;

		open_up(&peer, &options, FAKE_WELCOME);
		away(&peer, "", true);
		for (int i = 0; i < 20; i++) {
			dw_usec before = peer.now;

			peer_pass(&peer, usec_sub(link_due(peer.linked.link), peer.now));
			gaps[k][i] = usec_sub(peer.dialled, before);
			assert_in_range(gaps[k][i], DW_MILLISECONDS(20), DW_MILLISECONDS(100));
		}
		peer_close(&peer);
	}
	for (int i = 0; i < 20; i++)
		same += gaps[0][i] == gaps[1][i] || (i > 0 && gaps[0][i] == gaps[0][i - 1]);
	assert_true(same < 5);
}

/* What is written has left the queue to the last byte: its bound is for what is not. */
static void queue_that_is_written_has_room(void **state)
{
	struct socket_options options = {.name = "t", .queue_max = 1000};
	struct peer peer;

	(void)state;
	open_up(&peer, &options, FAKE_WELCOME);
	for (int i = 0; i < 10000; i++) {
		send_get(&peer);
		peer.seen_size = 0;
		peer_say(&peer, ":1\r\n");
		peer_pass(&peer, 0);
		reply_free(link_take(peer.linked.link));
	}
	assert_true(peer_is_up(&peer));
	peer_close(&peer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reply_that_trickles_is_late),
	    cmocka_unit_test(reply_that_is_large_has_more_time),
	    cmocka_unit_test(replies_that_come_apart_are_in_time),
	    cmocka_unit_test(reply_to_a_program_that_is_away_is_in_time),
	    cmocka_unit_test(message_that_trickles_is_late),
	    cmocka_unit_test(link_that_idles_probes),
	    cmocka_unit_test(link_that_works_probes),
	    cmocka_unit_test(server_that_refuses_changes_is_told),
	    cmocka_unit_test(policy_that_is_changed_is_told),
	    cmocka_unit_test(server_that_holds_changes_back_is_told),
	    cmocka_unit_test(server_that_is_away_is_asked_often_first),
	    cmocka_unit_test(server_that_loads_is_asked_often),
	    cmocka_unit_test(links_come_back_at_times_of_their_own),
	    cmocka_unit_test(queue_that_is_written_has_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
