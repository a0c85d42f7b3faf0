/* With --speed the handle has a clock of its own, which begins at --from. It runs so many times as
 * fast while there is nothing to do, and stands still while the store or the handler works. So each
 * list comes at its moment, at any speed. */
#include "daily.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "signals.h"
#include "timetable.h"

#define TODAY "exam.today" /* the topic and the id */
#define PATIENCE DW_SECONDS(30)
#define STEP_MS 1 /* the moved clock is looked at so often */

/* Of England and Wales, https://www.gov.uk/bank-holidays; those of the days of a term suffice. */
static const char *const holidays[] = {
    "2023-04-07", "2023-04-10", "2023-05-01", "2023-05-08", "2023-05-29", "2026-01-01",
    "2026-04-03", "2026-04-06", "2026-05-04", "2026-05-25", "2026-08-31", "2026-12-25",
    "2026-12-28", "2027-01-01", "2027-03-26", "2027-03-29", "2027-05-03", "2027-05-31",
    "2027-08-30", "2027-12-27", "2027-12-28", "2028-01-03", "2028-04-14", "2028-04-17",
    "2028-05-01", "2028-05-29", "2028-08-28", "2028-12-25", "2028-12-26"};

struct daily {
	struct timetable table;
	dw_rule rule;
	_Atomic dw_usec now; /* of the moved clock */
	int error;           /* of the put */
};

static dw_usec moved_clock(void *user)
{
	struct daily *daily = user;

	return atomic_load(&daily->now);
}

/* local_text writes "Fri 24 Mar 08:00 +00:00" and returns the number of that day. */
static long local_text(struct daily *daily, dw_usec occurrence, char *ret_text, size_t size)
{
	dw_local local = {.size = sizeof local};
	char clock[32];
	time_t second;
	struct tm tm;

	(void)dw_rule_local(&daily->rule, occurrence, &local, NULL); /* the rule was put */
	second = (time_t)((occurrence + local.offset_us) / DW_SECONDS(1));
	gmtime_r(&second, &tm);
	strftime(clock, sizeof clock, "%a %d %b %H:%M", &tm);
	snprintf(ret_text, size, "%s +%02d:00", clock, (int)(local.offset_us / DW_HOURS(1)));
	return (long)(second / (24 * 60 * 60));
}

/* list_today: the day is that of the occurrence, however late the handler starts. */
static dw_verdict list_today(dw *d, const dw_firing *firing, void *user)
{
	struct daily *daily = user;
	char utc[DW_TIME_SIZE], local[48];
	long today = local_text(daily, firing->occurrence, local, sizeof local);
	size_t count = 0;

	(void)d;
	for (size_t i = 0; i < daily->table.count; i++)
		count += daily->table.papers[i].day == today;
	dw_format_time(firing->occurrence, utc);
	printf("%.19sZ  %s  %zu exam%s", utc, local, count, count == 1 ? "" : "s");
	if (firing->missed > 0)
		printf("  (%u lists were missed before)", (unsigned)firing->missed);
	printf("\n");
	for (size_t i = 0; i < daily->table.count; i++)
		if (daily->table.papers[i].day == today)
			printf("   %s\n", daily->table.papers[i].title);
	if (fflush(stdout) != 0) {
		clearerr(stdout);
		return DW_RETRY;
	}
	return DW_DONE;
}

static void put_answered(dw *d, const dw_result *result, void *user)
{
	struct daily *daily = user;

	(void)d;
	daily->error = result->status;
}

static int put_rule(dw *d, struct daily *daily, const struct settings *s)
{
	dw_timer timer = {.size = sizeof timer, .id = TODAY, .topic = TODAY};
	int error;

	daily->rule = (dw_rule){.size = sizeof daily->rule,
				.cron = "0 8 * * mon-fri",
				.zone = "Europe/London",
				.end = s->until == DW_NEVER ? 0 : s->until,
				.except = holidays,
				.except_count = sizeof holidays / sizeof holidays[0]};
	timer.rule = &daily->rule;
	error = dw_put(d, &timer, put_answered, daily);
	if (error == DW_OK)
		error = dw_sync(d, PATIENCE);
	if (error == DW_OK)
		error = daily->error;
	if (error != DW_OK)
		fprintf(stderr, "cannot store the rule: %s\n", dw_last_error(d));
	return error;
}

/* move_clock lets the time of a pause pass, but not beyond the next list. */
static void move_clock(dw *d, struct daily *daily, int speed)
{
	dw_stats stats = {.size = sizeof stats};
	dw_usec now = atomic_load(&daily->now), then = now + DW_MILLISECONDS(STEP_MS) * speed;

	if (dw_get_stats(d, &stats) != DW_OK || stats.inflight > 0 || stats.recovering)
		return;
	if (stats.next_due > now && stats.next_due < then)
		then = stats.next_due;
	if (stats.next_due > now)
		atomic_store(&daily->now, then);
}

static int is_over(dw *d, const struct settings *s)
{
	dw_stats stats = {.size = sizeof stats};

	return s->until != DW_NEVER && dw_get_stats(d, &stats) == DW_OK && !stats.recovering &&
	       stats.timers == 0;
}

static int drive(dw *d, struct daily *daily, const struct settings *s)
{
	struct pollfd ready = {.fd = dw_fd(d), .events = POLLIN};
	struct timespec pause = {.tv_nsec = STEP_MS * 1000000L};
	sigset_t before = signals_block();
	int error = DW_OK;

	while (error == DW_OK && !signals_stopped() && !is_over(d, s)) {
		ppoll(&ready, 1, s->speed ? &pause : NULL, &before);
		error = dw_turn(d);
		if (s->speed)
			move_clock(d, daily, s->speed);
	}
	return error;
}

int daily_run(const struct settings *s)
{
	struct daily daily = {.now = s->from};
	dw_options options = {.size = sizeof options, .store = s->store, .name = s->name};
	char message[DW_MESSAGE_SIZE];
	int error;
	dw *d;

	options.clock = s->speed ? moved_clock : NULL;
	options.clock_user = &daily;
	if (timetable_load(s->file, 0, &daily.table) < 0)
		return 1;
	timetable_begin(&daily.table, s->begins);
	error = dw_open(&d, &options, message);
	if (error != DW_OK) {
		fprintf(stderr, "%s\n", message);
	} else {
		error = dw_on(d, TODAY, list_today, &daily);
		if (error == DW_OK)
			error = put_rule(d, &daily, s);
		if (error == DW_OK)
			error = drive(d, &daily, s);
		if (dw_close(d, PATIENCE) != DW_OK)
			error = -1;
	}
	free(daily.table.papers);
	return error == DW_OK ? 0 : 1;
}
