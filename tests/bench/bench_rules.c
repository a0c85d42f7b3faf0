/*
 * bench_rules.c: what rules cost. "next": dw_rule_next() is asked for 1,000 occurrences at once;
 * how long each takes. "crowd" has N timers (100,000) with one rule of each minute, in the store:
 * from the minute on, how many a second are delivered and wait for the next one, confirmed by the
 * store; beside as many timers that fire once and have the same deadline.
 */
#include <string.h>
#include <time.h>

#include "bench/bench_home.h"
#include "bench/bench_support.h"
#include "durawheel/durawheel.h"

enum { NEXT_COUNT = 1000, NEXT_ROUNDS = 9, CROWD_ROUNDS = 4 }; /* the first one is not counted */

#define HEAD_START DW_MILLISECONDS(500)
#define PUT_AT_MOST 200 /* us each, so that puts are over before the minute */
#define PATIENCE DW_SECONDS(60)

/* ---- dw_rule_next() ------------------------------------------------------------------------ */

static const struct {
	const char *name;
	dw_rule rule;
} rules[] = {
    {"every-90s", {.size = sizeof(dw_rule), .every = DW_SECONDS(90)}},
    {"minutely", {.size = sizeof(dw_rule), .cron = "* * * * *", .zone = "Europe/London"}},
    {"weekdays", {.size = sizeof(dw_rule), .cron = "0 8 * * mon-fri", .zone = "Europe/London"}},
    {"month-end", {.size = sizeof(dw_rule), .cron = "0 18 L * *", .zone = "Europe/London"}},
    {"leap-day", {.size = sizeof(dw_rule), .cron = "0 0 29 2 *", .zone = "Europe/London"}},
};

static void ask(const struct bench_options *options, size_t which)
{
	const struct bench_metric metric = {"rules", rules[which].name, "next", "ns", NEXT_COUNT};
	struct bench_figure figure = {.system = "durawheel"};
	static dw_usec times[NEXT_COUNT];

	for (int round = 0; round < NEXT_ROUNDS; round++) {
		uint64_t began = bench_ns();
		int found = dw_rule_next(&rules[which].rule, DW_SECONDS(1800000000), times,
					 NEXT_COUNT, NULL);

		if (round > 0)
			figure.rounds[figure.count++] = (double)(bench_ns() - began) / NEXT_COUNT;
		bench_require(found == NEXT_COUNT, "all occurrences are found");
	}
	bench_report(options, &metric, &figure, 1);
}

/* ---- A crowd ------------------------------------------------------------------------------- */

static dw_verdict on_due(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	++*(size_t *)user;
	return DW_DONE;
}

/* run_round returns how many timers a second are settled, or wait for their next occurrence. */
static double run_round(struct bench_home *home, size_t n, bool recurring)
{
	dw *d = bench_open(home, NULL, NULL);
	dw_stats stats = {.size = sizeof stats};
	dw_usec start = dw_now(NULL) + HEAD_START + (dw_usec)n * PUT_AT_MOST;
	dw_rule rule = {.size = sizeof rule, .every = DW_MINUTES(1), .start = start};
	size_t fired = 0;
	dw_usec end;

	bench_require(dw_on(d, "crowd", on_due, &fired) == DW_OK, "dw_on");
	if (recurring)
		bench_put_recurring(d, "crowd", n, &rule);
	else
		bench_put_all(d, "crowd", n, start, 0);
	bench_require(dw_now(NULL) < start, "all are stored before they are due");
	do {
		bench_wait(d);
		bench_require(dw_get_stats(d, &stats) == DW_OK, "dw_get_stats");
	} while (stats.settled < n);
	end = dw_now(NULL);
	bench_require(fired == n, "every timer fired once");
	bench_require(stats.timers == (recurring ? n : 0), "recurring timers wait again");
	bench_require(dw_close(d, PATIENCE) == DW_OK, "dw_close");
	bench_home_clear(home);
	return (double)n * 1e6 / (double)(end - start);
}

static void gather(const struct bench_options *options)
{
	const struct bench_metric metric = {"rules", "crowd", "settled", "/s", options->n};
	struct bench_figure figures[] = {{.system = "recurring"}, {.system = "once"}};
	struct bench_home home;

	bench_home_open(&home, options->store);
	for (int round = 0; round < CROWD_ROUNDS; round++)
		for (int i = 0; i < 2; i++) {
			double rate = run_round(&home, options->n, i == 0);

			if (round > 0)
				figures[i].rounds[figures[i].count++] = rate;
		}
	bench_report(options, &metric, figures, 2);
	bench_home_end(&home);
}

int main(int argc, char **argv)
{
	struct bench_options options = bench_options(argc, argv, 100000);

	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (!options.workload || strcmp(options.workload, rules[i].name) == 0)
			ask(&options, i);
	if (!options.workload || strcmp(options.workload, "crowd") == 0)
		gather(&options);
	return 0;
}
