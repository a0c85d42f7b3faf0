/* A program that changes settings of topics on its own Redis server, and reads the copies of the
 * settings in the shards. */
#ifndef DW_TESTS_SETTER_H
#define DW_TESTS_SETTER_H

#include "durawheel/durawheel.h"

#if DW_WITH_REDIS

#include <hiredis/hiredis.h>
#include <stdbool.h>

#include "durawheel/topic.h"

enum { SETTER_SHARDS = 16, SETTER_TRIES = 600, SETTER_TEXT_SIZE = 256 };

struct setter {
	dw *d;
	redisContext *redis;
	int fired; /* deliveries to the handler of "*" */
	int losses;
	int owned;  /* how often the ownership was gained */
	int status; /* the status of the last answer */
	size_t listed;
	dw_topic_info info;
	uint64_t flaws;
	char flaw[256]; /* the first flaw: its id, and what is wrong */
};

/* setter_set_up starts the server and opens the owner; for cmocka. */
int setter_set_up(void **state);
int setter_tear_down(void **state);

/* setter_open_as opens a handle of the namespace "set". An owner serves "*" by setter_handle, which
 * counts. */
void setter_open_as(struct setter *t, dw_role role);
dw_verdict setter_handle(dw *d, const dw_firing *firing, void *user);
void setter_close(struct setter *t);
void setter_sync_all(struct setter *t);
void setter_turn(struct setter *t);

/* The functions below wait for the answer. setter_put returns its status. The id of the timer is
 * the topic. */
void setter_done(dw *, const dw_result *, void *user); /* stores the status */
void setter_set(struct setter *t, const char *topic, dw_topic_settings settings);
void setter_drop(struct setter *t, const char *topic);
void setter_list(struct setter *t, const char *topic);
void setter_check(struct setter *t);
int setter_put(struct setter *t, const char *topic, dw_usec delay);

/* setter_set_three makes a queue "queue", a topic "paused" whose intake is paused, and a topic
 * "kept" that keeps ends. setter_await_three waits until all shards have all these settings. */
void setter_set_three(struct setter *t);
void setter_await_three(struct setter *t);

/* setter_ask sends a command and writes the reply as text of SETTER_TEXT_SIZE. A nil becomes "",
 * and a number becomes its digits. setter_copy_in reads the settings of a topic in a shard. */
void setter_ask(struct setter *t, const char *command, char *text);
void setter_copy_in(struct setter *t, unsigned shard, const char *topic, char *text);
void setter_write_copy(struct setter *t, unsigned shard, const char *topic, const char *text);
void setter_flush_all(struct setter *t);

/* setter_has_everywhere returns true if all shards have the same settings of the topic, and the
 * settings contain `wanted`. If `wanted` is "", no shard may have settings. setter_marks returns in
 * how many shards this field of META has a line of the topic. setter_queued returns the number of
 * messages in the queue of the topic. */
bool setter_has_everywhere(struct setter *t, const char *topic, const char *wanted);
int setter_marks(struct setter *t, const char *field, const char *topic);
long setter_queued(struct setter *t, const char *topic);

/* setter_await_everywhere waits for setter_has_everywhere(). setter_await_renewals waits until the
 * owner has heard of all changes and read them. setter_await_loss waits until the owner has
 * restored what was lost. */
void setter_await_everywhere(struct setter *t, const char *topic, const char *wanted);
void setter_await_renewals(struct setter *t);
void setter_await_loss(struct setter *t);
void setter_await_message(struct setter *t, const char *topic);

#endif
#endif
