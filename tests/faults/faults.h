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

/* faults_slowness: how many times longer than on an idle machine of two cores a process takes here,
 * with this sanitizer and beside these other programs; 1 to 20. faults_main() measures it once, by
 * starting the command. Every time that a test chooses grows with it. */
dw_usec faults_slowness(void);

/* How long anything may take before it is called a hang. */
#define FAULTS_PATIENCE (DW_SECONDS(60) * faults_slowness())

#define FAULTS_STORE_SIZE (TEMP_SIZE + 16)

struct faults {
	const char *command; /* the durawheel to be tested */
	const char *name;    /* of the test */
	struct rng rng;
	bool is_long; /* DW_LONG: full size */
	unsigned percent;
	unsigned failures;
	char folder[TEMP_SIZE];
	char store[FAULTS_STORE_SIZE]; /* the URL of a file in the folder */
};

struct faults_test {
	const char *name;
	void (*run)(struct faults *);
};

/* faults_main: a program of crash tests; it takes the command and names of tests. */
int faults_main(int argc, char **argv, const struct faults_test *, size_t count);

/* One file of the same name each. */
void kill_run(struct faults *);
void cancel_race(struct faults *);
void cancel_deadline(struct faults *);
void cancel_command(struct faults *);
void kill_import(struct faults *);
void kill_put(struct faults *);
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

/* faults_store: the tests that need more than one store number them. */
void faults_store(struct faults *, unsigned number);

/* faults_amount: usual, or full with DW_LONG=1; then the share DW_TEST_SCALE says. */
size_t faults_amount(const struct faults *, size_t usual, size_t full);

/* faults_between: at least low, at most high. */
dw_usec faults_between(struct faults *, dw_usec low, dw_usec high);

/* faults_now: CLOCK_REALTIME, which is what a deadline is compared with. */
dw_usec faults_now(void);

#endif
