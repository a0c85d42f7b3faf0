#include "faults/faults.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "faults/process.h"
#include "support/environment.h"
#include "support/seed.h"

enum { FAILURES_SHOWN = 10, STARTS = 5, SLOWNESS_MAX = 20 };

/* The time of one start of the command on an idle machine, even if several tests run at a time. */
#define START_USUAL DW_MILLISECONDS(25)

static dw_usec slowness = 1;

/* ---- What the tests share ---------------------------------------------------------------- */

void faults_fail(struct faults *faults, const char *format, ...)
{
	va_list arguments;

	if (++faults->failures > FAILURES_SHOWN)
		return;
	va_start(arguments, format);
	(void)printf("    %s: ", faults->name); /* stdout is looked at in the end */
	(void)vprintf(format, arguments);
	(void)printf("\n");
	va_end(arguments);
}

void faults_not_tested(struct faults *faults, const char *why)
{
	faults->is_skipped = true;
	(void)printf("    NOT TESTED: %s\n", why); /* looked at in the end */
}

void faults_store(struct faults *faults, unsigned number)
{
	int size = snprintf(faults->store, sizeof faults->store, "sqlite:%s/%u.db", faults->folder,
			    number);

	if (size < 0 || (size_t)size >= sizeof faults->store)
		abort();
}

size_t faults_amount(const struct faults *faults, size_t usual, size_t full)
{
	size_t amount = (faults->is_long ? full : usual) * faults->percent / 100;

	return amount ? amount : 1;
}

dw_usec faults_between(struct faults *faults, dw_usec low, dw_usec high)
{
	return low + (dw_usec)rng_below(&faults->rng, (uint64_t)(high - low) + 1);
}

dw_usec faults_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail for this clock */
	return DW_SECONDS(now.tv_sec) + now.tv_nsec / 1000;
}

dw_usec faults_slowness(void)
{
	return slowness;
}

/* measure_slowness measures the mean time of some starts. A command that does not start fails every
 * test. */
static void measure_slowness(const char *command)
{
	const char *argv[] = {command, "--version", NULL};
	dw_usec began = faults_now(), usual = STARTS * START_USUAL, taken;

	for (int i = 0; i < STARTS; i++) {
		struct process start;

		process_start(&start, argv);
		(void)process_wait(&start);
		process_free(&start);
	}
	taken = faults_now() - began;
	slowness = taken < usual ? 1 : taken / usual < SLOWNESS_MAX ? taken / usual : SLOWNESS_MAX;
	if (slowness > 1)
		(void)printf("slowness %d\n", (int)slowness); /* only to be read */
}

/* ---- Running them ------------------------------------------------------------------------ */

/* percent_asked: DW_TEST_SCALE, at most 100. DW_LONG is for larger amounts. */
static unsigned percent_asked(void)
{
	const char *text = getenv("DW_TEST_SCALE");
	double percent = 100;

	if (text && *text)
		percent = strtod(text, NULL) * (strchr(text, '.') ? 100 : 1);
	return percent < 1 ? 1 : percent > 100 ? 100 : (unsigned)percent;
}

static bool is_wanted(const char *name, int count, char **names)
{
	for (int i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return count == 0;
}

/* How tests have ended. */
struct ends {
	unsigned passed, skipped, failed;
};

/* count adds how a test has ended to the ends, and returns it in a word. */
static const char *count(struct ends *ends, const struct faults *faults)
{
	if (faults->failures) {
		ends->failed++;
		return "FAILED";
	}
	if (faults->is_skipped) {
		ends->skipped++;
		return "skipped";
	}
	ends->passed++;
	return "ok";
}

/* run_test runs a test with a seed of its own, so that it does the same when it runs alone. */
static void run_test(const struct faults_test *test, size_t number, const char *command,
		     struct rng seed, struct ends *ends)
{
	struct faults faults = {
	    .command = command,
	    .name = test->name,
	    .rng = {seed.state + number},
	    .is_long = environment_number("DW_LONG", 0) != 0,
	    .percent = percent_asked(),
	};
	dw_usec began = faults_now();

	temp_make(faults.folder);
	faults_store(&faults, 0);
	test->run(&faults);
	(void)printf("%-15s %-7s %6.2f s\n", test->name, count(ends, &faults),
		     (double)(faults_now() - began) / 1e6); /* looked at in the end */
	if (faults.failures)
		(void)printf("    %u failures; DW_SEED=%" PRIu64 ", see %s\n", faults.failures,
			     seed.state, faults.folder);
	else
		temp_remove(faults.folder);
	(void)fflush(stdout); /* the same */
}

int faults_main(int argc, char **argv, const struct faults_test *tests, size_t count)
{
	struct rng seed = seed_of_test();
	struct ends ends = {0};

	if (argc < 2) {
		(void)fprintf(stderr, "usage: %s COMMAND [TEST...]\n",
			      argv[0]); /* the error cannot be reported */
		return EXIT_FAILURE;
	}
	measure_slowness(argv[1]);
	for (size_t i = 0; i < count; i++)
		if (is_wanted(tests[i].name, argc - 2, argv + 2))
			run_test(&tests[i], i, argv[1], seed, &ends);
	(void)printf("%u passed, %u failed\n", ends.passed, ends.failed); /* looked at below */
	if (fflush(stdout) != 0 || ends.failed > 0)
		return EXIT_FAILURE;
	return ends.passed > 0 ? EXIT_SUCCESS : ends.skipped > 0 ? FAULTS_SKIPPED : EXIT_FAILURE;
}
