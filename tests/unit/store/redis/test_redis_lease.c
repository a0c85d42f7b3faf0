/* When a lease on the server ends for its owner: counted from the sending of the command that took
 * or renewed it, however late the reply comes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/ask.h"
#include "support/cmocka.h"
#include "keyspace/store.h"

#define LATE DW_MILLISECONDS(800)                       /* so much later comes each reply */
#define LEASE (DW_SECONDS(5) - DW_MILLISECONDS(5 + 50)) /* 5 s, less its thousandth and 50 ms */
#define TURNS_MAX 1000

struct owner {
	struct keyspace_store store; /* first */
	dw_usec sent;                /* the last command that takes or renews the lease */
	const char *script;          /* which that was */
	unsigned renewals;
	char refused[16];     /* the lease whose renewals are */
	dw_usec refused_from; /* when it was acquired */
};

static struct reply *refusal(struct keyspace_store *store, struct reply *reply)
{
	static const char words[] = "BUSY Redis is busy running a script.";

	reply_free(reply);
	reply = reply_new(&store->alloc);
	assert_non_null(reply);
	assert_true(reply_bytes(reply, reply, REPLY_ERROR, words, strlen(words)));
	return reply;
}

static struct reply *note_sending(struct keyspace_store *store, const char *script,
				  struct reply *reply)
{
	struct owner *owner = (struct owner *)store;

	if (strcmp(script, "acquire") == 0 || strcmp(script, "renew") == 0) {
		owner->sent = store->now;
		owner->script = script;
	}
	if (strcmp(script, "acquire") == 0 && strcmp(store->key, owner->refused) == 0)
		owner->refused_from = store->now;
	if (strcmp(script, "renew") != 0)
		return reply;
	owner->renewals++;
	return strcmp(store->key, owner->refused) == 0 ? refusal(store, reply) : reply;
}

static dw_usec lease_of_shard(const struct owner *owner, unsigned shard)
{
	return owner->store.store->type->lease(owner->store.store, shard);
}

static dw_usec lease_of(const struct owner *owner)
{
	return lease_of_shard(owner, 0);
}

/* expect_lease: script was sent, and its reply came late. */
static void expect_lease(const struct owner *owner, const char *script)
{
	assert_string_equal(owner->script, script);
	assert_true(owner->store.now >= owner->sent + LATE);
	assert_int_equal(lease_of(owner), owner->sent + LEASE);
}

static void await_renewal(struct owner *owner)
{
	dw_usec before = lease_of(owner);

	for (unsigned i = 0; lease_of(owner) == before || lease_of(owner) == 0; i++) {
		assert_true(i < TURNS_MAX);
		keyspace_store_wait(&owner->store, DW_MILLISECONDS(10));
	}
}

static int own(struct keyspace_store *store)
{
	dw_op *op = keyspace_store_done(store, ask_plain(DW_OP_OWN));
	int status;

	assert_non_null(op);
	status = op->status;
	ask_free(op);
	return status;
}

static struct owner *owner_new(unsigned shards, unsigned refused)
{
	struct owner *owner = calloc(1, sizeof *owner);

	assert_non_null(owner);
	(void)snprintf(owner->refused, sizeof owner->refused, "{twin:%02u}:l", refused);
	owner->store.shards = shards;
	owner->store.delay = LATE;
	owner->store.change = note_sending;
	keyspace_store_open(&owner->store);
	assert_int_equal(own(&owner->store), DW_OK);
	owner->store.store->type->submit(owner->store.store, ask_plain(DW_OP_LOSS));
	return owner;
}

static void owner_free(struct owner *owner)
{
	keyspace_store_close(&owner->store);
	free(owner);
}

static void lease_acquired_counts_from_the_sending(void **state)
{
	struct owner *owner = owner_new(1, 1);

	(void)state;
	expect_lease(owner, "acquire");
	owner_free(owner);
}

static void lease_renewed_counts_from_the_sending(void **state)
{
	struct owner *owner = owner_new(1, 1);

	(void)state;
	await_renewal(owner);
	expect_lease(owner, "renew");
	owner_free(owner);
}

static void lease_renewed_on_a_new_connection_counts_from_the_sending(void **state)
{
	struct owner *owner = owner_new(1, 1);
	dw_usec lost_at = owner->store.now;

	(void)state;
	link_drop(&owner->store.link, "a test");
	await_renewal(owner);
	expect_lease(owner, "renew");
	assert_true(owner->sent < lost_at + DW_SECONDS(1)); /* the greeting, no later renewal */
	owner_free(owner);
}

static void lease_acquired_again_after_a_loss_counts_from_the_sending(void **state)
{
	struct owner *owner = owner_new(1, 1);

	(void)state;
	keyspace_empty(owner->store.keyspace, "{twin:00}:");
	await_renewal(owner);
	expect_lease(owner, "acquire");
	owner_free(owner);
}

/* drop_replies loses the connection before each reply to an acquisition. */
static struct reply *drop_replies(struct keyspace_store *store, const char *script,
				  struct reply *reply)
{
	store->down |= strcmp(script, "acquire") == 0;
	return reply;
}

static void lease_whose_replies_were_lost_is_recognized(void **state)
{
	struct keyspace_store store = {.change = drop_replies};

	(void)state;
	keyspace_store_open(&store);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(own(&store), DW_ESTORE);
		link_drop(&store.link, "a test"); /* with the reply */
		keyspace_store_wait(&store, DW_MILLISECONDS(100));
	}
	store.change = NULL;
	assert_int_equal(own(&store), DW_OK);
	keyspace_store_close(&store);
}

/* A renewal that one shard refuses ends the lease of this shard only. */
static void lease_of_a_shard_ends_alone(void **state)
{
	enum { SHARDS = 3 };

	(void)state;
	for (unsigned i = 0; i < SHARDS; i++) {
		struct owner *owner = owner_new(SHARDS, i);

		while (owner->renewals < SHARDS)
			keyspace_store_turn(&owner->store);
		keyspace_store_wait(&owner->store, 2 * LATE);
		assert_int_equal(lease_of_shard(owner, i), owner->refused_from + LEASE);
		assert_true(lease_of_shard(owner, (i + 1) % SHARDS) > lease_of_shard(owner, i));
		owner->refused[0] = '\0';
		await_renewal(owner);
		owner_free(owner);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lease_acquired_counts_from_the_sending),
	    cmocka_unit_test(lease_renewed_counts_from_the_sending),
	    cmocka_unit_test(lease_renewed_on_a_new_connection_counts_from_the_sending),
	    cmocka_unit_test(lease_acquired_again_after_a_loss_counts_from_the_sending),
	    cmocka_unit_test(lease_whose_replies_were_lost_is_recognized),
	    cmocka_unit_test(lease_of_a_shard_ends_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
