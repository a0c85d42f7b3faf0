#include "faults/redis/plan.h"

#include <stdlib.h>

#include "base/crc.h"
#include "faults/payload.h"

#define BEGIN (DW_MILLISECONDS(300) * faults_slowness()) /* the time for the processes to start */
#define LEAST DW_MILLISECONDS(200)                       /* at least, from put to deadline */
#define NEAR DW_MILLISECONDS(20)
#define EARLIER 5 /* one cancel in EARLIER is earlier */

static void make(struct plan *plan, struct faults *faults, size_t count)
{
	*plan = (struct plan){.items = calloc(count, sizeof *plan->items),
			      .count = count,
			      .seed = rng_next(&faults->rng)};
	if (!plan->items)
		abort(); /* out of memory */
}

static void stretch(struct plan *plan, dw_usec until)
{
	if (until > plan->end)
		plan->end = until;
}

/* wish_act chooses the act on a timer. Half of the acts are near the deadline, when the owner is
 * about to claim. */
static void wish_act(struct plan_item *item, struct faults *faults, const struct plan_size *size)
{
	uint64_t dice = rng_below(&faults->rng, 10);

	item->act = dice < 3 ? PLAN_CANCEL : dice < 4 ? PLAN_MOVE : PLAN_NONE;
	item->act_by = size->alone ? PLAN_OWNER : (unsigned)rng_below(&faults->rng, 2);
	if (rng_below(&faults->rng, 2) == 0)
		item->act_at = item->due + faults_between(faults, -NEAR, NEAR);
	else
		item->act_at = faults_between(faults, item->put_at + NEAR, item->due + NEAR);
	item->moved_due = item->act_at + faults_between(faults, LEAST, size->span);
}

void plan_mixed(struct plan *plan, struct faults *faults, const struct plan_size *size)
{
	dw_usec began = faults_now() + BEGIN + size->delay;

	make(plan, faults, size->count);
	for (size_t i = 0; i < plan->count; i++) {
		struct plan_item *item = &plan->items[i];

		item->put_at = began + faults_between(faults, 0, size->period);
		item->put_by = size->alone ? PLAN_OWNER : (unsigned)rng_below(&faults->rng, 2);
		item->due = item->put_at + faults_between(faults, LEAST, size->span);
		wish_act(item, faults, size);
		stretch(plan, item->act == PLAN_MOVE ? item->moved_due : item->due);
		stretch(plan, item->act_at);
	}
}

void plan_cancels(struct plan *plan, struct faults *faults, const struct plan_race *race)
{
	dw_usec began = faults_now() + BEGIN;
	dw_usec first = began + DW_SECONDS(1) * faults_slowness() + race->ahead;

	make(plan, faults, race->count);
	for (size_t i = 0; i < race->count; i++) {
		struct plan_item *item = &plan->items[i];
		bool is_earlier = i % EARLIER == 0;

		item->put_at = began;
		item->put_by = PLAN_OWNER;
		item->due = first + (dw_usec)i * race->each;
		item->act = PLAN_CANCEL;
		item->act_by = i % 2 ? PLAN_CLIENT : PLAN_THIRD;
		item->act_at =
		    item->due + (is_earlier ? faults_between(faults, -race->ahead, -race->around)
					    : faults_between(faults, -race->around, race->around));
		stretch(plan, item->due + race->around);
	}
}

void plan_free(struct plan *plan)
{
	free(plan->items);
}

uint64_t plan_digest(const struct plan *plan, size_t number)
{
	unsigned char data[PAYLOAD_MAX];
	size_t size = payload_data(plan->seed, number, data);

	return (uint64_t)size << 32 | crc32c(0, data, size);
}
