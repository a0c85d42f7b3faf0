#include "store/sqlite/worker.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/usec.h"
#include "store/sqlite/file/standby.h"

enum {
	BATCH_BYTES_MAX = 4 * 1024 * 1024,
};

/* The pause between two looks for changes if there is no pipe. */
#define TICK_ALONE DW_MILLISECONDS(600)
/* This pause lets other processes get the write lock, too. */
#define FORGET_EVERY DW_MILLISECONDS(10)
#define CLOSE_PATIENCE DW_SECONDS(1)

/* monotonic reads CLOCK_MONOTONIC, because a condition variable can wait by this clock. */
static dw_usec monotonic(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
	return usec_add(usec_mul(now.tv_sec, 1000000), now.tv_nsec / 1000);
}

/* ---- Work to do ---- */

/* must_forget returns true if the owner's thread must drop old ends that operations have left. It
 * drops none on a full disk, where the end of a timer needs all the space. */
static bool must_forget(const struct sqlite_store *sqlite)
{
	const struct sqlite_session *session = &sqlite->batch.session;

	return session->ends_left && session->env->role == DW_OWNER && !session->full;
}

/* forget_at returns when the next old ends are dropped. */
static dw_usec forget_at(const struct sqlite_store *sqlite)
{
	return must_forget(sqlite) ? usec_add(sqlite->forgot, FORGET_EVERY) : DW_NEVER;
}

/* wait_for_work returns when there is something to do. It holds the mutex when it returns. An idle
 * store without a parked INBOX sleeps until it is woken. */
static void wait_for_work(struct sqlite_store *sqlite)
{
	while (!sqlite->queue.first && !sqlite->stopping && !sqlite->parked_is_new) {
		bool waits = sqlite->parked != NULL;
		dw_usec look_at = waits ? usec_add(sqlite->looked, sqlite->tick) : DW_NEVER;
		dw_usec next = usec_min(look_at, forget_at(sqlite));
		dw_usec left = next == DW_NEVER ? DW_NEVER : usec_sub(next, monotonic());
		bool woken;

		if (left <= 0)
			return;
		sqlite->asleep = true;
		pthread_mutex_unlock(&sqlite->mutex);
		woken = sqlite_wake_wait(&sqlite->wake, waits, left);
		pthread_mutex_lock(&sqlite->mutex);
		sqlite->asleep = false;
		sqlite->parked_is_new = sqlite->parked_is_new || (woken && sqlite->parked);
	}
}

/* is_alone returns true if the operation must be a batch by itself, because it needs no
 * transaction, or one of its own. */
static bool is_alone(const dw_op *op)
{
	return op->kind == DW_OP_OWN || op->kind == DW_OP_DISOWN;
}

/* take_batch takes the operations of the next transaction out of the queue. */
static void take_batch(struct sqlite_store *sqlite)
{
	struct sqlite_batch *batch = &sqlite->batch;
	size_t bytes = 0;

	while (sqlite->queue.first && batch->count < SQLITE_BATCH_MAX && bytes < BATCH_BYTES_MAX) {
		dw_op *op;

		if (is_alone(sqlite->queue.first) && batch->count > 0)
			return;
		op = op_queue_pop(&sqlite->queue);

		bytes += op->body_size;
		sqlite_batch_add(batch, op);
		if (is_alone(op))
			return;
	}
}

/* deliver hands over the answers of the batch, and wakes the engine. */
static void deliver(struct sqlite_store *sqlite)
{
	struct sqlite_batch *batch = &sqlite->batch;

	if (batch->count == 0)
		return;
	pthread_mutex_lock(&sqlite->mutex);
	for (size_t i = 0; i < batch->count; i++)
		op_queue_push(&sqlite->answers, batch->ops[i]);
	pthread_mutex_unlock(&sqlite->mutex);
	batch->count = 0;
	sqlite_hooks_wake(&sqlite->hooks);
}

/* ---- Changes of clients ---- */

/* tend_wake makes the pipe again if another program has deleted it. */
static void tend_wake(struct sqlite_store *sqlite)
{
	if (sqlite->env.role == DW_OWNER && !sqlite_wake_exists(&sqlite->wake))
		(void)sqlite_wake_make(&sqlite->wake); /* if this fails, there is no pipe */
}

/* may_have_changes returns true if the inbox may have something. It looks at most once a tick,
 * unless it was woken. */
static bool may_have_changes(struct sqlite_store *sqlite, bool is_new)
{
	struct sqlite_batch *batch = &sqlite->batch;
	sqlite3_stmt *statement;
	dw_usec now = monotonic();
	bool news;

	if (!is_new && !batch->foreign && usec_sub(now, sqlite->looked) < sqlite->tick)
		return false;
	sqlite->looked = now;
	tend_wake(sqlite);
	if (!sqlite_batch_find_file(batch))
		return false;
	statement = batch->session.db.statements[SQL_DATA_VERSION];
	news = is_new || batch->foreign;
	batch->foreign = false;
	if (sqlite3_step(statement) == SQLITE_ROW) {
		int64_t version = sqlite3_column_int64(statement, 0);

		news = news || version != sqlite->data_version;
		sqlite->data_version = version;
	}
	(void)sqlite3_reset(statement); /* the next transaction meets the same error */
	return news;
}

/* look_into_inbox answers the parked INBOX if a client has written. It also answers once when the
 * file is gone, and once when it is back, because an idle owner asks nothing else. */
static void look_into_inbox(struct sqlite_store *sqlite)
{
	struct sqlite_batch *batch = &sqlite->batch;
	bool answered = false;
	bool is_new, news, changed;
	dw_op *op;

	pthread_mutex_lock(&sqlite->mutex);
	op = sqlite->parked;
	is_new = sqlite->parked_is_new;
	sqlite->parked = NULL;
	sqlite->parked_is_new = false;
	sqlite->parked_is_out = op != NULL;
	pthread_mutex_unlock(&sqlite->mutex);
	if (!op)
		return;
	news = may_have_changes(sqlite, is_new);
	changed = batch->gone != sqlite->gone_told;
	if (news || changed) {
		sqlite_batch_add(batch, op);
		sqlite_batch_run(
		    batch); /* this call looks for the file again, so batch->gone may change */
		batch->count = 0;
		answered = op->status != DW_OK || op->rows || changed;
	}
	sqlite->gone_told = batch->gone;
	pthread_mutex_lock(&sqlite->mutex);
	sqlite->parked_is_out = false;
	if (!answered && sqlite->stopping)
		op->status = DW_ECLOSED;
	if (answered || sqlite->stopping)
		op_queue_push(&sqlite->answers, op);
	else
		sqlite->parked = op;
	answered = answered || sqlite->stopping;
	pthread_mutex_unlock(&sqlite->mutex);
	if (answered)
		sqlite_hooks_wake(&sqlite->hooks);
}

/* ---- Ownership ---- */

/* make_wake makes the pipe. Without it the owner looks for changes more often. */
static void make_wake(struct sqlite_store *sqlite)
{
	if (sqlite_wake_make(&sqlite->wake))
		return;
	sqlite->tick = TICK_ALONE;
	sqlite_hooks_log(&sqlite->hooks, DW_LOG_WARN,
			 "%s cannot be a pipe (%s): changes of clients are noticed %d ms later",
			 sqlite->wake.path, strerror(errno), (int)(TICK_ALONE / 1000));
}

static void leave_standby(struct sqlite_store *sqlite)
{
	if (sqlite->stands_by)
		sqlite_standby_leave(sqlite->batch.session.standby);
	sqlite->stands_by = false;
}

/* take_over handles an OWN, by which a standby asks for the ownership. */
static void take_over(struct sqlite_store *sqlite, dw_op *op)
{
	char message[DW_MESSAGE_SIZE] = "";
	dw_role before = sqlite->env.role;

	op->status = DW_OK;
	if (before == DW_OWNER)
		return;
	op->status = DW_ESTORE;
	if (!sqlite_batch_find_file(&sqlite->batch))
		return;
	sqlite->env.role = DW_OWNER;
	op->status = sqlite_session_take_over(&sqlite->batch, &sqlite->owner, message);
	if (op->status == DW_OK) {
		make_wake(sqlite);
		leave_standby(sqlite);
		return;
	}
	sqlite->env.role = before;
	if (op->status == DW_EOWNED) {
		sqlite_standby_enter(sqlite->batch.session.standby);
		sqlite->stands_by = true;
	}
	if (op->status != DW_EOWNED && op->status != DW_ENEWER)
		sqlite_hooks_log(&sqlite->hooks, DW_LOG_ERROR, "cannot take over the store: %s",
				 message);
}

/* give_way handles a DISOWN, by which the owner becomes a client. */
static void give_way(struct sqlite_store *sqlite, dw_op *op)
{
	op->status = sqlite->env.role == DW_OWNER ? DW_OK : DW_EROLE;
	if (op->status != DW_OK)
		return;
	sqlite_wake_remove(&sqlite->wake);
	sqlite_session_give_way(&sqlite->batch, &sqlite->owner);
	sqlite->env.role = DW_CLIENT;
	pthread_mutex_lock(&sqlite->mutex);
	if (sqlite->parked) {
		sqlite->parked->status = DW_EFENCED;
		op_queue_push(&sqlite->answers, sqlite->parked);
		sqlite->parked = NULL;
	}
	pthread_mutex_unlock(&sqlite->mutex);
}

static void run_batch(struct sqlite_store *sqlite)
{
	dw_op *first = sqlite->batch.count > 0 ? sqlite->batch.ops[0] : NULL;

	if (first && is_alone(first))
		(first->kind == DW_OP_OWN ? take_over : give_way)(sqlite, first);
	else
		sqlite_batch_run(&sqlite->batch);
}

/* ---- The thread ---- */

/* forget drops old ends, 64 in each short transaction, while no operation waits. */
static void forget(struct sqlite_store *sqlite)
{
	bool idle;

	if (forget_at(sqlite) > monotonic())
		return;
	pthread_mutex_lock(&sqlite->mutex);
	idle = !sqlite->queue.first && !sqlite->stopping;
	pthread_mutex_unlock(&sqlite->mutex);
	if (idle)
		sqlite_batch_forget(&sqlite->batch);
	sqlite->forgot = monotonic();
}

/* turn does one round of work. Returns false if the store is stopping. */
static bool turn(struct sqlite_store *sqlite)
{
	bool stopping;

	pthread_mutex_lock(&sqlite->mutex);
	wait_for_work(sqlite);
	stopping = sqlite->stopping;
	if (!stopping)
		take_batch(sqlite);
	pthread_mutex_unlock(&sqlite->mutex);
	if (stopping)
		return false;
	run_batch(sqlite);
	if (sqlite->env.role == DW_CLIENT && sqlite->batch.wrote)
		sqlite_wake_owner(&sqlite->wake);
	sqlite->batch.wrote = false;
	deliver(sqlite);
	look_into_inbox(sqlite);
	forget(sqlite);
	sqlite_checkpoint_tend(&sqlite->checkpoint, &sqlite->batch.session);
	return true;
}

/* close_all closes the file, and tidies it up without waiting long for others. */
static void close_all(struct sqlite_store *sqlite)
{
	struct sqlite_session *session = &sqlite->batch.session;

	sqlite_checkpoint_stop(&sqlite->checkpoint);
	atomic_store(&session->patience.over, false);
	session->patience.most = usec_min(session->patience.most, CLOSE_PATIENCE);
	if (sqlite->env.role == DW_OWNER)
		sqlite_wake_remove(&sqlite->wake);
	leave_standby(sqlite);
	sqlite_session_close(&sqlite->batch, &sqlite->owner);
}

void sqlite_worker_free(struct sqlite_store *sqlite)
{
	struct alloc alloc = sqlite->alloc;
	dw_op *op;

	while ((op = op_queue_pop(&sqlite->answers)))
		op_free(&alloc, op);
	while ((op = op_queue_pop(&sqlite->queue)))
		op_free(&alloc, op);
	op_free(&alloc, sqlite->parked);
	sqlite_hooks_free(&sqlite->hooks);
	(void)pthread_cond_destroy(&sqlite->finished); /* no thread waits any more */
	sqlite_wake_free(&sqlite->wake);
	(void)pthread_mutex_destroy(&sqlite->mutex);
	sqlite_files_free(&sqlite->batch.files, &alloc);
	alloc_free(&alloc, sqlite);
}

/* stand_back keeps the loop's thread from waiting for this thread on a shared core. With
 * SCHED_BATCH this thread does not interrupt another one when it wakes up. It keeps its normal
 * share of the CPU, so busy programs do not delay claims and verdicts. The checkpoint thread
 * inherits this. If the kernel refuses, nothing changes. */
static void stand_back(void)
{
	struct sched_param none = {0};

	(void)sched_setscheduler(gettid(), SCHED_BATCH, &none);
}

static void *sqlite_worker_main(void *argument)
{
	struct sqlite_store *sqlite = argument;
	bool given_away;

	stand_back();
	while (turn(sqlite))
		;
	close_all(sqlite);
	pthread_mutex_lock(&sqlite->mutex);
	sqlite->ended = true;
	given_away = sqlite->given_away;
	pthread_cond_signal(&sqlite->finished);
	pthread_mutex_unlock(&sqlite->mutex);
	if (given_away)
		sqlite_worker_free(sqlite);
	return NULL;
}

/* sqlite_worker_start starts the thread with all signals blocked, because they belong to the
 * program. */
int sqlite_worker_start(struct sqlite_store *sqlite, char *ret_message)
{
	sigset_t all;
	sigset_t before;
	int error;

	(void)sigfillset(&all); /* cannot fail */
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&sqlite->thread, NULL, sqlite_worker_main, sqlite);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error == 0)
		return DW_OK;
	(void)snprintf(ret_message, DW_MESSAGE_SIZE, "no thread: %.100s", strerror(error));
	return DW_ESYS;
}

int sqlite_worker_open(struct sqlite_store *sqlite, char *ret_message)
{
	sqlite->wake.path = sqlite->batch.files.path[FILE_WAKE];
	if (sqlite_wake_init(&sqlite->wake) != DW_OK) {
		(void)snprintf(ret_message, DW_MESSAGE_SIZE, "no descriptor: %.100s",
			       strerror(errno));
		return DW_ESYS;
	}
	if (sqlite->env.role == DW_OWNER)
		make_wake(sqlite);
	return DW_OK;
}

/* ---- The other side ---- */

void sqlite_worker_wake(struct sqlite_store *sqlite)
{
	if (sqlite->asleep)
		sqlite_wake_thread(&sqlite->wake);
}

/* wait_until waits for the condition, whose clock is CLOCK_MONOTONIC. Returns false when the time
 * is over. */
static bool wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, dw_usec time)
{
	struct timespec at = {.tv_sec = time / 1000000, .tv_nsec = time % 1000000 * 1000};

	return pthread_cond_timedwait(cond, mutex, &at) != ETIMEDOUT;
}

/* close_queue answers the operations that were not begun. They get DW_ECLOSED. */
static void close_queue(struct sqlite_store *sqlite)
{
	dw_op *op;

	while ((op = op_queue_pop(&sqlite->queue)) || (op = sqlite->parked)) {
		if (op == sqlite->parked)
			sqlite->parked = NULL;
		op->status = DW_ECLOSED;
		op_queue_push(&sqlite->answers, op);
	}
}

int sqlite_worker_stop(struct sqlite_store *sqlite, dw_usec patience)
{
	dw_usec end = usec_add(monotonic(), patience);
	bool ended;

	pthread_mutex_lock(&sqlite->mutex);
	sqlite->stopping = true;
	atomic_store(&sqlite->batch.session.patience.over, true);
	close_queue(sqlite);
	sqlite_worker_wake(sqlite);
	while (!sqlite->ended && wait_until(&sqlite->finished, &sqlite->mutex, end))
		;
	ended = sqlite->ended;
	pthread_mutex_unlock(&sqlite->mutex);
	sqlite_hooks_wake(&sqlite->hooks);
	return ended ? DW_OK : DW_ETIMEOUT;
}

void sqlite_worker_give_away(struct sqlite_store *sqlite)
{
	pthread_t thread = sqlite->thread;
	bool ended;

	sqlite_hooks_shut(&sqlite->hooks);
	pthread_mutex_lock(&sqlite->mutex);
	ended = sqlite->ended;
	sqlite->given_away = true;
	pthread_mutex_unlock(&sqlite->mutex);
	if (!ended) {
		pthread_detach(thread);
		return;
	}
	pthread_join(thread, NULL);
	sqlite_worker_free(sqlite);
}
