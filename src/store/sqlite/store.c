/* The SQLite store: the functions that the engine calls. A thread of its own does the work
 * (worker.h). */
#include "store/store.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "store/sqlite/file/locker.h"
#include "store/sqlite/worker.h"

/* How often an owner looks for changes of clients and for a file that is gone. It notices a client
 * that writes to the pipe FILE-wake at once. At this interval an idle owner uses hardly any CPU. */
#define TICK DW_SECONDS(1)

static struct sqlite_store *sqlite_of(dw_store *store)
{
	return (struct sqlite_store *)store;
}

/* accept queues an operation. Returns false if the operation is answered already. */
static bool accept(struct sqlite_store *sqlite, dw_op *op)
{
	op->status = DW_OK;
	op->level = DW_STORED;
	if (sqlite->stopping) {
		op->status = DW_ECLOSED;
	} else if (op->kind != DW_OP_INBOX) {
		op_queue_push(&sqlite->queue, op);
		return true;
	} else if (sqlite->parked || sqlite->parked_is_out) {
		op->status = DW_EBUSY; /* there is only one INBOX at a time */
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
	sqlite_worker_wake(sqlite);
	pthread_mutex_unlock(&sqlite->mutex);
	if (answered)
		sqlite_hooks_wake(&sqlite->hooks);
}

static dw_op *sqlite_collect(dw_store *store)
{
	struct sqlite_store *sqlite = sqlite_of(store);
	dw_op *answers;

	if (getpid() != sqlite->pid)
		return NULL; /* this is a forked child, which has no thread */
	pthread_mutex_lock(&sqlite->mutex);
	answers = op_queue_take(&sqlite->answers);
	pthread_mutex_unlock(&sqlite->mutex);
	return answers;
}

static int sqlite_stop(dw_store *store, dw_usec patience)
{
	struct sqlite_store *sqlite = sqlite_of(store);

	if (getpid() != sqlite->pid)
		return DW_OK; /* this is a forked child: thread, file and lock are the parent's */
	return sqlite_worker_stop(sqlite, patience);
}

static void sqlite_free(dw_store *store)
{
	struct sqlite_store *sqlite = sqlite_of(store);

	if (getpid() != sqlite->pid)
		return; /* this is a forked child: the thread may have held any lock at the fork */
	sqlite_worker_give_away(sqlite);
}

static void sqlite_delay(const dw_store *store, char *ret_words, size_t size)
{
	locker_words(((const struct sqlite_store *)store)->batch.files.path[FILE_DATABASE],
		     ret_words, size);
}

static const dw_store_class sqlite_class = {.size = sizeof sqlite_class,
					    .name = "sqlite",
					    .submit = sqlite_submit,
					    .collect = sqlite_collect,
					    .stop = sqlite_stop,
					    .free = sqlite_free,
					    .loads_by_generation = 1,
					    .keeps_topics = 1,
					    .settles_messages = 1,
					    .look_every = DW_MILLISECONDS(20),
					    .delay = sqlite_delay};

/* ---- Opening ---- */

void sqlite_store_look_every(dw_store *store, dw_usec tick)
{
	struct sqlite_store *sqlite = sqlite_of(store);

	pthread_mutex_lock(&sqlite->mutex);
	sqlite->tick = tick;
	sqlite_wake_thread(&sqlite->wake);
	pthread_mutex_unlock(&sqlite->mutex);
}

/* init_finished makes the condition for which sqlite_worker_stop waits, with a clock that nobody
 * sets. */
static void init_finished(pthread_cond_t *finished)
{
	pthread_condattr_t attributes;

	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(finished, &attributes);
	(void)pthread_condattr_destroy(&attributes);
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
	sqlite->wake.fd = -1;
	sqlite->wake.event_fd = -1;
	sqlite->tick = TICK;
	session->alloc = alloc;
	session->env = &sqlite->env;
	session->hooks = &sqlite->hooks;
	session->patience.most = env->patience;
	(void)pthread_mutex_init(&sqlite->mutex, NULL); /* never fails without attributes */
	init_finished(&sqlite->finished);
	sqlite_hooks_init(&sqlite->hooks, &sqlite->env);
	return sqlite;
}

int sqlite_store_open(dw_store **ret_store, const char *path, const dw_store_env *env,
		      char *ret_message)
{
	char message[DW_MESSAGE_SIZE] = "out of memory";
	struct sqlite_store *sqlite = make(env);
	int status =
	    sqlite ? sqlite_session_open(&sqlite->batch, &sqlite->owner, path, message) : DW_ENOMEM;

	if (status == DW_OK)
		status = sqlite_worker_open(sqlite, message);
	if (status == DW_OK) {
		sqlite_checkpoint_init(&sqlite->checkpoint, sqlite->batch.files.path[FILE_DATABASE],
				       sqlite->batch.files.path[FILE_LOG]);
		status = sqlite_worker_start(sqlite, message);
	}
	if (status == DW_OK) {
		*ret_store = &sqlite->store;
		return DW_OK;
	}
	if (sqlite) {
		sqlite_session_close(&sqlite->batch, &sqlite->owner);
		sqlite_worker_free(sqlite);
	}
	if (ret_message)
		(void)snprintf(ret_message, DW_MESSAGE_SIZE, "%s", message);
	return status;
}
