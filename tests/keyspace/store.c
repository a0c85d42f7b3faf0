#include "keyspace/store.h"

#include <string.h>

#include "store/redis/core.h"
#include "store/redis/store.h"
#include "support/ask.h"
#include "support/cmocka.h"
#include "support/stub_link.h"

enum { TURNS_MAX = 3000 };

/* ---- The link ------------------------------------------------------------------------------ */

static struct keyspace_store *twin_of(struct link *link)
{
	return (struct keyspace_store *)link;
}

static int no_descriptor(const struct link *link)
{
	(void)link;
	return -1;
}

static void come_up(struct link *link, dw_usec now)
{
	struct keyspace_store *twin = twin_of(link);

	(void)now;
	twin->connection += twin->down;
	twin->down = false;
}

static dw_usec at_once(const struct link *link)
{
	(void)link;
	return 0;
}

static uint64_t connection(const struct link *link)
{
	const struct keyspace_store *twin = (const struct keyspace_store *)link;

	return twin->down ? 0 : twin->connection;
}

static const char *script_of(int count, const char *const *words, const size_t *sizes)
{
	if (count < 2 || strncmp(words[0], "EVAL", 4) != 0)
		return "";
	return strcmp(words[0], "EVAL") == 0 ? keyspace_script_of(words[1], sizes[1])
					     : keyspace_script(words[1], sizes[1]);
}

static int send_to_twin(struct link *link, int count, const char *const *words, const size_t *sizes,
			dw_usec now)
{
	struct keyspace_store *twin = twin_of(link);
	unsigned at = (twin->first + twin->count) % STORE_REPLIES_MAX;
	struct reply *reply;

	if (twin->down)
		return DW_ESTORE;
	assert_true(twin->count < STORE_REPLIES_MAX);
	keyspace_set_time(twin->keyspace, now);
	reply = keyspace_call(twin->keyspace, count, words, sizes);
	twin->given++;
	twin->key = count > 3 ? words[3] : "";
	if (twin->change)
		reply = twin->change(twin, script_of(count, words, sizes), reply);
	twin->replies[at] = reply;
	twin->ready[at] = usec_add(now, twin->delay);
	twin->count++;
	return DW_OK;
}

static struct reply *pop(struct keyspace_store *twin)
{
	struct reply *reply = twin->replies[twin->first];

	twin->first = (twin->first + 1) % STORE_REPLIES_MAX;
	twin->count--;
	return reply;
}

static struct reply *take(struct link *link)
{
	struct keyspace_store *twin = twin_of(link);

	if (twin->count == 0 || twin->ready[twin->first] > twin->now)
		return NULL;
	return pop(twin);
}

static void drop(struct link *link, const char *why)
{
	struct keyspace_store *twin = twin_of(link);

	(void)why;
	while (twin->count > 0)
		reply_free(pop(twin));
	twin->drops += !twin->down;
	twin->down = true;
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

static const struct link_class twin_link = {.descriptor = no_descriptor,
					    .work = come_up,
					    .due = at_once,
					    .connection = connection,
					    .send = send_to_twin,
					    .take = take,
					    .drop = drop,
					    .trouble = no_trouble,
					    .free = no_free};

/* ---- The store ----------------------------------------------------------------------------- */

void keyspace_store_open(struct keyspace_store *twin)
{
	dw_store_env env = stub_env(&twin->now);
	struct redis_store *store;

	env.name = "twin";
	twin->link.type = &twin_link;
	twin->alloc = alloc_default();
	twin->keyspace = keyspace_new(&twin->alloc);
	twin->connection = 1;
	twin->now = DW_SECONDS(1000000);
	keyspace_load(twin->keyspace);
	assert_int_equal(redis_new(&store, &env, &twin->link), DW_OK);
	assert_int_equal(redis_shards(store, twin->shards ? twin->shards : 1), DW_OK);
	twin->store = redis_base(store);
}

void keyspace_store_close(struct keyspace_store *twin)
{
	dw_store *store = twin->store;
	dw_op *op;

	(void)store->type->stop(store, 0);
	for (op = store->type->collect(store); op;) {
		dw_op *next = op->next;

		ask_free(op);
		op = next;
	}
	store->type->free(store);
	drop(&twin->link, "");
	keyspace_free(twin->keyspace);
}

void keyspace_store_turn(struct keyspace_store *twin)
{
	twin->now += DW_MILLISECONDS(10);
	twin->store->type->turn(twin->store, twin->now);
}

/* take_answers collects answers. Returns true if op is answered. */
static bool take_answers(struct keyspace_store *twin, const dw_op *op)
{
	dw_store *store = twin->store;
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

dw_op *keyspace_store_done(struct keyspace_store *twin, dw_op *op)
{
	twin->store->type->submit(twin->store, op);
	for (unsigned i = 0; i < TURNS_MAX; i++) {
		if (take_answers(twin, op))
			return op;
		keyspace_store_turn(twin);
	}
	return NULL;
}

void keyspace_store_wait(struct keyspace_store *twin, dw_usec time)
{
	dw_usec until = twin->now + time;

	while (twin->now < until) {
		(void)take_answers(twin, NULL);
		keyspace_store_turn(twin);
	}
}

void keyspace_store_command(struct keyspace_store *twin, const char *const *words)
{
	size_t sizes[8];
	int count = 0;

	for (; words[count]; count++)
		sizes[count] = strlen(words[count]);
	keyspace_set_time(twin->keyspace, twin->now);
	reply_free(keyspace_call(twin->keyspace, count, words, sizes));
}
