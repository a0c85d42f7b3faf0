/* The store that is a SQLite file: a thread of its own that takes whatever was submitted since the
 * last time and carries it out as one transaction, because the fsync at its end costs the same for
 * one operation as for a thousand.
 *
 * Under the mutex: queue, answers, parked and the flags. Everything else belongs to the thread once
 * it runs. A thread that hangs in an fsync when the store is given away frees the store itself.
 */
#include "store/store.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/usec.h"
#include "port/op.h"
#include "store/sqlite/transaction.h"
#include "store/sqlite/wake.h"
#include "store/sqlite/checkpoint.h"
#include "store/sqlite/session.h"

enum {
	BATCH_BYTES_MAX = 4 * 1024 * 1024,
};

/* How soon a client's news, and a file that is gone, are noticed when nobody rings. An idle owner
 * should not be seen at it. */
#define TICK DW_SECONDS(1)
#define TICK_ALONE DW_MILLISECONDS(600) /* without a bell */
#define CLOSE_PATIENCE DW_SECONDS(1)

struct sqlite_store {
	dw_store store; /* first: the public view */
	dw_store_env env;
	struct alloc alloc;
	pid_t pid; /* a forked child has no thread to speak to */

	pthread_mutex_t mutex;
	pthread_cond_t finished; /* for stop */
	struct op_queue queue;
	struct op_queue answers;
	dw_op *parked; /* the INBOX that waits for news */
	bool parked_is_new;
	bool parked_is_out; /* the thread looks into the inbox for it */
	bool asleep;
	bool stopping;
	bool ended;
	bool given_away;

	pthread_t thread;
	struct sqlite_outlet outlet;
	struct sqlite_checkpoint checkpoint;
	struct sqlite_owner owner;
	struct sqlite_batch batch;
	struct sqlite_bell bell;
	_Atomic dw_usec tick; /* from one look for news to the next, if nobody rings */
	dw_usec looked;       /* for news, on CLOCK_MONOTONIC */
	int64_t data_version;
	bool gone_told; /* what the last INBOX knew of the file */
};

static struct sqlite_store *sqlite_of(dw_store *store)
{
	return (struct sqlite_store *)store;
}

static struct sqlite_house house_of(struct sqlite_store *sqlite)
{
	return (struct sqlite_house){.batch = &sqlite->batch, .owner = &sqlite->owner};
}

/* CLOCK_MONOTONIC is the one a condition variable can wait by. */
static dw_usec monotonic(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
	return usec_add(usec_mul(now.tv_sec, 1000000), now.tv_nsec / 1000);
}

/* ---- The thread ---- */

/* wait_until: false when the time has come. */
static bool wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, dw_usec time)
{
	struct timespec at = {.tv_sec = time / 1000000, .tv_nsec = time % 1000000 * 1000};

	return pthread_cond_clockwait(cond, mutex, CLOCK_MONOTONIC, &at) != ETIMEDOUT;
}

/* wake_thread, under the mutex. */
static void wake_thread(struct sqlite_store *sqlite)
{
	if (sqlite->asleep)
		sqlite_bell_wake(&sqlite->bell);
}

/* wait_for_work returns with the mutex, when there is something to do. An idle store without a
 * parked INBOX sleeps for ever. */
static void wait_for_work(struct sqlite_store *sqlite)
{
	while (!sqlite->queue.first && !sqlite->stopping && !sqlite->parked_is_new) {
		bool heeds = sqlite->parked != NULL;
		dw_usec next = heeds ? usec_add(sqlite->looked, sqlite->tick) : DW_NEVER;
		dw_usec left = usec_sub(next, monotonic());
		bool rung;

		if (left <= 0)
			return;
		sqlite->asleep = true;
		pthread_mutex_unlock(&sqlite->mutex);
		rung = sqlite_bell_wait(&sqlite->bell, heeds, heeds ? left : DW_NEVER);
		pthread_mutex_lock(&sqlite->mutex);
		sqlite->asleep = false;
		sqlite->parked_is_new = sqlite->parked_is_new || (rung && sqlite->parked);
	}
}

/* is_alone: it is no transaction, or has some of its own, so it comes alone. */
static bool is_alone(const dw_op *op)
{
	return op->kind == DW_OP_OWN || op->kind == DW_OP_DISOWN;
}

/* take_batch moves what the next transaction shall do out of the queue. */
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

/* deliver gives the answers of the batch to the collector. */
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
	sqlite_outlet_wake(&sqlite->outlet);
}

/* tend_bell: somebody may have cleared it away. */
static void tend_bell(struct sqlite_store *sqlite)
{
	if (sqlite->env.role == DW_OWNER && !sqlite_bell_hangs(&sqlite->bell))
		(void)sqlite_bell_hang(&sqlite->bell); /* or there is none */
}

/* has_news: whether it is worth looking into the inbox; at most one cheap question a tick. */
static bool has_news(struct sqlite_store *sqlite, bool is_new)
{
	struct sqlite_batch *batch = &sqlite->batch;
	sqlite3_stmt *statement;
	dw_usec now = monotonic();
	bool news;

	if (!is_new && !batch->foreign && usec_sub(now, sqlite->looked) < sqlite->tick)
		return false;
	sqlite->looked = now;
	tend_bell(sqlite);
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
	(void)sqlite3_reset(statement); /* an error shows in the next transaction, too */
	return news;
}

/* look_into_inbox answers the parked INBOX if a client has written; and once when the file is found
 * gone, and once when it is back, because an idle owner asks nothing else. */
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
	news = has_news(sqlite, is_new);
	changed = batch->gone != sqlite->gone_told;
	if (news || changed) {
		sqlite_batch_add(batch, op);
		sqlite_batch_run(batch); /* it looks for the file again, and may find otherwise */
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
		sqlite_outlet_wake(&sqlite->outlet);
}

/* hang_bell: a client finds the owner's. */
static void hang_bell(struct sqlite_store *sqlite)
{
	if (sqlite_bell_hang(&sqlite->bell))
		return;
	sqlite->tick = TICK_ALONE;
	sqlite_outlet_log(&sqlite->outlet, DW_LOG_WARN,
			  "%s cannot be a pipe (%s): what others add is noticed %d ms later",
			  sqlite->bell.path, strerror(errno), (int)(TICK_ALONE / 1000));
}

/* take_over: a standby asks whether it may be the owner. */
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
	op->status = sqlite_house_take_over(house_of(sqlite), message);
	if (op->status == DW_OK) {
		hang_bell(sqlite);
		return;
	}
	sqlite->env.role = before;
	if (op->status != DW_EOWNED && op->status != DW_ENEWER)
		sqlite_outlet_log(&sqlite->outlet, DW_LOG_ERROR, "cannot take over: %s", message);
}

/* give_way: the owner is a client from now on. */
static void give_way(struct sqlite_store *sqlite, dw_op *op)
{
	op->status = sqlite->env.role == DW_OWNER ? DW_OK : DW_EROLE;
	if (op->status != DW_OK)
		return;
	sqlite_bell_take_down(&sqlite->bell);
	sqlite_house_give_way(house_of(sqlite));
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

/* turn: one round; false: the store is stopping. */
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
		sqlite_bell_ring(&sqlite->bell);
	sqlite->batch.wrote = false;
	deliver(sqlite);
	look_into_inbox(sqlite);
	sqlite_checkpoint_tend(&sqlite->checkpoint, &sqlite->batch.session);
	return true;
}

/* close_all leaves the file as tidy as it can without waiting long for others. */
static void close_all(struct sqlite_store *sqlite)
{
	struct sqlite_session *session = &sqlite->batch.session;

	sqlite_checkpoint_stop(&sqlite->checkpoint);
	atomic_store(&session->patience.over, false);
	session->patience.most = usec_min(session->patience.most, CLOSE_PATIENCE);
	if (sqlite->env.role == DW_OWNER)
		sqlite_bell_take_down(&sqlite->bell);
	sqlite_house_leave(house_of(sqlite));
}

static void destroy(struct sqlite_store *sqlite)
{
	struct alloc alloc = sqlite->alloc;
	dw_op *op;

	while ((op = op_queue_pop(&sqlite->answers)))
		op_free(&alloc, op);
	while ((op = op_queue_pop(&sqlite->queue)))
		op_free(&alloc, op);
	op_free(&alloc, sqlite->parked);
	sqlite_outlet_free(&sqlite->outlet);
	(void)pthread_cond_destroy(&sqlite->finished); /* nobody waits any more */
	sqlite_bell_free(&sqlite->bell);
	(void)pthread_mutex_destroy(&sqlite->mutex);
	sqlite_files_free(&sqlite->batch.files, &alloc);
	alloc_free(&alloc, sqlite);
}

/* stand_back: the loop's thread fires timers and must not wait for this one when they share a core.
 * So this thread does not interrupt others when it wakes, but keeps its share of the CPU: claims
 * and verdicts must not wait behind a compiler. The thread of the checkpoints is made by this one
 * and inherits it. A refusal changes nothing. */
static void stand_back(void)
{
	struct sched_param none = {0};

	(void)sched_setscheduler(gettid(), SCHED_BATCH, &none);
}

static void *work(void *argument)
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
		destroy(sqlite);
	return NULL;
}

/* ---- The store ---- */

/* accept: whether the operation is under way now; else it is answered already. */
static bool accept(struct sqlite_store *sqlite, dw_op *op)
{
	op->status = DW_OK;
	if (sqlite->stopping) {
		op->status = DW_ECLOSED;
	} else if (op->kind != DW_OP_INBOX) {
		op_queue_push(&sqlite->queue, op);
		return true;
	} else if (sqlite->parked || sqlite->parked_is_out) {
		op->status = DW_EBUSY; /* one at a time */
	} else {
		op->next = NULL;
		sqlite->parked = op;
		sqlite->parked_is_new = true;
		return true;
	}
	op_queue_push(&sqlite->answers, op);
	return false;
}

static void sqlite_submit(dw_store *store, dw_op *batch)
{
	struct sqlite_store *sqlite = sqlite_of(store);
	bool answered = false;

	pthread_mutex_lock(&sqlite->mutex);
	while (batch) {
		dw_op *next = batch->next;

		answered = !accept(sqlite, batch) || answered;
		batch = next;
	}
	wake_thread(sqlite);
	pthread_mutex_unlock(&sqlite->mutex);
	if (answered)
		sqlite_outlet_wake(&sqlite->outlet);
}

static dw_op *sqlite_collect(dw_store *store)
{
	struct sqlite_store *sqlite = sqlite_of(store);
	dw_op *answers;

	if (getpid() != sqlite->pid)
		return NULL; /* a forked child */
	pthread_mutex_lock(&sqlite->mutex);
	answers = op_queue_take(&sqlite->answers);
	pthread_mutex_unlock(&sqlite->mutex);
	return answers;
}

/* close_queue answers what was not begun. */
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

static int sqlite_stop(dw_store *store, dw_usec patience)
{
	struct sqlite_store *sqlite = sqlite_of(store);
	dw_usec end = usec_add(monotonic(), patience);
	bool ended;

	if (getpid() != sqlite->pid)
		return DW_OK; /* a forked child: the thread, the file and the lock are not its */
	pthread_mutex_lock(&sqlite->mutex);
	sqlite->stopping = true;
	atomic_store(&sqlite->batch.session.patience.over, true);
	close_queue(sqlite);
	wake_thread(sqlite);
	while (!sqlite->ended && wait_until(&sqlite->finished, &sqlite->mutex, end))
		;
	ended = sqlite->ended;
	pthread_mutex_unlock(&sqlite->mutex);
	sqlite_outlet_wake(&sqlite->outlet);
	return ended ? DW_OK : DW_ETIMEOUT;
}

static void sqlite_free(dw_store *store)
{
	struct sqlite_store *sqlite = sqlite_of(store);
	pthread_t thread = sqlite->thread;
	bool ended;

	if (getpid() != sqlite->pid)
		return; /* the child's copy; the thread may have held any of its locks */
	sqlite_outlet_shut(&sqlite->outlet);
	pthread_mutex_lock(&sqlite->mutex);
	ended = sqlite->ended;
	sqlite->given_away = true;
	pthread_mutex_unlock(&sqlite->mutex);
	if (!ended) {
		pthread_detach(thread);
		return;
	}
	pthread_join(thread, NULL);
	destroy(sqlite);
}

static const dw_store_class sqlite_class = {.size = sizeof sqlite_class,
					    .name = "sqlite",
					    .level = DW_STORED,
					    .submit = sqlite_submit,
					    .collect = sqlite_collect,
					    .stop = sqlite_stop,
					    .free = sqlite_free,
					    .loads_by_generation = 1};

/* ---- Opening ---- */

/* start_thread: it takes no signals, they are the program's. */
static int start_thread(struct sqlite_store *sqlite, char *ret_message)
{
	sigset_t all;
	sigset_t before;
	int error;

	(void)sigfillset(&all); /* cannot fail */
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&sqlite->thread, NULL, work, sqlite);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error == 0)
		return DW_OK;
	(void)snprintf(ret_message, DW_MESSAGE_SIZE, "no thread: %.100s", strerror(error));
	return DW_ESYS;
}

static int make_bell(struct sqlite_store *sqlite, char *ret_message)
{
	sqlite->bell.path = sqlite->batch.files.path[FILE_BELL];
	if (sqlite_bell_init(&sqlite->bell) != DW_OK) {
		(void)snprintf(ret_message, DW_MESSAGE_SIZE, "no descriptor: %.100s",
			       strerror(errno));
		return DW_ESYS;
	}
	if (sqlite->env.role == DW_OWNER)
		hang_bell(sqlite);
	return DW_OK;
}

void sqlite_store_look_every(dw_store *store, dw_usec tick)
{
	struct sqlite_store *sqlite = sqlite_of(store);

	pthread_mutex_lock(&sqlite->mutex);
	sqlite->tick = tick;
	sqlite_bell_wake(&sqlite->bell);
	pthread_mutex_unlock(&sqlite->mutex);
}

static struct sqlite_store *make(const dw_store_env *env)
{
	struct alloc alloc = {.resize = env->resize, .user = env->resize_user};
	struct sqlite_store *sqlite = alloc_new(&alloc, sizeof *sqlite);
	struct sqlite_session *session;

	if (!sqlite)
		return NULL;
	session = &sqlite->batch.session;
	sqlite->store.type = &sqlite_class;
	sqlite->env = *env;
	sqlite->alloc = alloc;
	sqlite->pid = getpid();
	sqlite->owner.fd = -1;
	sqlite->bell.fd = -1;
	sqlite->bell.event_fd = -1;
	sqlite->tick = TICK;
	session->alloc = alloc;
	session->env = &sqlite->env;
	session->outlet = &sqlite->outlet;
	session->patience.most = env->patience;
	(void)pthread_mutex_init(&sqlite->mutex, NULL); /* never fail without attributes */
	(void)pthread_cond_init(&sqlite->finished, NULL);
	sqlite_outlet_init(&sqlite->outlet, &sqlite->env);
	return sqlite;
}

int sqlite_store_open(dw_store **ret_store, const char *path, const dw_store_env *env,
		      char *ret_message)
{
	char message[DW_MESSAGE_SIZE] = "out of memory";
	struct sqlite_store *sqlite = make(env);
	int status = sqlite ? sqlite_house_enter(house_of(sqlite), path, message) : DW_ENOMEM;

	if (status == DW_OK)
		status = make_bell(sqlite, message);
	if (status == DW_OK) {
		sqlite_checkpoint_init(&sqlite->checkpoint,
				       sqlite->batch.files.path[FILE_DATABASE]);
		status = start_thread(sqlite, message);
	}
	if (status == DW_OK) {
		*ret_store = &sqlite->store;
		return DW_OK;
	}
	if (sqlite) {
		sqlite_house_leave(house_of(sqlite));
		destroy(sqlite);
	}
	if (ret_message)
		(void)snprintf(ret_message, DW_MESSAGE_SIZE, "%s", message);
	return status;
}
