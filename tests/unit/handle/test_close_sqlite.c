/* dw_close() that gives up: the store's thread is still in a batch, and goes on without the handle.
 */
#include "support/cmocka.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "port/clock.h"
#include "support/environment.h"
#include "support/temp.h"
#include "support/watch.h"

enum { MANY = 5000, FEW = 500 };

/* A program, and the blocks that the library holds. A block is overwritten before it is freed: who
 * uses it afterwards calls nowhere. */
struct program {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	int blocks;
	atomic_int closed;
	atomic_int late_clocks; /* hooks called after dw_close() had returned */
	atomic_int late_lines;
	char folder[TEMP_SIZE];
	char url[TEMP_SIZE + 16];
};

static void *count_blocks(void *user, void *block, size_t size)
{
	struct program *program = user;

	if (block && size > 0)
		return realloc(block, size);
	if (!block && size == 0)
		return NULL;
	pthread_mutex_lock(&program->mutex);
	program->blocks += block ? -1 : 1;
	pthread_cond_broadcast(&program->changed);
	pthread_mutex_unlock(&program->mutex);
	if (!block)
		return malloc(size);
	memset(block, 0xdd, malloc_usable_size(block));
	free(block);
	return NULL;
}

static dw_usec read_clock(void *user)
{
	struct program *program = user;

	atomic_fetch_add(&program->late_clocks, atomic_load(&program->closed));
	return clock_system().wall(NULL);
}

static void note_line(dw_log_level level, const char *line, void *user)
{
	struct program *program = user;

	(void)level;
	(void)line;
	atomic_fetch_add(&program->late_lines, atomic_load(&program->closed));
}

static void set_up(struct program *program)
{
	char path[TEMP_SIZE];

	*program = (struct program){.mutex = PTHREAD_MUTEX_INITIALIZER,
				    .changed = PTHREAD_COND_INITIALIZER};
	temp_make(program->folder);
	(void)snprintf(program->url, sizeof program->url, "sqlite:%s",
		       temp_file(path, program->folder, "timers.db"));
}

static dw *open_as(struct program *program, dw_role role, bool hooked)
{
	dw_options options = {.size = sizeof options,
			      .store = program->url,
			      .role = role,
			      .on_log = note_line,
			      .on_log_user = program,
			      .clock = hooked ? read_clock : NULL,
			      .clock_user = program,
			      .resize = count_blocks,
			      .resize_user = program};
	dw *d;

	atomic_store(&program->closed, 0);
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	return d;
}

/* await_end waits until the store's thread has ended, and with it the last block. */
static void await_end(struct program *program)
{
	pthread_mutex_lock(&program->mutex);
	while (program->blocks > 0)
		pthread_cond_wait(&program->changed, &program->mutex);
	pthread_mutex_unlock(&program->mutex);
}

/* close_early returns what dw_close() has returned. */
static int close_early(struct program *program, dw_role role, int count, dw_usec patience)
{
	dw *d = open_as(program, role, count % 2 == 0);
	int status;

	for (int i = 0; i < count; i++)
		assert_int_equal(dw_after(d, "t", NULL, DW_HOURS(1), "data", 4), DW_OK);
	assert_int_equal(dw_turn(d), DW_OK);
	status = dw_close(d, patience);
	atomic_store(&program->closed, 1);
	await_end(program);
	return status;
}

static void early_close_leaves_nothing_that_the_thread_uses(void **state)
{
	static const dw_role roles[] = {DW_OWNER, DW_CLIENT, DW_STANDBY};
	static const dw_usec patiences[] = {0, 1000, 5000, 30000};
	struct program program;
	int given_up = 0, many = FEW + (int)environment_scaled(MANY - FEW);

	(void)state;
	set_up(&program);
	for (int i = 0; i < 3 * 4; i++) {
		dw_role role = roles[i % 3];
		dw_usec patience = patiences[i / 3];

		for (int odd = 0; odd < 2; odd++) {
			given_up +=
			    close_early(&program, role, many + odd, patience) == DW_ETIMEOUT;
			(void)close_early(&program, role, FEW + odd, patience);
		}
	}
	assert_true(given_up > 0); /* else nothing was tried */
	assert_int_equal(atomic_load(&program.late_clocks), 0);
	assert_int_equal(atomic_load(&program.late_lines), 0);
	temp_remove(program.folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(early_close_leaves_nothing_that_the_thread_uses),
	};

	return cmocka_run_group_tests_name("close_sqlite", tests, NULL, NULL);
}
