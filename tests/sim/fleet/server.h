/* The Redis server: a keyspace with a clock of its own. Its data can be emptied or set back to what
 * it was a while ago. */
#ifndef SIM_FLEET_SERVER_H
#define SIM_FLEET_SERVER_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "keyspace/keyspace.h"
#include "sim/core/promises.h"

#define SHARDS_MAX_SIM 16u

struct sim;

struct server {
	struct sim *sim;
	struct keyspace *keyspace;
	unsigned shard_count;
	dw_usec lease;
	dw_usec wall_offset; /* of its clock */
	int64_t drift_ppm;
	struct keyspace *past; /* the data at past_at; NULL: forgotten */
	dw_usec past_at;
	bool set_back[SHARDS_MAX_SIM];       /* and not emptied since */
	dw_usec acquired_at[SHARDS_MAX_SIM]; /* last (steady clock) */
	/* Of a claim, settle or next occurrence of known timers: the generations stored before, or
	 * 0. */
	uint64_t known[NAMES_MAX];
	uint32_t known_attempt[NAMES_MAX]; /* and their attempts */
	size_t known_count;
	bool is_strict; /* an owner that is wrong about what it knows ends the program */
};

void server_init(struct server *, struct sim *);
void server_free(struct server *);
unsigned server_shard(const struct server *, const char *id);

/* server_key: the shard's key with that end. The next call overwrites it. */
const char *server_key(unsigned shard, const char *end);

/* server_row: the timer's row; NULL: it is not stored. */
dw_row *server_row(const struct server *, const char *id);

/* server_ended: the end that is kept of that id; NULL: none. */
dw_row *server_ended(const struct server *, const char *id);

/* server_now: by its clock. */
dw_usec server_now(const struct server *);

/* server_tick tells the time to the keyspace, which has no clock. */
void server_tick(const struct server *);

/* server_score: the timer's entry in the inbox; false: none. */
bool server_score(const struct server *, const char *id, double *ret_score);

/* server_fence: the last fencing token of the shard; 0: none. */
uint64_t server_fence(const struct server *, unsigned shard);
bool server_has_lease(const struct server *, unsigned shard, const char *nonce);

/* server_all_even: every timer has both its entry and its value. */
bool server_all_even(const struct server *);

struct reply *server_call(struct server *, int count, const char *const *words,
			  const size_t *sizes);
void server_flush(struct server *);

/* server_step_clock sets its clock back now and then: another machine has taken over, or the clock
 * was wrong before. */
void server_step_clock(struct server *);

/* server_empty: a shard's data is gone. */
void server_empty(struct server *, unsigned shard);

/* server_remember keeps a copy of the data, server_forget drops the copy, server_set_back replaces
 * the data by it. */
void server_remember(struct server *);
void server_forget(struct server *);
void server_set_back(struct server *);

#endif
