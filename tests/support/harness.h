/* An engine on a memory store. A test moves its clocks. */
#ifndef DW_TESTS_HARNESS_H
#define DW_TESTS_HARNESS_H

#include "engine/engine.h"

#define HARNESS_START DW_SECONDS(1700000000)
#define HARNESS_LOG_MAX 4096

/* One start of a handler. */
struct start {
	char id[DW_ID_MAX + 1];
	uint32_t attempt;
	dw_usec due;
	dw_usec now;
	dw_token token;
};

struct harness {
	struct engine *engine;
	struct engine_env env;
	dw_store *store;
	dw_usec wall;
	dw_usec steady;
	dw_usec armed; /* the time for which the engine has armed the loop */
	int woken;

	dw_verdict verdict; /* the verdict that the handler returns */
	void (*in_handler)(struct harness *, const dw_firing *);
	struct start starts[HARNESS_LOG_MAX];
	size_t start_count;

	dw_event_kind events[HARNESS_LOG_MAX];
	size_t event_count;
	char message[DW_MESSAGE_SIZE];

	dw_result results[HARNESS_LOG_MAX];
	char result_ids[HARNESS_LOG_MAX][DW_ID_MAX + 1];
	size_t result_count;

	size_t allocations;
	size_t fail_at; /* the number of the allocation that fails; 0: none fails */
	int fail_always;
	size_t blocks; /* the number of blocks that are not freed yet */
};

struct harness *harness_new(void);
/* harness_new_with makes a harness. `set` may change the engine's options before the engine is
 * made. */
struct harness *harness_new_with(void (*set)(struct engine_env *));
/* harness_make does the same, but does not attach the store to the engine yet. */
struct harness *harness_make(void (*set)(struct engine_env *));
void harness_free(struct harness *);
/* harness_restart ends the engine as a kill would. Another engine with the handler then loads the
 * store. */
void harness_restart(struct harness *);
struct alloc harness_alloc(struct harness *);

/* harness_turn turns until the engine has nothing to do at this moment. */
void harness_turn(struct harness *);
/* harness_pass lets time pass. It turns the engine whenever the engine has asked for a turn. */
void harness_pass(struct harness *, dw_usec duration);
/* harness_jump lets time pass in one step, as after a suspend, and then turns. */
void harness_jump(struct harness *, dw_usec duration);

int harness_put(struct harness *, const char *id, dw_usec delay);
int harness_cancel(struct harness *, const char *id);
/* harness_settle settles a held start with DW_DONE. */
int harness_settle(struct harness *, size_t start);
dw_stats harness_stats(const struct harness *);
/* harness_result returns the last answer for id. Its status is INT_MAX if there is none. */
dw_result harness_result(const struct harness *, const char *id);
size_t harness_starts_of(const struct harness *, const char *id);
size_t harness_events_of(const struct harness *, dw_event_kind);
dw_verdict harness_handler(dw *, const dw_firing *, void *user);
void harness_done(dw *, const dw_result *, void *user);

#endif
