#include "support/harness.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/usec.h"
#include "store/store.h"

static dw_usec read_wall(void *user)
{
	return ((struct harness *)user)->wall;
}

static dw_usec read_steady(void *user)
{
	return ((struct harness *)user)->steady;
}

static void arm(void *user, dw_usec at)
{
	((struct harness *)user)->armed = at;
}

static void wake(void *user)
{
	((struct harness *)user)->woken = 1;
}

static void *resize(void *user, void *block, size_t size)
{
	struct harness *harness = user;

	if (size == 0) {
		harness->blocks -= block != NULL;
		free(block);
		return NULL;
	}
	harness->allocations++;
	if (harness->fail_at > 0 &&
	    (harness->allocations == harness->fail_at ||
	     (harness->fail_always && harness->allocations > harness->fail_at)))
		return NULL;
	harness->blocks += block == NULL;
	return realloc(block, size);
}

static void on_event(dw *d, const dw_event *event, void *user)
{
	struct harness *harness = user;

	(void)d;
	if (harness->event_count < HARNESS_LOG_MAX)
		harness->events[harness->event_count++] = event->kind;
	(void)snprintf(harness->message, sizeof harness->message, "%s", event->message);
}

dw_verdict harness_handler(dw *d, const dw_firing *firing, void *user)
{
	struct harness *harness = user;

	(void)d;
	if (harness->start_count < HARNESS_LOG_MAX) {
		struct start *start = &harness->starts[harness->start_count++];

		(void)snprintf(start->id, sizeof start->id, "%s", firing->id);
		start->attempt = firing->attempt;
		start->due = firing->due;
		start->now = firing->now;
		start->token = *firing->token;
	}
	if (harness->in_handler)
		harness->in_handler(harness, firing);
	return harness->verdict;
}

void harness_done(dw *d, const dw_result *result, void *user)
{
	struct harness *harness = user;

	(void)d;
	if (harness->result_count == HARNESS_LOG_MAX)
		return;
	(void)snprintf(harness->result_ids[harness->result_count], sizeof harness->result_ids[0],
		       "%s", result->id);
	harness->results[harness->result_count++] = *result;
}

struct harness *harness_make(void (*set)(struct engine_env *))
{
	struct harness *harness = calloc(1, sizeof *harness);
	struct engine_env env = {
	    .handle = (dw *)harness,
	    .alloc = harness_alloc(harness),
	    .clock = {.wall = read_wall, .steady = read_steady, .user = harness},
	    .loop = {.arm = arm, .wake = wake, .user = harness},
	    .role = DW_OWNER,
	    .seed = 1,
	    .timers_max = 1000000,
	    .data_max = DW_DATA_DEFAULT,
	    .hold = DW_SECONDS(30),
	    .on_event = on_event,
	    .on_event_user = harness,
	};
	dw_store_env store_env = {.size = sizeof store_env,
				  .role = DW_OWNER,
				  .token = 7,
				  .now = read_wall,
				  .now_user = harness,
				  .resize = resize,
				  .resize_user = harness,
				  .wake = wake,
				  .wake_user = harness};

	if (!harness)
		abort();
	harness->wall = HARNESS_START;
	harness->steady = DW_SECONDS(1000);
	if (set)
		set(&env);
	harness->env = env;
	if (engine_new(&harness->engine, &env) != DW_OK ||
	    memory_store_open(&harness->store, &store_env) != DW_OK)
		abort();
	return harness;
}

struct harness *harness_new_with(void (*set)(struct engine_env *))
{
	struct harness *harness = harness_make(set);

	engine_attach(harness->engine, harness->store);
	harness_turn(harness);
	return harness;
}

static void begin(struct harness *harness)
{
	if (engine_on(harness->engine, "t", harness_handler, harness) != DW_OK)
		abort();
	harness_turn(harness);
}

struct harness *harness_new(void)
{
	struct harness *harness = harness_new_with(NULL);

	begin(harness);
	return harness;
}

void harness_restart(struct harness *harness)
{
	engine_abandon(harness->engine);
	engine_free(harness->engine);
	if (engine_new(&harness->engine, &harness->env) != DW_OK)
		abort();
	engine_attach(harness->engine, harness->store);
	begin(harness);
}

struct alloc harness_alloc(struct harness *harness)
{
	return (struct alloc){.resize = resize, .user = harness};
}

void harness_free(struct harness *harness)
{
	harness->fail_at = 0;
	engine_begin_close(harness->engine);
	harness_turn(harness);
	(void)harness->store->type->stop(harness->store,
					 0); /* a memory store has no operation under way */
	engine_abandon(harness->engine);
	harness->store->type->free(harness->store);
	engine_free(harness->engine);
	if (harness->blocks != 0) {
		(void)fprintf(stderr, "%zu blocks leaked\n", harness->blocks);
		abort();
	}
	free(harness);
}

void harness_turn(struct harness *harness)
{
	/* A wheel that moves many timers needs fewer turns, and an engine that spins would need
	 * more. */
	for (int i = 0; i < 100000; i++) {
		harness->woken = 0;
		(void)engine_turn(harness->engine);
		if (!harness->woken && harness->armed > harness->wall)
			return;
	}
	(void)fprintf(stderr, "the engine spins\n");
	abort();
}

void harness_pass(struct harness *harness, dw_usec duration)
{
	dw_usec end = usec_add(harness->wall, duration);

	harness_turn(harness);
	while (harness->wall < end) {
		dw_usec next = usec_min(harness->armed, end);

		if (next > harness->wall) {
			harness->steady += next - harness->wall;
			harness->wall = next;
		}
		harness_turn(harness);
	}
}

void harness_jump(struct harness *harness, dw_usec duration)
{
	harness->wall = usec_add(harness->wall, duration);
	harness->steady = usec_add(harness->steady, duration);
	harness_turn(harness);
}

int harness_put(struct harness *harness, const char *id, dw_usec delay)
{
	dw_timer timer = {.size = sizeof timer,
			  .id = id,
			  .topic = "t",
			  .due = usec_add(harness->wall, delay),
			  .data = "data",
			  .data_size = 4};

	return engine_put(harness->engine, &timer, (struct done){harness_done, harness});
}

int harness_cancel(struct harness *harness, const char *id)
{
	return engine_cancel(harness->engine, id, 0, (struct done){harness_done, harness});
}

int harness_settle(struct harness *harness, size_t start)
{
	return engine_settle(harness->engine, &harness->starts[start].token, DW_DONE, -1,
			     (struct done){harness_done, harness});
}

dw_stats harness_stats(const struct harness *harness)
{
	dw_stats stats = {.size = sizeof stats};

	engine_stats(harness->engine, &stats);
	return stats;
}

dw_result harness_result(const struct harness *harness, const char *id)
{
	for (size_t i = harness->result_count; i-- > 0;)
		if (strcmp(harness->result_ids[i], id) == 0)
			return harness->results[i];
	return (dw_result){.status = INT_MAX};
}

size_t harness_starts_of(const struct harness *harness, const char *id)
{
	size_t count = 0;

	for (size_t i = 0; i < harness->start_count; i++)
		count += strcmp(harness->starts[i].id, id) == 0;
	return count;
}

size_t harness_events_of(const struct harness *harness, dw_event_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < harness->event_count; i++)
		count += harness->events[i] == kind;
	return count;
}
