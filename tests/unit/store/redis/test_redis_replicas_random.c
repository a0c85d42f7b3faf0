/* The server is killed at random moments, and its replica takes its place. What was answered
 * DW_REPLICATED is there. With DW_LONG=1 it is killed 50 times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "durawheel/durawheel.h"
#include "support/cmocka.h"
#include "support/environment.h"
#include "support/random.h"
#include "support/replicated.h"
#include "support/seed.h"

#define HOUR DW_SECONDS(3600)

enum { IDS = 12, TURNS_MAX = 6000 };

/* A timer, and the last call about it. */
struct subject {
	char id[32];
	struct replicated_answer answer; /* count is 0 while it is under way */
	bool is_asked;
	dw_usec asked; /* the deadline that the call sets; -1: a cancel */
	dw_usec due;   /* what dw_get says; 0: nothing yet */
};

struct round {
	struct replicated *r;
	uint64_t random;
	struct subject subjects[IDS];
};

static void ask(struct round *round, struct subject *subject)
{
	struct replicated *r = round->r;
	unsigned kind = (unsigned)random_below(&round->random, 3);
	dw_timer timer = {.size = sizeof timer, .id = subject->id, .topic = "t"};

	subject->asked =
	    kind == 0 ? -1 : dw_now(r->d) + HOUR + (dw_usec)random_below(&round->random, 1000000);
	subject->answer = (struct replicated_answer){0};
	subject->is_asked = true;
	timer.due = subject->asked;
	if (kind == 0)
		assert_int_equal(dw_cancel(r->d, subject->id, replicated_done, &subject->answer),
				 DW_OK);
	else if (kind == 1)
		assert_int_equal(
		    dw_move(r->d, subject->id, subject->asked, replicated_done, &subject->answer),
		    DW_OK);
	else
		assert_int_equal(dw_put(r->d, &timer, replicated_done, &subject->answer), DW_OK);
}

static bool is_over(const struct subject *subject)
{
	return !subject->is_asked || subject->answer.count > 0;
}

static void seen(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		 void *user)
{
	(void)d;
	(void)next;
	assert_true(status == DW_OK || status == DW_ENOENT);
	*(dw_usec *)user = count > 0 ? timers[0].due : -1;
}

/* expect looks at what the new server has. A call that was answered otherwise promises nothing. */
static unsigned expect(struct round *round)
{
	unsigned kept = 0;

	for (int i = 0; i < IDS; i++) {
		struct subject *subject = &round->subjects[i];

		if (!subject->is_asked || subject->answer.level != DW_REPLICATED)
			continue;
		subject->due = 0;
		assert_int_equal(dw_get(round->r->d, subject->id, seen, &subject->due), DW_OK);
		for (int j = 0; j < TURNS_MAX && subject->due == 0; j++)
			replicated_turn(round->r);
		if (subject->due != subject->asked)
			fail_msg("%s: the deadline is %lld, and not %lld", subject->id,
				 (long long)subject->due, (long long)subject->asked);
		kept++;
	}
	return kept;
}

/* fail_over asks for a random time, and then lets the replica take the place of the server. In half
 * of the rounds the replica is cut off at some moment before. The killed server becomes the next
 * replica. */
static unsigned fail_over(struct round *round, int number)
{
	struct replicated *r = round->r;
	unsigned other = r->master == 0 ? 1 : 0, calls = 20, lags_at;

	for (int i = 0; i < IDS; i++)
		(void)snprintf(round->subjects[i].id, sizeof round->subjects[i].id, "%d-%d", number,
			       i); /* always fits */
	calls += (unsigned)random_below(&round->random, 200);
	lags_at = (unsigned)random_below(&round->random, 2 * calls);
	for (unsigned i = 0; i < calls; i++) {
		struct subject *subject = &round->subjects[random_below(&round->random, IDS)];

		if (i == lags_at)
			replicated_lag(r);
		if (is_over(subject))
			ask(round, subject);
		if (random_below(&round->random, 3) == 0)
			replicated_turn(r);
	}
	replicated_fail_over(r, other);
	replicated_follow(r, other == 0 ? 1 : 0);
	for (int i = 0; i < IDS; i++)
		for (int j = 0; j < TURNS_MAX && !is_over(&round->subjects[i]); j++)
			replicated_turn(r);
	return expect(round);
}

static void replicated_answers_survive(void **state)
{
	static struct replicated r;
	uint64_t random = seed_of_test().state;
	int rounds = environment_number("DW_LONG", 0) ? 50 : 20;
	unsigned kept = 0;

	(void)state;
	replicated_open(&r, DW_CLIENT);
	for (int i = 0; i < rounds; i++) {
		struct round round = {.r = &r, .random = random_next(&random)};

		kept += fail_over(&round, i);
	}
	assert_true(kept > 0); /* a slow machine has few answers before the server is killed */
	print_message("%u confirmed calls in %d failovers, none lost\n", kept, rounds);
	replicated_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(replicated_answers_survive)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
