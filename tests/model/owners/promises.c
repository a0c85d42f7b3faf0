#include "model/owners/promises.h"

#include <stddef.h>

static const struct {
	const char *name;
	const char *words;
} texts[PROMISE_COUNT] = {
    [PROMISE_KEPT] = {"none", "no promise is broken"},
    [PROMISE_I2] = {"I2", "a timer that was confirmed never starts"},
    [PROMISE_I3] = {"I3", "a timer starts although its cancel was confirmed"},
    [PROMISE_I4] = {"I4", "a timer starts after its settle was confirmed"},
    [PROMISE_I5] = {"I5", "a timer starts more often than once and once a fault"},
    [PROMISE_I5_ATTEMPT] = {"I5a", "an attempt is repeated, or is lower than the one before"},
    [PROMISE_ONE] = {"ONE", "two processes may start timers of the shard"},
    [PROMISE_LIVING] = {"LIVE", "a living owner forgets what only it knows"},
};

const char *promise_name(unsigned promise)
{
	return texts[promise].name;
}

const char *promise_words(unsigned promise)
{
	return texts[promise].words;
}

static enum promise judge_start(const struct history *history, uint8_t attempt, uint8_t faults)
{
	if (history->cancelled)
		return PROMISE_I3;
	if (history->settled)
		return PROMISE_I4;
	if (history->starts && attempt <= history->attempt)
		return PROMISE_I5_ATTEMPT;
	return history->starts > faults ? PROMISE_I5 : PROMISE_KEPT;
}

enum promise promises_start(struct state *state, unsigned party)
{
	const struct timer *timer = &state->parties[party].timer;
	struct history *history = &state->history[timer->generation];
	enum promise broken = judge_start(history, timer->attempt, state->spent.faults);

	history->starts++;
	if (timer->attempt > history->attempt)
		history->attempt = timer->attempt;
	return broken;
}

enum promise promises_owns(const struct state *state, unsigned party)
{
	return state->parties[1 - party].lease ? PROMISE_ONE : PROMISE_KEPT;
}

enum promise promises_drop(const struct state *state, unsigned party)
{
	const struct timer *timer = &state->parties[party].timer;
	const struct history *history = &state->history[timer->generation];

	if (!state->server.stale || state->server.keeper != party + 1 || !timer->kind ||
	    state->server.data.record.generation == timer->generation)
		return PROMISE_KEPT;
	return !history->confirmed || history->cancelled || history->ended || history->starts
		   ? PROMISE_KEPT
		   : PROMISE_LIVING;
}

void promises_void(struct state *state)
{
	const struct record *record = &state->server.data.record;

	for (uint8_t i = 1; i < GENERATIONS; i++) {
		struct history *history = &state->history[i];
		bool is_there = record->kind && record->generation == i;

		history->cancelled = history->settled = 0;
		history->ended = history->ended || !is_there;
		history->attempt = is_there ? record->attempt : 0;
	}
	state->server.keeper = state->server.stale = 0;
}

/* A change of a client that the owner has not acknowledged is gone for good. */
void promises_set_back(struct state *state, const struct data *before)
{
	const struct party *keeper = NULL;

	if (state->server.keeper)
		keeper = &state->parties[state->server.keeper - 1];
	if (!keeper || keeper->role != ROLE_OWNER) {
		promises_void(state);
		return;
	}
	state->server.stale = 1;
	for (unsigned i = 1; before->inbox && i < GENERATIONS; i++) {
		struct history *history = &state->history[i];

		history->cancelled = 0;
		if (!keeper->timer.kind || keeper->timer.generation != i)
			history->ended = 1;
	}
}

unsigned promises_end(const struct state *state)
{
	for (unsigned i = 1; i < GENERATIONS; i++) {
		const struct history *history = &state->history[i];

		if (history->confirmed && !history->cancelled && !history->ended &&
		    !history->starts)
			return PROMISE_I2;
	}
	return PROMISE_KEPT;
}
