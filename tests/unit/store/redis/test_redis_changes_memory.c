/* The owner reads which settings have changed, and each allocation of that fails once. What was
 * read then is read again: no change is lost. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "port/op.h"
#include "store/store.h"
#include "support/ask.h"
#include "support/redis_server.h"
#include "support/shortage.h"

static struct redis_server server;
static dw_usec now = DW_SECONDS(1);

static void open_as(struct ask *ask, dw_role role, struct shortage *shortage)
{
	char url[TEMP_SIZE + 16], message[DW_MESSAGE_SIZE] = "";

	ask_init(ask, role, role == DW_OWNER ? 1 : 2, &now);
	ask->env.name = "changes";
	ask->env.shards = 1; /* else another shard still tells of the change */
	if (shortage) {
		ask->env.resize = shortage_resize;
		ask->env.resize_user = shortage;
	}
	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	assert_int_equal(redis_store_open(&ask->store, url, &ask->env, message), DW_OK);
}

static void set(struct ask *ask, const char *text)
{
	struct alloc alloc = alloc_default();
	dw_op *op = op_new(&alloc, DW_OP_TOPIC_SET, "q", text, strlen(text));

	assert_non_null(op);
	op->topic = op->id;
	op->id = NULL;
	assert_int_equal(ask_status(ask, op), DW_OK);
}

/* read_changes returns the status; *ret_hears: the settings of the topic contain this. */
static int read_changes(struct ask *ask, const char *text, bool *ret_hears)
{
	dw_op *op = ask_plain(DW_OP_TOPIC_LIST);
	int status;

	op->flags = DW_OP_CHANGES;
	ask_done(ask, op);
	status = op->status;
	*ret_hears = false;
	for (const dw_row *row = op->rows; row; row = row->next)
		*ret_hears |= strcmp(row->id, "q") == 0 &&
			      memmem(row->body, row->body_size, text, strlen(text)) != NULL;
	ask_free(op);
	return status;
}

static void change_that_was_not_read_is_read_again(void **state)
{
	struct shortage shortage = SHORTAGE_NONE;
	struct ask owner, client;
	char text[32];
	bool failed = true, hears;
	int failures = 0;

	(void)state;
	open_as(&owner, DW_OWNER, &shortage);
	open_as(&client, DW_CLIENT, NULL);
	set(&client, "queue=1 max=1");
	assert_int_equal(read_changes(&owner, "max=1", &hears), DW_OK);
	assert_true(hears);
	for (size_t nth = 1; failed; nth++) {
		(void)snprintf(text, sizeof text, "queue=1 max=%zu", nth + 1);
		set(&client, text);
		shortage.failed = false;
		shortage_begin(&shortage, nth, false);
		if (read_changes(&owner, text + 8, &hears) == DW_OK && hears) {
			failed = shortage_failed(&shortage);
			shortage_end(&shortage);
			continue;
		}
		shortage_end(&shortage);
		failures++;
		assert_int_equal(read_changes(&owner, text + 8, &hears), DW_OK);
		assert_true(hears);
	}
	assert_true(failures > 0);
	ask_end(&client);
	ask_end(&owner);
}

static int start(void **state)
{
	(void)state;
	redis_server_start(&server, false, NULL);
	return 0;
}

static int end(void **state)
{
	(void)state;
	redis_server_end(&server);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(change_that_was_not_read_is_read_again),
	};

	return cmocka_run_group_tests(tests, start, end);
}
