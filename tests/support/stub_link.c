#include "support/stub_link.h"

#include <stdlib.h>

#include "store/redis/store.h"
#include "support/cmocka.h"

static int no_descriptor(const struct link *link)
{
	(void)link;
	return -1;
}

static void no_work(struct link *link, dw_usec now)
{
	(void)link;
	(void)now;
}

static dw_usec never(const struct link *link)
{
	(void)link;
	return DW_NEVER;
}

static uint64_t connection(const struct link *link)
{
	return ((const struct stub_link *)link)->connection;
}

static int take_command(struct link *link, int count, const char *const *words, const size_t *sizes,
			dw_usec now)
{
	struct stub_link *stub = (struct stub_link *)link;

	(void)now;
	stub->unanswered++;
	if (stub->sent)
		stub->sent(stub, count, words, sizes);
	return DW_OK;
}

static struct reply *give_reply(struct link *link)
{
	struct stub_link *stub = (struct stub_link *)link;

	struct reply *reply = stub->unanswered > 0 && stub->answer ? stub->answer(stub) : NULL;

	stub->unanswered -= reply != NULL;
	return reply;
}

static const char *trouble(const struct link *link, bool *ret_fatal)
{
	*ret_fatal = false;
	return ((const struct stub_link *)link)->trouble;
}

static void no_free(struct link *link)
{
	(void)link;
}

static const struct link_class stub_class = {.descriptor = no_descriptor,
					     .work = no_work,
					     .due = never,
					     .connection = connection,
					     .send = take_command,
					     .take = give_reply,
					     .trouble = trouble,
					     .free = no_free};

static dw_usec tell_time(void *user)
{
	return *(const dw_usec *)user;
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

dw_store_env stub_env(dw_usec *now)
{
	return (dw_store_env){.size = sizeof(dw_store_env),
			      .role = DW_CLIENT,
			      .token = 1,
			      .now = tell_time,
			      .now_user = now,
			      .resize = resize,
			      .wake = wake,
			      .name = "stub",
			      .steady = tell_time,
			      .steady_user = now};
}

struct redis_store *stub_open(struct stub_link *stub, unsigned shards)
{
	dw_store_env env = stub_env(&stub->now);
	struct redis_store *store;

	*stub = (struct stub_link){
	    .link = {.type = &stub_class}, .now = DW_SECONDS(100), .connection = 1, .trouble = ""};
	assert_int_equal(redis_new(&store, &env, &stub->link), DW_OK);
	assert_int_equal(redis_shards(store, shards), DW_OK);
	stub->alloc = store->alloc;
	store->now = stub->now;
	node_watch(store, &store->node);
	return store;
}

void stub_close(struct redis_store *store)
{
	redis_free(redis_base(store));
}
