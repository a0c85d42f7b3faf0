/* bench_support.c: see bench_support.h. */
#include "bench/bench_support.h"

#include <dlfcn.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void usage(const char *program)
{
	fprintf(stderr, "usage: %s [--n N] [--workload W] [--store sqlite|redis|memory] [--json]\n",
		program);
	exit(2);
}

struct bench_options bench_options(int argc, char **argv, size_t usual_n)
{
	struct bench_options options = {usual_n, false, NULL, "sqlite"};

	for (int i = 1; i < argc; i++) {
		char *end = NULL;

		if (strcmp(argv[i], "--json") == 0) {
			options.json = true;
			continue;
		}
		if (strcmp(argv[i], "--workload") == 0 && i + 1 < argc) {
			options.workload = argv[++i];
			continue;
		}
		if (strcmp(argv[i], "--store") == 0 && i + 1 < argc) {
			options.store = argv[++i];
			if (strcmp(options.store, "sqlite") != 0 &&
			    strcmp(options.store, "redis") != 0 &&
			    strcmp(options.store, "memory") != 0)
				usage(argv[0]);
			continue;
		}
		if (strcmp(argv[i], "--n") != 0 || i + 1 == argc)
			usage(argv[0]);
		options.n = (size_t)strtod(argv[++i], &end);
		if (*end || options.n < 10 || options.n > 100000000)
			usage(argv[0]);
	}
	return options;
}

void bench_pin(void)
{
	int running = sched_getcpu();
	unsigned cpu = running < 0 ? 0 : (unsigned)running;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		fprintf(stderr, "not pinned to a core: figures will scatter\n");
}

uint64_t bench_ns(void)
{
	static int (*real)(clockid_t, struct timespec *);
	struct timespec now;

	if (!real) {
		void *symbol = dlsym(RTLD_NEXT, "clock_gettime");

		bench_require(symbol != NULL, "clock_gettime not found");
		memcpy(&real, &symbol, sizeof(real));
	}
	(void)real(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void bench_require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "benchmark is wrong: %s\n", what);
	exit(1);
}

void *bench_alloc(size_t count, size_t size_bytes)
{
	void *memory = malloc(count * size_bytes);

	bench_require(memory != NULL, "out of memory");
	return memset(memory, 0, count * size_bytes);
}

static int compare(const void *left, const void *right)
{
	double a, b;

	memcpy(&a, left, sizeof(a));
	memcpy(&b, right, sizeof(b));
	return (a > b) - (a < b);
}

double bench_median(const struct bench_figure *figure)
{
	double sorted[BENCH_ROUNDS_MAX];

	memcpy(sorted, figure->rounds, figure->count * sizeof(*sorted));
	qsort(sorted, figure->count, sizeof(*sorted), compare);
	return sorted[figure->count / 2];
}

static void report_json(const struct bench_metric *metric, const struct bench_figure *figure,
			double ratio)
{
	char text[32] = "null";

	if (!isnan(ratio))
		(void)snprintf(text, sizeof text, "%.3f", ratio); /* a double has room */
	printf("{\"bench\":\"%s\",\"workload\":\"%s\",\"n\":%zu,\"system\":\"%s\","
	       "\"metric\":\"%s\",\"value\":%.3f,\"unit\":\"%s\",\"min\":%.3f,\"max\":%.3f,"
	       "\"ratio_to_durawheel\":%s}\n",
	       metric->bench, metric->workload, metric->n, figure->system, metric->metric,
	       bench_median(figure), metric->unit, figure->rounds[0],
	       figure->rounds[figure->count - 1], text);
}

void bench_report(const struct bench_options *options, const struct bench_metric *metric,
		  struct bench_figure *figures, size_t count)
{
	double ours;

	for (size_t i = 0; i < count; i++)
		qsort(figures[i].rounds, figures[i].count, sizeof(double), compare);
	ours = bench_median(&figures[0]);
	if (!options->json)
		printf("%-11s %-9s", metric->workload, metric->metric);
	for (size_t i = 0; i < count; i++) {
		/* Against nothing (no timer of ours was early) there is no ratio. */
		double ratio = i == 0 ? 1 : ours > 0 ? bench_median(&figures[i]) / ours : NAN;

		if (options->json) {
			report_json(metric, &figures[i], ratio);
			continue;
		}
		printf("  %-10s %9.2f %-3s (%.2f-%.2f)", figures[i].system,
		       bench_median(&figures[i]), metric->unit, figures[i].rounds[0],
		       figures[i].rounds[figures[i].count - 1]);
		if (i && !isnan(ratio))
			printf("  %6.2f x", ratio);
	}
	if (!options->json)
		printf("\n");
	(void)fflush(stdout); /* a lost line shows by itself */
}
