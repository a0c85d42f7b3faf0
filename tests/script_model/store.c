#include "script_model/store.h"

#include <stdlib.h>
#include <string.h>

#include "store/redis/core.h"
#include "store/redis/store.h"
#include "support/ask.h"
#include "support/cmocka.h"

enum { TURNS_MAX = 3000 };

/* ---- The link ------------------------------------------------------------------------------ */

static struct model_store *model_store_of(struct link *link)
{
	return (struct model_store *)link;
}

static int no_descriptor(const struct link *link)
{
	(void)link;
	return -1;
}

static void come_up(struct link *link, dw_usec now)
{
	struct model_store *model_store = model_store_of(link);

	(void)now;
	model_store->connection += model_store->down;
	model_store->down = false;
}

static dw_usec at_once(const struct link *link)
{
	(void)link;
	return 0;
}

static uint64_t connection(const struct link *link)
{
	const struct model_store *model_store = (const struct model_store *)link;

	return model_store->down ? 0 : model_store->connection;
}

static const char *script_of(int count, const char *const *words, const size_t *sizes)
{
	if (count < 2 || strncmp(words[0], "EVAL", 4) != 0)
		return "";
	return strcmp(words[0], "EVAL") == 0 ? model_script_of(words[1], sizes[1])
					     : model_script(words[1], sizes[1]);
}

static int send_to_twin(struct link *link, int count, const char *const *words, const size_t *sizes,
			dw_usec now)
{
	struct model_store *model_store = model_store_of(link);
	unsigned at = (model_store->first + model_store->count) % MODEL_STORE_REPLIES_MAX;
	struct reply *reply;

	if (model_store->down)
		return DW_ESTORE;
	assert_true(model_store->count < MODEL_STORE_REPLIES_MAX);
	model_set_time(model_store->model, now);
	reply = model_call(model_store->model, count, words, sizes);
	model_store->given++;
	model_store->key = count > 3 ? words[3] : "";
	if (model_store->change)
		reply = model_store->change(model_store, script_of(count, words, sizes), reply);
	model_store->replies[at] = reply;
	model_store->ready[at] = usec_add(now, model_store->delay);
	model_store->count++;
	return DW_OK;
}

static struct reply *pop(struct model_store *model_store)
{
	struct reply *reply = model_store->replies[model_store->first];

	model_store->first = (model_store->first + 1) % MODEL_STORE_REPLIES_MAX;
	model_store->count--;
	return reply;
}

static struct reply *take(struct link *link)
{
	struct model_store *model_store = model_store_of(link);

	if (model_store->count == 0 || model_store->ready[model_store->first] > model_store->now)
		return NULL;
	return pop(model_store);
}

static void drop(struct link *link, const char *why)
{
	struct model_store *model_store = model_store_of(link);

	(void)why;
	while (model_store->count > 0)
		reply_free(pop(model_store));
	model_store->drops += !model_store->down;
	model_store->down = true;
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

static const struct link_class model_store_link = {.descriptor = no_descriptor,
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
	return ((const struct model_store *)user)->now;
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

void model_store_open(struct model_store *model_store)
{
	dw_store_env env = {.size = sizeof env,
			    .role = DW_CLIENT,
			    .token = 1,
			    .now = read_clock,
			    .now_user = model_store,
			    .resize = resize,
			    .wake = wake,
			    .name = "model",
			    .steady = read_clock,
			    .steady_user = model_store};
	struct redis_store *store;

	model_store->link.type = &model_store_link;
	model_store->alloc = alloc_default();
	model_store->model = model_new(&model_store->alloc);
	model_store->connection = 1;
	model_store->now = DW_SECONDS(1000000);
	model_load(model_store->model);
	assert_int_equal(redis_new(&store, &env, &model_store->link), DW_OK);
	assert_int_equal(redis_shards(store, model_store->shards ? model_store->shards : 1), DW_OK);
	model_store->store = redis_base(store);
}

void model_store_close(struct model_store *model_store)
{
	dw_store *store = model_store->store;
	dw_op *op;

	(void)store->type->stop(store, 0);
	for (op = store->type->collect(store); op;) {
		dw_op *next = op->next;

		ask_free(op);
		op = next;
	}
	store->type->free(store);
	drop(&model_store->link, "");
	model_free(model_store->model);
}

void model_store_turn(struct model_store *model_store)
{
	model_store->now += DW_MILLISECONDS(10);
	model_store->store->type->turn(model_store->store, model_store->now);
}

/* take_answers: whether op is answered. */
static bool take_answers(struct model_store *model_store, const dw_op *op)
{
	dw_store *store = model_store->store;
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

dw_op *model_store_done(struct model_store *model_store, dw_op *op)
{
	model_store->store->type->submit(model_store->store, op);
	for (unsigned i = 0; i < TURNS_MAX; i++) {
		if (take_answers(model_store, op))
			return op;
		model_store_turn(model_store);
	}
	return NULL;
}

void model_store_wait(struct model_store *model_store, dw_usec time)
{
	dw_usec until = model_store->now + time;

	while (model_store->now < until) {
		(void)take_answers(model_store, NULL);
		model_store_turn(model_store);
	}
}

void model_store_command(struct model_store *model_store, const char *const *words)
{
	size_t sizes[8];
	int count = 0;

	for (; words[count]; count++)
		sizes[count] = strlen(words[count]);
	model_set_time(model_store->model, model_store->now);
	reply_free(model_call(model_store->model, count, words, sizes));
}
