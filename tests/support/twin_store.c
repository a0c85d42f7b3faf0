#include "support/twin_store.h"

#include <stdlib.h>
#include <string.h>

#include "store/redis/inside.h"
#include "store/redis/store.h"
#include "support/ask.h"
#include "support/cmocka.h"

enum { TURNS_MAX = 3000 };

/* ---- The link ------------------------------------------------------------------------------ */

static struct twin_store *twin_store_of(struct link *link)
{
	return (struct twin_store *)link;
}

static int no_descriptor(const struct link *link)
{
	(void)link;
	return -1;
}

static void come_up(struct link *link, dw_usec now)
{
	struct twin_store *twin_store = twin_store_of(link);

	(void)now;
	twin_store->connection += twin_store->down;
	twin_store->down = false;
}

static dw_usec at_once(const struct link *link)
{
	(void)link;
	return 0;
}

static uint64_t connection(const struct link *link)
{
	const struct twin_store *twin_store = (const struct twin_store *)link;

	return twin_store->down ? 0 : twin_store->connection;
}

static const char *script_of(int count, const char *const *words, const size_t *sizes)
{
	if (count < 2 || strncmp(words[0], "EVAL", 4) != 0)
		return "";
	return strcmp(words[0], "EVAL") == 0 ? twin_script_of(words[1], sizes[1])
					     : twin_script(words[1], sizes[1]);
}

static int send_to_twin(struct link *link, int count, const char *const *words, const size_t *sizes,
			dw_usec now)
{
	struct twin_store *twin_store = twin_store_of(link);
	unsigned at = (twin_store->first + twin_store->count) % TWIN_STORE_REPLIES_MAX;
	struct reply *reply;

	if (twin_store->down)
		return DW_ESTORE;
	assert_true(twin_store->count < TWIN_STORE_REPLIES_MAX);
	twin_set_time(twin_store->twin, now);
	reply = twin_call(twin_store->twin, count, words, sizes);
	twin_store->given++;
	if (twin_store->change)
		reply = twin_store->change(twin_store, script_of(count, words, sizes), reply);
	twin_store->replies[at] = reply;
	twin_store->ready[at] = usec_add(now, twin_store->delay);
	twin_store->count++;
	return DW_OK;
}

static struct reply *pop(struct twin_store *twin_store)
{
	struct reply *reply = twin_store->replies[twin_store->first];

	twin_store->first = (twin_store->first + 1) % TWIN_STORE_REPLIES_MAX;
	twin_store->count--;
	return reply;
}

static struct reply *take(struct link *link)
{
	struct twin_store *twin_store = twin_store_of(link);

	if (twin_store->count == 0 || twin_store->ready[twin_store->first] > twin_store->now)
		return NULL;
	return pop(twin_store);
}

static void drop(struct link *link, const char *why)
{
	struct twin_store *twin_store = twin_store_of(link);

	(void)why;
	while (twin_store->count > 0)
		reply_free(pop(twin_store));
	twin_store->drops += !twin_store->down;
	twin_store->down = true;
}

static const char *no_trouble(const struct link *link, bool *ret_fatal)
{
	(void)link;
	*ret_fatal = false;
	return "";
}

static void no_free(struct link *link)
{
	(void)link;
}

static const struct link_class twin_store_link = {.descriptor = no_descriptor,
						  .work = come_up,
						  .due = at_once,
						  .connection = connection,
						  .send = send_to_twin,
						  .take = take,
						  .drop = drop,
						  .trouble = no_trouble,
						  .free = no_free};

/* ---- The store ----------------------------------------------------------------------------- */

static dw_usec read_clock(void *user)
{
	return ((const struct twin_store *)user)->now;
}

static void *resize(void *user, void *block, size_t size)
{
	(void)user;
	if (size > 0)
		return realloc(block, size);
	free(block);
	return NULL;
}

static void wake(void *user)
{
	(void)user;
}

void twin_store_open(struct twin_store *twin_store)
{
	dw_store_env env = {.size = sizeof env,
			    .role = DW_CLIENT,
			    .token = 1,
			    .now = read_clock,
			    .now_user = twin_store,
			    .resize = resize,
			    .wake = wake,
			    .name = "twin",
			    .steady = read_clock,
			    .steady_user = twin_store};
	struct redis_store *store;

	twin_store->link.type = &twin_store_link;
	twin_store->alloc = alloc_default();
	twin_store->twin = twin_new(&twin_store->alloc);
	twin_store->connection = 1;
	twin_store->now = DW_SECONDS(1000000);
	twin_load(twin_store->twin);
	assert_int_equal(redis_new(&store, &env, &twin_store->link), DW_OK);
	assert_int_equal(redis_shards(store, 1), DW_OK);
	twin_store->store = redis_base(store);
}

void twin_store_close(struct twin_store *twin_store)
{
	dw_store *store = twin_store->store;
	dw_op *op;

	(void)store->type->stop(store, 0);
	for (op = store->type->collect(store); op;) {
		dw_op *next = op->next;

		ask_free(op);
		op = next;
	}
	store->type->free(store);
	drop(&twin_store->link, "");
	twin_free(twin_store->twin);
}

void twin_store_turn(struct twin_store *twin_store)
{
	twin_store->now += DW_MILLISECONDS(10);
	twin_store->store->type->turn(twin_store->store, twin_store->now);
}

/* take_answers: whether op is answered. */
static bool take_answers(struct twin_store *twin_store, const dw_op *op)
{
	dw_store *store = twin_store->store;
	dw_op *answer = store->type->collect(store);
	bool found = false;

	while (answer) {
		dw_op *next = answer->next;

		if (answer == op) {
			found = true;
		} else {
			assert_int_equal(answer->kind, DW_OP_LOSS);
			answer->next = NULL;
			store->type->submit(store, answer);
		}
		answer = next;
	}
	return found;
}

dw_op *twin_store_done(struct twin_store *twin_store, dw_op *op)
{
	twin_store->store->type->submit(twin_store->store, op);
	for (unsigned i = 0; i < TURNS_MAX; i++) {
		if (take_answers(twin_store, op))
			return op;
		twin_store_turn(twin_store);
	}
	return NULL;
}

void twin_store_wait(struct twin_store *twin_store, dw_usec time)
{
	dw_usec until = twin_store->now + time;

	while (twin_store->now < until) {
		(void)take_answers(twin_store, NULL);
		twin_store_turn(twin_store);
	}
}

void twin_store_command(struct twin_store *twin_store, const char *const *words)
{
	size_t sizes[8];
	int count = 0;

	for (; words[count]; count++)
		sizes[count] = strlen(words[count]);
	twin_set_time(twin_store->twin, twin_store->now);
	reply_free(twin_call(twin_store->twin, count, words, sizes));
}
