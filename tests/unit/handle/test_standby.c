/* How often a standby asks for the ownership, on clocks that stand still. */
#include "support/cmocka.h"

#include "base/usec.h"
#include "engine/engine.h"
#include "port/op.h"

/* A store that somebody else owns until told; and the world around an engine on it. */
struct world {
	dw_store store; /* first: the public view */
	struct op_queue answers;
	struct op_queue parked; /* an INBOX without news */
	struct engine *engine;
	dw_usec now;
	dw_usec armed;
	bool woken;
	bool is_free;
	int asked;
	int turns;
	int events[DW_EVENT_OWNER + 1];
};

static void submit(dw_store *store, dw_op *batch)
{
	struct world *world = (struct world *)store;

	while (batch) {
		dw_op *next = batch->next;

		world->asked += batch->kind == DW_OP_OWN;
		batch->status = world->is_free ? DW_OK : DW_EOWNED;
		op_queue_push(batch->kind == DW_OP_INBOX ? &world->parked : &world->answers, batch);
		batch = next;
	}
	world->woken = true;
}

static dw_op *collect(dw_store *store)
{
	return op_queue_take(&((struct world *)store)->answers);
}

static const dw_store_class owned_class = {
    .size = sizeof owned_class, .name = "owned", .submit = submit, .collect = collect};

static dw_usec read_now(void *user)
{
	return ((struct world *)user)->now;
}

static void arm(void *user, dw_usec at)
{
	((struct world *)user)->armed = at;
}

static void wake(void *user)
{
	((struct world *)user)->woken = true;
}

static void on_event(dw *d, const dw_event *event, void *user)
{
	(void)d;
	((struct world *)user)->events[event->kind]++;
}

static void begin(struct world *world)
{
	struct engine_env env = {.alloc = alloc_default(),
				 .clock = {.wall = read_now, .steady = read_now, .user = world},
				 .loop = {.arm = arm, .wake = wake, .user = world},
				 .role = DW_CLIENT,
				 .standby = true,
				 .seed = 1,
				 .timers_max = 100,
				 .hold = DW_SECONDS(30),
				 .on_event = on_event,
				 .on_event_user = world};

	*world = (struct world){.store = {.type = &owned_class}, .now = DW_DAYS(20000)};
	assert_int_equal(engine_new(&world->engine, &env), DW_OK);
	engine_attach(world->engine, &world->store);
}

static void end(struct world *world)
{
	struct alloc alloc = alloc_default();
	dw_op *op;

	engine_free(world->engine);
	op_queue_append(&world->answers, op_queue_take(&world->parked));
	while ((op = op_queue_pop(&world->answers)))
		op_free(&alloc, op);
}

/* pass lets time go by, turning whenever the engine asked for it. */
static void pass(struct world *world, dw_usec duration)
{
	dw_usec until = world->now + duration;

	for (;;) {
		while (world->woken || world->armed <= world->now) {
			world->woken = false;
			assert_true(world->turns++ < 1000); /* it spins */
			assert_int_equal(engine_turn(world->engine), DW_OK);
		}
		if (world->armed >= until)
			break;
		world->now = world->armed;
	}
	world->now = until;
}

static void standby_asks_once_a_second_and_sleeps_between(void **state)
{
	struct world world;

	(void)state;
	begin(&world);
	pass(&world, DW_SECONDS(10) - 1);
	assert_int_equal(world.asked, 10);
	assert_in_range(world.turns, 10, 40);
	assert_int_equal(world.events[DW_EVENT_OWNER], 0);
	assert_int_equal(world.events[DW_EVENT_STORE_FAILED], 0);
	assert_false(engine_is_owner(world.engine));
	end(&world);
}

static void standby_becomes_the_owner_once_and_asks_no_more(void **state)
{
	struct world world;

	(void)state;
	begin(&world);
	pass(&world, DW_MILLISECONDS(1500));
	world.is_free = true;
	pass(&world, DW_MILLISECONDS(600));
	assert_int_equal(world.events[DW_EVENT_OWNER], 1);
	assert_true(engine_is_owner(world.engine));
	pass(&world, DW_SECONDS(10));
	assert_int_equal(world.asked, 3);
	assert_int_equal(world.events[DW_EVENT_OWNER], 1);
	end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(standby_asks_once_a_second_and_sleeps_between),
	    cmocka_unit_test(standby_becomes_the_owner_once_and_asks_no_more),
	};

	return cmocka_run_group_tests_name("standby", tests, NULL, NULL);
}
