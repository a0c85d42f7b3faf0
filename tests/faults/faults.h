/* The parts that the crash tests share: the tested command, the random numbers and the folder of a
 * test, and its failures. A test continues after a failure as far as it can, because a kill seldom
 * breaks only one thing. */
#ifndef DW_TESTS_FAULTS_H
#define DW_TESTS_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rng.h"
#include "durawheel/durawheel.h"
#include "support/temp.h"

/* faults_slowness: how many times more time a process takes here than on an idle machine of two
 * cores, because of the sanitizer or other programs; 1 to 20. faults_main() measures it once, by
 * starting the command. All times that a test chooses are multiplied by it. */
dw_usec faults_slowness(void);

/* After this time a test reports a hang. */
#define FAULTS_PATIENCE (DW_SECONDS(60) * faults_slowness())

#define FAULTS_STORE_SIZE (TEMP_SIZE + 16)

struct faults {
	const char *command; /* the durawheel command to be tested */
	const char *name;    /* name of the test */
	struct rng rng;
	bool is_long; /* DW_LONG is set: run the full size */
	unsigned percent;
	unsigned failures;
	bool is_skipped; /* the machine lacks what it needs; the reason is printed */
	char folder[TEMP_SIZE];
	char store[FAULTS_STORE_SIZE]; /* the URL of a file in the folder */
};

struct faults_test {
	const char *name;
	void (*run)(struct faults *);
};

/* The exit code of a test that the machine cannot run; ctest calls it skipped. */
#define FAULTS_SKIPPED 77

/* faults_main: the main function of crash tests. Its arguments are the command and the names of
 * tests. */
int faults_main(int argc, char **argv, const struct faults_test *, size_t count);

/* Each test has a file of the same name. */
void kill_run(struct faults *);
void cancel_race(struct faults *);
void cancel_deadline(struct faults *);
void cancel_command(struct faults *);
void kill_import(struct faults *);
void kill_put(struct faults *);
void kill_rules(struct faults *);
void kill_ends(struct faults *);
void order(struct faults *);
void order_killed(struct faults *);
void stop_continue(struct faults *);
void stop_term(struct faults *);
void clock_steps(struct faults *);
void second_owner(struct faults *);
void fork_outlives(struct faults *);
void fork_closes(struct faults *);
void full_disk(struct faults *);
void small_disk(struct faults *);

void faults_fail(struct faults *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* faults_not_tested says why the machine cannot run the test. */
void faults_not_tested(struct faults *, const char *why);

/* faults_store changes to another store, for tests that need more than one. */
void faults_store(struct faults *, unsigned number);

/* faults_amount: usual, or full with DW_LONG=1, scaled by DW_TEST_SCALE. */
size_t faults_amount(const struct faults *, size_t usual, size_t full);

/* faults_between: a random time from low to high. */
dw_usec faults_between(struct faults *, dw_usec low, dw_usec high);

/* faults_now: CLOCK_REALTIME, the clock of deadlines. */
dw_usec faults_now(void);

#endif
