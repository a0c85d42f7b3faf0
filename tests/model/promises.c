/* promises: I2 to I5 are those of every store, J1 to J6 those of the journal. J6 is an order
 * between the puts of one id, because the model has one. */
#include "model/promises.h"

static const struct {
	const char *name;
	const char *words;
} texts[PROMISE_COUNT] = {
    [PROMISE_KEPT] = {"none", "no promise is broken"},
    [PROMISE_I2] = {"I2", "a timer that was confirmed STORED never starts"},
    [PROMISE_I3] = {"I3", "a timer starts, or runs, although its cancel was confirmed"},
    [PROMISE_I4] = {"I4", "a timer starts after its settle was confirmed STORED"},
    [PROMISE_I5] = {"I5", "a timer starts more often than once and once a fault"},
    [PROMISE_J1] = {"J1", "a timer that was confirmed JOURNALED never starts"},
    [PROMISE_J1_EMPTIED] = {"J1e", "the journal keeps a row for ever"},
    [PROMISE_J2] = {"J2", "a timer starts after its cancel in the journal was confirmed"},
    [PROMISE_J3] = {"J3", "the owner starts a timer that it has cancelled in the journal"},
    [PROMISE_J4] = {"J4", "a machine starts a timer after its settle was confirmed JOURNALED"},
    [PROMISE_J4_ONCE] = {"J4b", "the standby starts a settled timer though nothing has failed"},
    [PROMISE_J5] = {"J5", "an attempt is repeated, or is lower than the one before"},
    [PROMISE_J6] = {"J6", "a replayed put replaces a put that Redis took later"},
};

const char *promise_name(unsigned promise)
{
	return texts[promise].name;
}

const char *promise_words(unsigned promise)
{
	return texts[promise].words;
}

static enum promise judge_start(const struct history *history, bool by_owner, uint8_t attempt,
				uint8_t faults)
{
	if (history->cancelled == CANCELLED_DONE)
		return PROMISE_I3;
	if (history->cancelled == CANCELLED_LOCAL)
		return PROMISE_J2;
	if (history->cancelled == CANCELLED_UNKNOWN && by_owner)
		return PROMISE_J3;
	if (history->settled)
		return PROMISE_I4;
	if (history->settled_journal && by_owner)
		return PROMISE_J4;
	if (history->settled_journal && !faults)
		return PROMISE_J4_ONCE;
	if (history->starts && attempt <= history->attempt)
		return PROMISE_J5;
	return history->starts > faults ? PROMISE_I5 : PROMISE_KEPT;
}

enum promise promises_start(struct state *state, bool by_owner, uint8_t generation, uint8_t attempt)
{
	struct history *history = &state->history[generation];
	enum promise broken = judge_start(history, by_owner, attempt, state->spent.faults);

	history->starts++;
	if (attempt > history->attempt)
		history->attempt = attempt;
	return broken;
}

/* A row in doubt is as late as its confirmation, so generations do not order it. */
enum promise promises_replay(const struct state *state)
{
	const struct record *record = &state->server.record;
	const struct row *row = &state->owner.row;

	if (record->kind && !row->doubt_fence && record->generation > row->generation)
		return PROMISE_J6;
	return PROMISE_KEPT;
}

unsigned promises_end(const struct state *state)
{
	for (unsigned i = 1; i < GENERATIONS; i++) {
		const struct history *history = &state->history[i];

		if (!history->confirmed || history->cancelled || history->ended || history->starts)
			continue;
		return history->confirmed == CONFIRMED_STORED ? PROMISE_I2 : PROMISE_J1;
	}
	return state->owner.row.kind ? PROMISE_J1_EMPTIED : PROMISE_KEPT;
}
