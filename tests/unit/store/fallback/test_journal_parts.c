/* A store with a journal, between a server that does what the test says and a file that may fail.
 */
#include "support/cmocka.h"

#include <string.h>

#include "base/usec.h"
#include "port/driven.h"
#include "store/fallback/fallback.h"
#include "store/store.h"
#include "support/ask.h"
#include "support/temp.h"

enum { TURNS = 600000, FENCE = 7 }; /* of 1 ms: patience */

/* The server's store. It keeps the rows that it gets, and answers them when the test says so. */
struct front {
	dw_store store; /* first */
	int trouble;
	unsigned flags; /* of each stamp */
	struct op_queue rows, answers;
};

/* The file, in front of that of SQLite. */
struct weak_file {
	dw_store store; /* first */
	dw_store *inner;
	int write_fails, read_fails; /* a status */
	struct op_queue answers;
};

static struct front front;
static struct weak_file file;
static dw_usec wall = DW_SECONDS(1000000);

/* ---- The server ---------------------------------------------------------------------------- */

static void front_submit(dw_store *store, dw_op *batch)
{
	(void)store;
	while (batch) {
		dw_op *next = batch->next;

		batch->next = NULL;
		batch->status = front.trouble;
		op_queue_push(batch->kind == DW_OP_REPLAY ? &front.rows : &front.answers, batch);
		batch = next;
	}
}

static dw_op *front_collect(dw_store *store)
{
	(void)store;
	return op_queue_take(&front.answers);
}

static int front_stop(dw_store *store, dw_usec patience)
{
	(void)store;
	(void)patience;
	for (dw_op *op = front.rows.first; op; op = op->next)
		op->status = DW_ECLOSED;
	op_queue_append(&front.answers, op_queue_take(&front.rows));
	return DW_OK;
}

static void front_free(dw_store *store)
{
	(void)store;
}

static dw_usec front_lease(const dw_store *store, unsigned shard)
{
	(void)store;
	(void)shard;
	return DW_NEVER;
}

static int front_trouble(const dw_store *store, char *ret_words, size_t size)
{
	(void)store;
	assert_true(size > 0);
	ret_words[0] = '\0';
	return front.trouble;
}

static void front_recall(dw_store *store, dw_usec doubt_patience)
{
	(void)store;
	(void)doubt_patience;
}

static void front_stamp(dw_store *store, const char *id, dw_replay *ret_stamp)
{
	(void)store;
	(void)id;
	ret_stamp->floor = (uint64_t)wall;
	ret_stamp->fence = FENCE;
	ret_stamp->flags = front.flags;
}

static void front_origin(const dw_store *store, dw_origin *ret_origin)
{
	(void)store;
	*ret_origin = (dw_origin){.address = "here", .era = "one", .clock = wall};
}

static void front_reread(dw_store *store)
{
	(void)store;
}

static const dw_store_class front_class = {.size = sizeof front_class,
					   .name = "front",
					   .submit = front_submit,
					   .collect = front_collect,
					   .stop = front_stop,
					   .free = front_free,
					   .lease = front_lease,
					   .trouble = front_trouble,
					   .recall = front_recall,
					   .stamp = front_stamp,
					   .origin = front_origin,
					   .reread = front_reread};

static int open_front(dw_store **ret_store, const char *where, const dw_store_env *env,
		      char *ret_message)
{
	(void)where;
	(void)env;
	(void)ret_message;
	front = (struct front){.store.type = &front_class};
	*ret_store = &front.store;
	return DW_OK;
}

/* ---- The file ------------------------------------------------------------------------------ */

static void file_submit(dw_store *store, dw_op *batch)
{
	int status = batch->kind == DW_OP_SCAN ? file.read_fails : file.write_fails;

	(void)store;
	if (status == DW_OK) {
		file.inner->type->submit(file.inner, batch);
		return;
	}
	batch->status = status; /* the journal submits one at a time */
	op_queue_push(&file.answers, batch);
}

static dw_op *file_collect(dw_store *store)
{
	(void)store;
	return file.answers.first ? op_queue_take(&file.answers)
				  : file.inner->type->collect(file.inner);
}

static int file_stop(dw_store *store, dw_usec patience)
{
	(void)store;
	return file.inner->type->stop(file.inner, patience);
}

static void file_free(dw_store *store)
{
	(void)store;
	file.inner->type->free(file.inner);
}

static const dw_store_class file_class = {.size = sizeof file_class,
					  .name = "file",
					  .submit = file_submit,
					  .collect = file_collect,
					  .stop = file_stop,
					  .free = file_free};

static int open_file(dw_store **ret_store, const char *where, const dw_store_env *env,
		     char *ret_message)
{
	file = (struct weak_file){.store.type = &file_class};
	*ret_store = &file.store;
	return sqlite_store_open(&file.inner, where, env, ret_message);
}

/* ---- Both ---------------------------------------------------------------------------------- */

struct scene {
	struct ask ask;
	char folder[TEMP_SIZE];
};

/* begin: the server goes away, and the owner fires. */
static void begin(struct scene *scene)
{
	char path[TEMP_SIZE], message[DW_MESSAGE_SIZE] = "";
	struct fallback_parts parts = {
	    .open_front = open_front, .url = "here", .open_journal = open_file, .journal = path};

	temp_make(scene->folder);
	(void)temp_file(path, scene->folder, "journal");
	ask_init(&scene->ask, DW_OWNER, 1, &wall);
	scene->ask.env.fires = 1;
	assert_int_equal(fallback_open(&scene->ask.store, &parts, &scene->ask.env, message), DW_OK);
	front.trouble = DW_ESTORE;
	driven_turn(scene->ask.store, scene->ask.env.steady(NULL));
}

static void turn(struct scene *scene)
{
	struct timespec pause = {.tv_nsec = 1000000};

	driven_turn(scene->ask.store, scene->ask.env.steady(NULL));
	(void)nanosleep(&pause, NULL);
}

/* end: the server is away, so that nobody waits for it. */
static void end(struct scene *scene)
{
	front.trouble = DW_ESTORE;
	turn(scene);
	ask_end(&scene->ask);
	temp_remove(scene->folder);
}

static dw_journal_stats stats(const struct scene *scene)
{
	dw_journal_stats journal;

	driven_journal(scene->ask.store, &journal);
	return journal;
}

/* come_back: the server is there, and gets the row. */
static dw_op *come_back(struct scene *scene)
{
	front.trouble = DW_OK;
	for (int i = 0; i < TURNS && !front.rows.first; i++)
		turn(scene);
	assert_non_null(front.rows.first);
	return front.rows.first;
}

static uint64_t put(struct scene *scene, const char *id)
{
	dw_head head;

	assert_int_equal(ask_head(&scene->ask, ask_put(id, 5, 0), &head), DW_OK);
	assert_true(head.generation > 0);
	return head.generation;
}

static int about(struct scene *scene, dw_op_kind kind, uint64_t generation, uint32_t attempt)
{
	dw_op *op = ask_about(kind, "x", generation, attempt);

	op->flags |= kind == DW_OP_CLAIM ? DW_OP_PROVISIONAL : DW_OP_VERDICT;
	return ask_status(&scene->ask, op);
}

static void write_that_fails_changes_no_generation(void **state)
{
	struct scene scene;
	uint64_t generation;

	(void)state;
	begin(&scene);
	generation = put(&scene, "x");
	wall += 100;
	file.write_fails = DW_EFULL;
	assert_int_equal(ask_status(&scene.ask, ask_put("x", 9, 0)), DW_EFULL);
	file.write_fails = DW_OK;
	assert_int_equal(about(&scene, DW_OP_CLAIM, generation, 0), DW_OK);
	assert_int_equal(about(&scene, DW_OP_SETTLE, generation, 1), DW_OK);
	end(&scene);
}

/* The server has told no time, and the clock stands still, or is behind. */
static void guessed_generations_grow(void **state)
{
	struct scene scene;
	uint64_t last = 0;

	(void)state;
	begin(&scene);
	front.flags = DW_REPLAY_UNSURE;
	for (int i = 0; i < 5; i++) {
		uint64_t generation = put(&scene, i % 2 ? "x" : "y");

		assert_true(generation > last);
		last = generation;
		wall -= i % 2;
	}
	end(&scene);
}

/* A claim that has not started its timer must not start it before the server has answered: also if
 * the claim before it has. */
static void claim_after_a_retry_waits_for_the_server(void **state)
{
	struct scene scene;
	uint64_t generation;

	(void)state;
	begin(&scene);
	generation = put(&scene, "x");
	assert_int_equal(about(&scene, DW_OP_CLAIM, generation, 0), DW_OK);
	driven_began(scene.ask.store, "x");
	assert_int_equal(about(&scene, DW_OP_RETRY, generation, 1), DW_OK);
	assert_int_equal(about(&scene, DW_OP_CLAIM, generation, 1), DW_OK);
	assert_true(driven_lease(scene.ask.store, 0) == DW_NEVER);
	(void)come_back(&scene);
	assert_true(driven_lease(scene.ask.store, 0) < DW_NEVER);
	end(&scene);
}

/* Who asks for the ownership has lost it, and every claim with it. */
static void claims_end_with_the_ownership(void **state)
{
	struct scene scene;
	uint64_t generation;

	(void)state;
	begin(&scene);
	generation = put(&scene, "x");
	assert_int_equal(about(&scene, DW_OP_CLAIM, generation, 0), DW_OK);
	assert_int_equal(ask_status(&scene.ask, ask_plain(DW_OP_OWN)), DW_ESTORE);
	assert_int_equal(about(&scene, DW_OP_SETTLE, generation, 1), DW_ESTALE);
	end(&scene);
}

/* Whatever the server has said of a row, it has said it: the row goes. */
static void row_that_was_answered_goes(void **state)
{
	static const int answers[] = {DW_OK,    DW_EEXIST,   DW_ENOENT,
				      DW_ELATE, DW_ECORRUPT, DW_ENEWER};

	(void)state;
	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
		struct scene scene;

		begin(&scene);
		(void)put(&scene, "x");
		come_back(&scene)->status = answers[i];
		op_queue_append(&front.answers, op_queue_take(&front.rows));
		for (int turns = 0; turns < TURNS && stats(&scene).rows > 0; turns++) {
			turn(&scene);
			assert_null(front.rows.first); /* it is not sent again */
		}
		assert_int_equal(stats(&scene).rows, 0);
		end(&scene);
	}
}

/* What the file has is not known then, so nothing is forgotten. */
static void read_that_fails_loses_no_row(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	(void)put(&scene, "x");
	file.read_fails = DW_ESTORE;
	front.trouble = DW_OK;
	for (int i = 0; i < 20; i++)
		turn(&scene);
	assert_int_equal(stats(&scene).rows, 1);
	assert_int_equal(stats(&scene).state, DW_JOURNAL_REPLAYS);
	file.read_fails = DW_OK;
	assert_string_equal(come_back(&scene)->id, "x");
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(write_that_fails_changes_no_generation),
	    cmocka_unit_test(guessed_generations_grow),
	    cmocka_unit_test(claim_after_a_retry_waits_for_the_server),
	    cmocka_unit_test(claims_end_with_the_ownership),
	    cmocka_unit_test(row_that_was_answered_goes),
	    cmocka_unit_test(read_that_fails_loses_no_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
