/* Timers that an owner has seen end do not come back with a server that is set back, for a minute;
 * all of a long inbox is read at once, and all timers of one deadline are scanned. */
#include <stdio.h>
#include <stdlib.h>

#include "support/ask.h"
#include "support/cmocka.h"
#include "script_model/store.h"

static dw_op *done(struct model_store *model, dw_op *op)
{
	assert_non_null(model_store_done(model, op));
	assert_int_equal(op->status, DW_OK);
	return op;
}

static void set_up(struct model_store *model)
{
	model_store_open(model);
	ask_free(done(model, ask_plain(DW_OP_OWN)));
}

/* settle_one puts, claims and settles a timer; past is the data while it was claimed. */
static void settle_one(struct model_store *model, struct script_model **ret_past)
{
	dw_op *put = done(model, ask_put("ended", 500, DW_OP_CLAIMED));

	*ret_past = model_copy(model->model);
	ask_free(
	    done(model, ask_about(DW_OP_SETTLE, "ended", put->head.generation, put->head.attempt)));
	ask_free(put);
}

static void settled_timer_stays_ended_when_its_shard_is_set_back(void **state)
{
	struct model_store *model = calloc(1, sizeof *model);
	struct script_model *past;
	size_t size;

	(void)state;
	set_up(model);
	settle_one(model, &past);
	model_store_wait(model, DW_SECONDS(25));
	ask_free(done(model, ask_put("later", DW_HOURS(1000), 0))); /* forgets what is too old */
	ask_free(done(model, ask_cancel("later", 0)));
	model_set_back(model->model, past);
	model_free(past);
	assert_non_null(model_value(model->model, "{model:00}:h", "ended", &size));
	model->store->type->submit(model->store, ask_plain(DW_OP_LOSS));
	model_store_wait(model, DW_SECONDS(4));
	assert_null(model_value(model->model, "{model:00}:h", "ended", &size));
	model_store_close(model);
	free(model);
}

/* read_page reads and acknowledges a page of the inbox. */
static void read_page(struct model_store *model, size_t limit)
{
	dw_op *inbox = ask_plain(DW_OP_INBOX);

	inbox->limit = limit;
	inbox = done(model, inbox);
	assert_int_equal(inbox->row_count, limit);
	for (const dw_row *row = inbox->rows; row; row = row->next)
		ask_free(done(model, ask_about(DW_OP_ACK, row->id, row->head.generation, 0)));
	ask_free(inbox);
}

/* A renewal, every 1.5 s, would find the rest. */
static void pages_behind_the_first_of_the_inbox_need_no_renewal(void **state)
{
	enum { PAGE = 10, PAGES = 3 };
	struct model_store *model = calloc(1, sizeof *model);
	dw_usec first;

	(void)state;
	set_up(model);
	ask_free(done(model, ask_put("first", DW_HOURS(1000), 0))); /* versions are above 9 */
	for (int i = 0; i < PAGE * PAGES; i++) {
		char id[16];
		const char *const words[] = {"ZADD", "{model:00}:i", "9", id, NULL};

		(void)snprintf(id, sizeof id, "t%d", i);
		model_store_command(model, words);
	}
	read_page(model, PAGE);
	first = model->now;
	for (int i = 1; i < PAGES; i++)
		read_page(model, PAGE);
	assert_true(model->now - first < DW_SECONDS(1));
	model_store_close(model);
	free(model);
}

/* Each page begins at its cursor: what a scan has read ahead is forgotten after a second. */
static void claimed_timers_of_one_deadline_are_scanned_once_over_pages(void **state)
{
	enum { CLAIMED = 6, LIMIT = 2 };
	struct model_store *model = calloc(1, sizeof *model);
	dw_cursor cursor = {0};
	size_t found = 0;

	(void)state;
	set_up(model);
	for (int i = 0; i < CLAIMED; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "t%d", i);
		ask_free(done(model, ask_put(id, DW_HOURS(1000), DW_OP_CLAIMED)));
	}
	for (int i = 0; i < CLAIMED && !cursor.ended; i++) {
		dw_op *scan = done(model, ask_scan(i > 0 ? &cursor : NULL, LIMIT, NULL));

		found += scan->row_count;
		cursor = scan->after;
		cursor.ended = scan->row_count < LIMIT;
		ask_free(scan);
		model_store_wait(model, DW_SECONDS(3));
	}
	assert_true(cursor.ended);
	assert_int_equal(found, CLAIMED);
	model_store_close(model);
	free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(settled_timer_stays_ended_when_its_shard_is_set_back),
	    cmocka_unit_test(pages_behind_the_first_of_the_inbox_need_no_renewal),
	    cmocka_unit_test(claimed_timers_of_one_deadline_are_scanned_once_over_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
