/*
 * bench_support.h: what every benchmark needs: arguments, one core, the real clock, medians, and
 * one way to print them.
 *
 * Rules for all of them: the systems that are compared run in the same process, in turns, with the
 * same random numbers; the first round of each is not counted; a figure is the median of an odd
 * number of rounds; only ratios within one run mean anything.
 */
#ifndef BENCH_SUPPORT_H
#define BENCH_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_ROUNDS_MAX 63

/* A workload is written once and compiled for each system: no indirect calls in the timed part. */
#define BENCH_INLINE static inline __attribute__((always_inline))

struct bench_options {
	size_t n;
	bool json;
	const char *workload; /* only this one, or NULL */
	const char *store;    /* "sqlite", "redis" or "memory", where there is a choice */
};

/* struct bench_figure: the rounds of one system in one workload. */
struct bench_figure {
	const char *system;
	double rounds[BENCH_ROUNDS_MAX];
	size_t count;
};

/* bench_options: from the command line; prints usage and exits with 2 when it is wrong. */
struct bench_options bench_options(int argc, char **argv, size_t usual_n);

/* bench_pin: stay on the core we are on. */
void bench_pin(void);

/* bench_ns: the real monotonic clock, also where a program replaces clock_gettime(). */
uint64_t bench_ns(void);

/* bench_require: a benchmark whose result is wrong must not print a figure. */
void bench_require(bool holds, const char *what);

/* bench_alloc: zeroed memory, every page of it touched; ends the program when there is none. */
void *bench_alloc(size_t count, size_t size_bytes);

double bench_median(const struct bench_figure *figure);

/* struct bench_metric: what the figures of a line are. */
struct bench_metric {
	const char *bench;
	const char *workload;
	const char *metric;
	const char *unit;
	size_t n;
};

/*
 * bench_report: print the figures of one workload; the first one is durawheel's. With json one
 * object a line, otherwise a line of a table.
 */
void bench_report(const struct bench_options *options, const struct bench_metric *metric,
		  struct bench_figure *figures, size_t count);

#endif
