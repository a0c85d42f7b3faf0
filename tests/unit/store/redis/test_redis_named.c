/* Which server a majority of voters names, and from when and until when it is used. */
#include "store/redis/nodes/named.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "base/usec.h"
#include "support/cmocka.h"
#include "support/seed.h"

#define S DW_SECONDS(1)

/* say: the voter is asked `asked` and answers at once that it has named the server for `age`. */
static void say(struct vote *vote, const char *server, uint64_t epoch, dw_usec asked, dw_usec age)
{
	struct vote answer = {.epoch = epoch, .asked = asked};

	(void)snprintf(answer.server, sizeof answer.server, "%s", server);
	vote_take(vote, &answer, asked, age);
}

static void majority_names_the_server(void **state)
{
	struct vote votes[3] = {{.server = ""}};
	struct nomination named = {.server = "none"};

	(void)state;
	say(&votes[0], "m 1", 1, 100 * S, 60 * S);
	assert_false(named_count(&named, votes, 3, 2, 100 * S));
	assert_string_equal(named.server, "none");
	say(&votes[1], "r 1", 2, 100 * S, 60 * S);
	assert_false(named_count(&named, votes, 3, 2, 100 * S));
	say(&votes[2], "m 1", 1, 99 * S, 50 * S);
	assert_true(named_count(&named, votes, 3, 2, 100 * S));
	assert_string_equal(named.server, "m 1");
	assert_int_equal(named.length, 50 * S);
	assert_int_equal(named.since, 49 * S);
	assert_int_equal(named.until, 99 * S + NAMED_BOUND);
	assert_true(named_is_usable(&named, false, 99 * S + NAMED_BOUND - 1));
	assert_false(named_is_usable(&named, true, 99 * S + NAMED_BOUND));
}

/* A second before others may, the last owner acquires what it has in memory. */
static void last_owner_uses_the_server_first(void **state)
{
	struct nomination named = {.until = DW_NEVER};

	(void)state;
	for (int seconds = 0; seconds < 10; seconds++) {
		named.length = seconds * S;
		assert_int_equal(named_is_usable(&named, true, 0), seconds >= 6);
		assert_int_equal(named_is_usable(&named, false, 0), seconds >= 7);
	}
}

static void old_answer_counts_no_more(void **state)
{
	struct vote votes[2] = {{.server = ""}};
	struct nomination named;

	(void)state;
	say(&votes[0], "m 1", 1, 100 * S, 60 * S);
	say(&votes[1], "m 1", 1, 100 * S + NAMED_BOUND, 60 * S);
	assert_false(named_count(&named, votes, 2, 2, 100 * S + NAMED_BOUND));
	assert_true(named_count(&named, votes, 2, 1, 100 * S + NAMED_BOUND));
}

/* The voters say so one after the other: at no moment do two of them say so for long enough. */
static void majority_must_say_so_at_one_time(void **state)
{
	struct vote votes[3] = {{.server = ""}};
	struct nomination named;

	(void)state;
	say(&votes[0], "r 1", 2, 106 * S, 6 * S);
	say(&votes[1], "r 1", 2, 109 * S, 6 * S);
	assert_true(named_count(&named, votes, 3, 2, 109 * S));
	assert_int_equal(named.length, 3 * S); /* both say so from 103 to 106 */
	say(&votes[0], "r 1", 2, 108 * S, 8 * S);
	assert_true(named_count(&named, votes, 3, 2, 109 * S));
	assert_false(named_is_usable(&named, true, 109 * S));
	say(&votes[0], "r 1", 2, 109 * S, 9 * S);
	assert_true(named_count(&named, votes, 3, 2, 109 * S));
	assert_true(named_is_usable(&named, true, 109 * S));
	assert_false(named_is_usable(&named, false, 109 * S)); /* the last owner comes first */
}

static void voter_that_starts_again_keeps_its_word(void **state)
{
	struct vote votes[1] = {{.server = ""}};
	struct nomination named;

	(void)state;
	say(&votes[0], "m 1", 7, 100 * S, 60 * S);
	say(&votes[0], "m 1", 7, 101 * S, 0);
	assert_true(named_count(&named, votes, 1, 1, 101 * S));
	assert_int_equal(named.since, 40 * S);
	/* In another epoch it may have named another server between. */
	say(&votes[0], "m 1", 9, 102 * S, S);
	assert_true(named_count(&named, votes, 1, 1, 102 * S));
	assert_int_equal(named.since, 101 * S);
	assert_int_equal(named.length, S);
	/* Its clock was set forward. */
	say(&votes[0], "m 1", 9, 103 * S, 900 * S);
	assert_true(named_count(&named, votes, 1, 1, 103 * S));
	assert_int_equal(named.since, 101 * S);
}

/* What the voters say at each moment, in a random world; and two observers that ask at random. */
enum { VOTERS = 3, STEPS = 400 };

struct world {
	unsigned named[VOTERS][STEPS]; /* which server */
	uint64_t epoch[VOTERS][STEPS];
	struct vote votes[2][VOTERS];
	dw_usec usable[2][STEPS]; /* until when the observer uses server s at each step; 0: not */
};

static void change_minds(struct world *world, struct rng *rng)
{
	for (unsigned v = 0; v < VOTERS; v++)
		for (unsigned t = 1; t < STEPS; t++) {
			bool changes = rng_below(rng, 20) == 0;

			world->named[v][t] =
			    changes ? (unsigned)rng_below(rng, 2) : world->named[v][t - 1];
			world->epoch[v][t] =
			    world->epoch[v][t - 1] + (world->named[v][t] != world->named[v][t - 1]);
		}
}

static dw_usec age_at(const struct world *world, unsigned v, unsigned t)
{
	unsigned since = t;

	while (since > 0 && world->named[v][since - 1] == world->named[v][t])
		since--;
	return (dw_usec)(t - since) * S;
}

/* No two observers ever use two servers at once. */
static void two_servers_are_never_used_at_once(void **state)
{
	struct rng rng = seed_of_test();

	(void)state;
	for (int round = 0; round < 300; round++) {
		static struct world world;
		unsigned uses[2] = {2, 2};
		dw_usec until[2] = {0, 0};

		memset(&world, 0, sizeof world);
		change_minds(&world, &rng);
		for (unsigned t = 60; t < STEPS; t++) {
			dw_usec now = (dw_usec)t * S;

			for (unsigned o = 0; o < 2; o++) {
				struct nomination named;

				for (unsigned v = 0; v < VOTERS; v++)
					if (rng_below(&rng, 3) > 0)
						say(&world.votes[o][v],
						    world.named[v][t] ? "r 1" : "m 1",
						    world.epoch[v][t], now, age_at(&world, v, t));
				if (now >= until[o])
					uses[o] = 2;
				if (!named_count(&named, world.votes[o], VOTERS, 2, now))
					continue;
				until[o] = named.length >= NAMED_FOR ? named.until : 0;
				uses[o] = until[o] ? named.server[0] == 'r' : 2;
			}
			if (uses[0] < 2 && uses[1] < 2 && now < until[0] && now < until[1])
				assert_int_equal(uses[0], uses[1]);
		}
	}
}

/* new_is_used: a replica takes a master's place, and so many others name it. */
static bool new_is_used(unsigned masters, unsigned others)
{
	return others >= named_others(masters) && others + 1 >= named_majority(masters);
}

/* Of the other masters some name the last one and some the new one; each of the two names itself.
 * Whoever has used the last one goes on while it has a majority. */
static void last_and_new_master_are_never_used_both(void **state)
{
	(void)state;
	for (unsigned masters = 2; masters <= 9; masters++) {
		unsigned last = named_majority(masters) - 1, rest = masters - 1 - last;

		assert_false(new_is_used(masters, rest));
		if (masters % 2 > 0) /* with its own word, these are a majority, too */
			assert_int_equal(rest + 1, named_majority(masters));
		/* One of the others may be away, if there are more than two. */
		assert_int_equal(new_is_used(masters, masters - 2), masters > 3);
		assert_true(new_is_used(masters, masters - 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(majority_names_the_server),
	    cmocka_unit_test(last_owner_uses_the_server_first),
	    cmocka_unit_test(old_answer_counts_no_more),
	    cmocka_unit_test(majority_must_say_so_at_one_time),
	    cmocka_unit_test(voter_that_starts_again_keeps_its_word),
	    cmocka_unit_test(two_servers_are_never_used_at_once),
	    cmocka_unit_test(last_and_new_master_are_never_used_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
