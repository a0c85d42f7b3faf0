/* The disk of a journal fails, or is full, while Redis is away: what was confirmed survives. */
#include <stdio.h>
#include <string.h>

#include "support/cmocka.h"
#include "support/faulty.h"
#include "support/journaled.h"

enum { PUTS = 6, CALLS = 5 };

static void found(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		  void *user)
{
	int *found = user;

	(void)d;
	(void)timers;
	(void)count;
	(void)next;
	*found = status;
}

/* stored: does Redis have the timer? */
static bool stored(struct program *program, const char *id)
{
	int status = DW_NEWER;

	assert_int_equal(dw_get(program->d, id, found, &status), DW_OK);
	assert_int_equal(dw_sync(program->d, DW_SECONDS(60)), DW_OK);
	assert_true(status == DW_OK || status == DW_ENOENT);
	return status == DW_OK;
}

static void put_some(struct program *program, unsigned first)
{
	char id[16];

	for (unsigned i = first; i < first + PUTS; i++) {
		(void)snprintf(id, sizeof id, "%u", i);
		put(program, id, DW_MINUTES(10));
	}
}

/* check: what was confirmed is stored, and what was refused is not. An unknown one may be. */
static void check(struct program *program, const struct known *before, unsigned first)
{
	char id[16];

	for (unsigned i = first; i < first + PUTS; i++) {
		bool is_stored;

		(void)snprintf(id, sizeof id, "%u", i);
		is_stored = stored(program, id);
		if (before[i].status == DW_OK)
			assert_int_equal(before[i].level, DW_JOURNALED);
		else
			assert_int_equal(before[i].level, DW_NOTHING);
		if (before[i].status != DW_EUNKNOWN && is_stored != (before[i].status == DW_OK))
			fail_msg("%s: status %d, stored %d", id, before[i].status, is_stored);
	}
}

/* fail_one: one call of the disk fails in an outage. The program ends, and the next one with its
 * journal gives Redis what the first one had confirmed. */
static void fail_one(struct program *program, enum faulty_call call, int n, bool done)
{
	struct known before[JOURNALED_IDS];
	unsigned first = (unsigned)n * PUTS;

	lose_redis(program);
	faulty_arm(call, n, 0, done);
	put_some(program, first);
	faulty_disarm();
	journaled_close(program);
	memcpy(before, program->ids, sizeof before);
	redis_server_restart(&journaled_server);
	journaled_open(program, DW_CLIENT, journaled_file);
	while (rows(program) > 0)
		turn_seconds(program, 0.05);
	check(program, before, first);
	program->outages = 0;
}

static void one_failure_loses_nothing_confirmed(void **state)
{
	struct program program;

	(void)state;
	for (int kind = FAULTY_WRITE; kind <= FAULTY_SYNC; kind++) {
		journaled_begin(&program, DW_CLIENT);
		for (int n = 1; n <= CALLS; n++)
			fail_one(&program, (enum faulty_call)kind, n, n % 2 == 0);
		journaled_end(&program);
	}
}

/* On a full disk new timers are refused; a cancel goes into the space that is kept back. */
static void full_disk_refuses_puts_and_takes_cancels(void **state)
{
	struct program program;
	char reserve[TEMP_SIZE];
	char id[16] = "";
	int last = 0;

	(void)state;
	journaled_begin(&program, DW_CLIENT);
	put(&program, "0", DW_MINUTES(10));
	assert_answer(&program, "0", DW_OK, DW_STORED);
	lose_redis(&program);
	faulty_limit(0, temp_file(reserve, journaled_folder, "journal-reserve"), 12 * 1024 * 1024);
	for (unsigned i = 1; i < JOURNALED_IDS && last != DW_EFULL; i++) {
		(void)snprintf(id, sizeof id, "%u", i);
		put(&program, id, DW_MINUTES(10));
		last = known_of(&program, id)->status;
	}
	assert_answer(&program, id, DW_EFULL, DW_NOTHING);
	cancel(&program, "0");
	assert_answer(&program, "0", DW_EUNKNOWN, DW_JOURNALED);
	faulty_limit(0, NULL, 0);
	get_redis_back(&program);
	assert_false(stored(&program, "0"));
	assert_false(stored(&program, id));
	journaled_end(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_failure_loses_nothing_confirmed),
	    cmocka_unit_test(full_disk_refuses_puts_and_takes_cancels),
	};

	faulty_install();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
