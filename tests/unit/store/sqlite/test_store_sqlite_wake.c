/* How an owner learns of what a client wrote: by FILE-wake at once, and without it all the same. */
#include "support/cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store.h"
#include "support/sqlite_fixture.h"

static char bell[TEMP_SIZE];

static int set_up(void **state)
{
	struct fixture *f;

	(void)fixture_set_up(state);
	f = *state;
	temp_file(bell, f->folder, "orders.db-wake");
	return 0;
}

/* open_owner: its own looking around is never the reason why it notices anything. */
static void open_owner(struct fixture *f)
{
	fixture_open(f, &f->owner, DW_OWNER);
	sqlite_store_look_every(f->owner.store, DW_HOURS(1));
}

/* listen parks an INBOX that has been looked for once: what is there now is no news. */
static dw_op *listen(struct fixture *f)
{
	dw_op *inbox = ask_plain(DW_OP_INBOX);
	dw_head head;

	ask_send(&f->owner, inbox);
	/* Answers to later operations: after the second one the look at the beginning is over. */
	(void)ask_stored(&f->owner, "none", &head);
	(void)ask_stored(&f->owner, "none", &head);
	assert_false(ask_is_answered(&f->owner, inbox));
	return inbox;
}

static void expect_news(struct fixture *f, dw_op *inbox, const char *id)
{
	assert_int_equal(ask_await(&f->owner, inbox)->status, DW_OK);
	assert_int_equal(inbox->row_count, 1);
	assert_string_equal(inbox->rows->id, id);
	assert_int_equal(
	    ask_status(&f->owner, ask_about(DW_OP_ACK, id, inbox->rows->head.generation, 0)),
	    DW_OK);
	ask_free(inbox);
}

/* exchange: a client writes, the owner notices. */
static void exchange(struct fixture *f, const char *id)
{
	dw_op *inbox = listen(f);

	ask_put_one(&f->other, id, 1);
	expect_news(f, inbox, id);
}

static mode_t type_of_bell(void)
{
	struct stat status;

	return lstat(bell, &status) == 0 ? status.st_mode : 0;
}

static void put_of_a_client_wakes_the_owner(void **state)
{
	struct fixture *f = *state;

	open_owner(f);
	assert_int_equal(type_of_bell(), S_IFIFO | 0600);
	fixture_open(f, &f->other, DW_CLIENT);
	exchange(f, "a");
	exchange(f, "b");
	ask_end(&f->owner);
	assert_int_equal(type_of_bell(), 0); /* it takes it along */
}

static void cancel_of_a_client_wakes_the_owner(void **state)
{
	struct fixture *f = *state;
	dw_op *inbox;

	open_owner(f);
	ask_put_one(&f->owner, "a", DW_HOURS(1));
	fixture_open(f, &f->other, DW_CLIENT);
	inbox = listen(f);
	assert_int_equal(ask_status(&f->other, ask_cancel("a", 0)), DW_OK);
	assert_int_equal(ask_await(&f->owner, inbox)->status, DW_OK);
	assert_int_equal(inbox->rows->gone, 1);
	ask_free(inbox);
}

/* A killed owner leaves its pipe, with bytes in it or without. */
static void pipe_of_an_earlier_owner_is_used(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mkfifo(bell, 0600), 0);
	fixture_open(f, &f->other, DW_CLIENT);
	ask_put_one(&f->other, "nobody listens", 1);
	open_owner(f);
	exchange(f, "a");
}

/* The client's end is of an owner that left; a byte into it would be a SIGPIPE. */
static void client_survives_one_owner_and_wakes_the_next(void **state)
{
	struct fixture *f = *state;

	open_owner(f);
	fixture_open(f, &f->other, DW_CLIENT);
	exchange(f, "a");
	ask_end(&f->owner);
	ask_put_one(&f->other, "nobody listens", 1);
	open_owner(f);
	exchange(f, "b");
	exchange(f, "c");
}

static void pipe_that_is_full_stops_nobody(void **state)
{
	struct fixture *f = *state;
	char bytes[4096] = {0};
	int fd;

	assert_int_equal(mkfifo(bell, 0600), 0);
	fd = open(bell, O_RDWR | O_NONBLOCK | O_CLOEXEC); /* listens, and does not read */
	assert_true(fd >= 0);
	while (write(fd, bytes, sizeof bytes) > 0 || write(fd, bytes, 1) > 0)
		;
	assert_int_equal(errno, EAGAIN);
	fixture_open(f, &f->other, DW_CLIENT);
	ask_put_one(&f->other, "a", 1);
	open_owner(f);
	exchange(f, "b");
	(void)close(fd); /* the pipe goes with it */
}

static void pipe_that_is_deleted_is_made_again(void **state)
{
	struct fixture *f = *state;
	dw_op *inbox;

	open_owner(f);
	fixture_open(f, &f->other, DW_CLIENT);
	exchange(f, "a");
	assert_int_equal(unlink(bell), 0);
	inbox = listen(f);
	sqlite_store_look_every(f->owner.store, 1000);
	while (type_of_bell() == 0)
		; /* the test has its time limit */
	sqlite_store_look_every(f->owner.store, DW_HOURS(1));
	ask_put_one(&f->other, "b", 1);
	expect_news(f, inbox, "b");
}

/* Whatever stands there is not read, not written and not followed. */
static void other_file_in_its_place_is_left_alone(void **state)
{
	struct fixture *f = *state;
	struct stat status;
	FILE *file = fopen(bell, "w");

	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
	fixture_open(f, &f->owner, DW_OWNER);
	assert_non_null(strstr(f->owner.logged, "orders.db-wake cannot be a pipe"));
	fixture_open(f, &f->other, DW_CLIENT);
	exchange(f, "a"); /* after a while */
	assert_int_equal(stat(bell, &status), 0);
	assert_int_equal(status.st_size, 0);
	ask_end(&f->owner);
	assert_int_equal(unlink(bell), 0);
	assert_int_equal(symlink(f->path, bell), 0);
	fixture_open(f, &f->owner, DW_OWNER);
	exchange(f, "b");
	assert_true(S_ISLNK(type_of_bell()));
}

/* refuse_bell: the owner says that it has no pipe, and takes nothing out of the one there. */
static void refuse_bell(struct fixture *f, const char *pipe)
{
	int fd = open(pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	dw_op *inbox;
	char byte = 'x';

	assert_true(fd >= 0);
	assert_int_equal(write(fd, &byte, 1), 1);
	fixture_open(f, &f->owner, DW_OWNER);
	assert_non_null(strstr(f->owner.logged, "orders.db-wake cannot be a pipe"));
	inbox = listen(f);
	fixture_open(f, &f->other, DW_CLIENT);
	ask_put_one(&f->other, "a", 1);
	expect_news(f, inbox, "a"); /* after a while */
	ask_end(&f->other);
	ask_end(&f->owner);
	assert_int_equal(read(fd, &byte, 1), 1);
	assert_int_equal(byte, 'x');
	assert_int_equal(close(fd), 0);
}

static void pipe_with_a_second_name_is_refused(void **state)
{
	struct fixture *f = *state;
	char pipe[TEMP_SIZE];

	assert_int_equal(mkfifo(temp_file(pipe, f->folder, "pipe"), 0600), 0);
	assert_int_equal(link(pipe, bell), 0);
	refuse_bell(f, pipe);
}

static void link_to_a_pipe_is_refused(void **state)
{
	struct fixture *f = *state;
	char pipe[TEMP_SIZE];

	assert_int_equal(mkfifo(temp_file(pipe, f->folder, "pipe"), 0600), 0);
	assert_int_equal(symlink(pipe, bell), 0);
	refuse_bell(f, pipe);
}

static void pipe_of_another_user_is_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mkfifo(bell, 0600), 0);
	if (chown(bell, 65534, (gid_t)-1) != 0)
		not_tested("only root gives a file to another user");
	refuse_bell(f, bell);
}

/* Root adds a timer for the owner of a service that has a user of its own. */
static void root_rings_at_the_pipe_of_another_user(void **state)
{
	struct fixture *f = *state;
	char byte;
	int fd;

	assert_int_equal(mkfifo(bell, 0600), 0);
	if (chown(bell, 65534, (gid_t)-1) != 0)
		not_tested("only root gives a file to another user");
	fd = open(bell, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	fixture_open(f, &f->other, DW_CLIENT);
	ask_put_one(&f->other, "a", 1);
	ask_end(&f->other);
	assert_int_equal(read(fd, &byte, 1), 1);
	assert_int_equal(close(fd), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(put_of_a_client_wakes_the_owner),
	    CASE(cancel_of_a_client_wakes_the_owner),
	    CASE(pipe_of_an_earlier_owner_is_used),
	    CASE(client_survives_one_owner_and_wakes_the_next),
	    CASE(pipe_that_is_full_stops_nobody),
	    CASE(pipe_that_is_deleted_is_made_again),
	    CASE(other_file_in_its_place_is_left_alone),
	    CASE(pipe_with_a_second_name_is_refused),
	    CASE(link_to_a_pipe_is_refused),
	    CASE(pipe_of_another_user_is_refused),
	    CASE(root_rings_at_the_pipe_of_another_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
