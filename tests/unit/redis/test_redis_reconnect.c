/* The pauses between connections, and what is logged of them. */
#include "redis/reconnect.h"

#include <stdio.h>
#include <string.h>

#include "support/cmocka.h"

struct outage {
	struct reconnect reconnect;
	dw_usec now;
	unsigned lines;
	char last[DW_MESSAGE_SIZE];
};

static void note_line(dw_log_level level, const char *line, void *user)
{
	struct outage *outage = user;

	(void)level;
	outage->lines++;
	(void)snprintf(outage->last, sizeof outage->last, "%s", line); /* cut if long */
}

static void begin(struct outage *outage)
{
	*outage = (struct outage){.reconnect = {.server = "redis://h:1/0",
						.log = note_line,
						.log_user = outage,
						.rng.state = 7,
						.out_since = DW_NEVER},
				  .now = DW_HOURS(1)};
}

/* lose_after: a connection that is up for so long is lost. Returns the pause. */
static dw_usec lose_after(struct outage *outage, dw_usec length, enum loss loss)
{
	dw_usec begins, next;

	reconnect_up(&outage->reconnect, outage->now);
	outage->now += length;
	reconnect_lasts(&outage->reconnect, outage->now);
	begins = outage->now;
	next = reconnect_lost(&outage->reconnect, begins, true, loss, "trouble");
	outage->now = next;
	return next - begins;
}

static void expect_pause(dw_usec pause, dw_usec longest)
{
	assert_in_range(pause, longest * 6 / 10, longest);
}

static void replies_without_sense_double_the_pause(void **state)
{
	static const int wanted[] = {100, 200, 400, 800, 1600, 2000, 2000, 2000};
	struct outage outage;

	(void)state;
	begin(&outage);
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		expect_pause(lose_after(&outage, DW_MILLISECONDS(3), LOSS_NONSENSE),
			     DW_MILLISECONDS(wanted[i]));
	/* A connection that lasts for a second ends it. */
	expect_pause(lose_after(&outage, DW_SECONDS(1), LOSS_NONSENSE), DW_MILLISECONDS(100));
	expect_pause(lose_after(&outage, DW_MILLISECONDS(3), LOSS_NONSENSE), DW_MILLISECONDS(200));
}

static void other_losses_keep_the_pause(void **state)
{
	struct outage outage;

	(void)state;
	begin(&outage);
	for (int i = 0; i < 20; i++)
		expect_pause(lose_after(&outage, DW_MILLISECONDS(3), LOSS_PLAIN),
			     DW_MILLISECONDS(100));
	expect_pause(lose_after(&outage, DW_MILLISECONDS(3), LOSS_REFUSED), DW_SECONDS(2));
	(void)lose_after(&outage, DW_MILLISECONDS(3), LOSS_NONSENSE);
	(void)lose_after(&outage, DW_MILLISECONDS(3), LOSS_NONSENSE);
	expect_pause(lose_after(&outage, DW_MILLISECONDS(3), LOSS_PLAIN), DW_MILLISECONDS(100));
}

static void replies_without_sense_are_logged_once(void **state)
{
	struct outage outage;

	(void)state;
	begin(&outage);
	for (int i = 0; i < 50; i++)
		(void)lose_after(&outage, DW_MILLISECONDS(3), LOSS_NONSENSE);
	assert_int_equal(outage.lines, 4); /* connected, trouble, connected, trouble */
	assert_string_equal(outage.last, "redis://h:1/0: trouble");
	reconnect_up(&outage.reconnect, outage.now);
	assert_string_equal(outage.reconnect.trouble, "");
	assert_int_equal(outage.lines, 4);
	reconnect_lasts(&outage.reconnect, outage.now + DW_SECONDS(1));
	assert_int_equal(outage.lines, 5);
	assert_string_equal(outage.last, "redis://h:1/0: connected");
	reconnect_lasts(&outage.reconnect, outage.now + DW_SECONDS(2));
	assert_int_equal(outage.lines, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(replies_without_sense_double_the_pause),
	    cmocka_unit_test(other_losses_keep_the_pause),
	    cmocka_unit_test(replies_without_sense_are_logged_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
