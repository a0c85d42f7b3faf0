/* Heartbeats: 1,000 timers that come again every second, beside order timeouts of one process. The
 * rules are stored: after a kill they go on by themselves, and put again they stay as they are.
 *
 *	heartbeat [STORE [SECONDS]]
 *
 * Each second it prints how many of both have come, and how late the latest one was. It ends after
 * SECONDS; 0, and without them, it goes on. */
#include <stdio.h>
#include <stdlib.h>

#include <durawheel/durawheel.h>

#define BEATS 1000
#define ORDERS 100 /* a second */

struct seen {
	long beats, missed, orders;
	dw_usec latest;
	dw_usec end; /* DW_NEVER: it goes on */
};

static void note(struct seen *seen, const dw_firing *firing)
{
	dw_usec late = firing->now - firing->due;

	if (late > seen->latest)
		seen->latest = late;
}

static dw_verdict beat(dw *d, const dw_firing *firing, void *user)
{
	struct seen *seen = user;

	(void)d;
	seen->beats++;
	seen->missed += firing->missed; /* after a pause one beat stands for all before it */
	note(seen, firing);
	return DW_DONE;
}

static dw_verdict cancel_order(dw *d, const dw_firing *firing, void *user)
{
	struct seen *seen = user;

	(void)d;
	seen->orders++;
	note(seen, firing);
	return DW_DONE;
}

/* report is a recurring timer, too, so the clock says when SECONDS are over: a count of reports
 * would take in the one of the pause before this run. Nine of ten orders are paid in time. */
static dw_verdict report(dw *d, const dw_firing *firing, void *user)
{
	struct seen *seen = user;
	char id[DW_ID_SIZE];

	printf("%ld heartbeats (%ld missed), %ld orders timed out, at most %lld us late\n",
	       seen->beats, seen->missed, seen->orders, (long long)seen->latest);
	fflush(stdout);
	seen->beats = seen->missed = seen->orders = 0;
	seen->latest = 0;
	for (int i = 0; i < ORDERS; i++) {
		snprintf(id, sizeof id, "order:%lld:%d", (long long)firing->occurrence, i);
		dw_after(d, "order.timeout", id, DW_SECONDS(1), NULL, 0);
		if (i % 10 != 0)
			dw_cancel(d, id, NULL, NULL);
	}
	if (firing->now >= seen->end)
		dw_stop(d);
	return DW_DONE;
}

/* put_rules: a beat that is a second late is missed, because the next one has come. */
static int put_rules(dw *d)
{
	const dw_rule rule = {
	    .size = sizeof rule, .every = DW_SECONDS(1), .missed_after_us = DW_SECONDS(1)};
	dw_timer timer = {.size = sizeof timer, .topic = "heartbeat", .rule = &rule};
	char id[DW_ID_SIZE];

	timer.id = id;
	for (int i = 0; i < BEATS; i++) {
		snprintf(id, sizeof id, "heartbeat:%d", i);
		if (dw_put(d, &timer, NULL, NULL) != DW_OK)
			return -1;
	}
	timer.id = timer.topic = "report";
	return dw_put(d, &timer, NULL, NULL) == DW_OK ? 0 : -1;
}

/* read_seconds: a whole number up to a day, or -1. */
static long read_seconds(const char *text)
{
	char *end;
	long seconds = strtol(text, &end, 10);

	return end == text || *end || seconds < 0 || seconds > 86400 ? -1 : seconds;
}

int main(int argc, char **argv)
{
	long seconds = argc > 2 ? read_seconds(argv[2]) : 0;
	struct seen seen = {.end = DW_NEVER};
	dw_options options = {.size = sizeof options,
			      .store = argc > 1 ? argv[1] : "sqlite:heartbeat.db",
			      .name = "heartbeat"};
	char message[DW_MESSAGE_SIZE];
	dw *d;

	if (argc > 3 || seconds < 0 || (argc > 1 && argv[1][0] == '-'))
		return fprintf(stderr, "usage: heartbeat [STORE [SECONDS]], SECONDS up to 86400\n"),
		       2;
	if (dw_open(&d, &options, message) != DW_OK)
		return fprintf(stderr, "heartbeat: %s\n", message), 1;
	if (seconds > 0)
		seen.end = dw_now(d) + DW_SECONDS(seconds);
	dw_on(d, "heartbeat", beat, &seen);
	dw_on(d, "order.timeout", cancel_order, &seen);
	dw_on(d, "report", report, &seen);
	if (put_rules(d) != 0)
		return fprintf(stderr, "heartbeat: %s\n", dw_last_error(d)), 1;
	dw_run(d);
	return dw_close(d, DW_SECONDS(5)) == DW_OK ? 0 : 1;
}
