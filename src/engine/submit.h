/* Sends operations to the store, and takes its answers: two queues of operations, and one batch a
 * turn. */
#ifndef DW_ENGINE_SUBMIT_H
#define DW_ENGINE_SUBMIT_H

#include <stdbool.h>

#include "engine/due/late.h"
#include "port/op.h"

/* No claim is begun while this number of urgent operations wait or are under way. Ordinary
 * operations have the store's window as their limit, so no claim waits behind a flood of puts. */
#define URGENT_MAX 4096u

struct engine;

struct submit {
	struct op_queue urgent;   /* operations that firing waits for */
	struct op_queue ordinary; /* other operations; submitted as the store's window allows */
	struct op_queue answers;  /* collected, but not handled yet */
	uint32_t urgent_inflight;
	uint32_t ordinary_inflight;
	struct late late;
	dw_usec progress_at; /* steady; when the store last answered, or began to owe an answer */
};

void submit_push(struct submit *, dw_op *, bool urgent);

/* submit_round sends the turn's operations as one batch, the urgent ones first. */
void submit_round(struct engine *);

/* submit_collect takes the store's answers into the queue `answers`. submit_answered counts an
 * answer that was taken out of this queue, and learns from it how long a claim takes. */
void submit_collect(struct engine *);
void submit_answered(struct engine *, const dw_op *);

/* submit_refuse_all answers DW_EFENCED to queued operations that only an owner may ask for. The
 * others stay in the queues, and go to the store as operations of a client. submit_refuse_shard
 * does the same for the operations on ids of one shard. */
void submit_refuse_all(struct engine *);
void submit_refuse_shard(struct engine *, unsigned shard);

/* submit_has_room returns true if the store takes another ordinary operation. */
bool submit_has_room(const struct engine *);

/* submit_lead returns how long before its deadline a timer is claimed now. */
dw_usec submit_lead(const struct engine *);

void submit_free(struct engine *);

static inline bool submit_owes_answers(const struct submit *submit)
{
	return submit->urgent_inflight + submit->ordinary_inflight > 0;
}

static inline bool submit_is_urgent_full(const struct submit *submit)
{
	return submit->urgent_inflight + submit->urgent.count >= URGENT_MAX;
}

#endif
