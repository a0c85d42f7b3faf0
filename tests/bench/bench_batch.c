/* What the operations of a SQLite file cost at the store's interface, with n timers there already,
 * which are written, the file opened again, and read. Then batches of 1, 64 and 1024 of put (100
 * bytes of data), claim and settle, one batch outstanding at a time; and put again with 8 batches
 * of 64 under way. For whoever works on that store: lines for people, no JSON. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench_home.h"
#include "port/op.h"
#include "store/store.h"
#include "timer/record.h"

enum { BATCH_MAX = 1024, TIMERS_MAX = 65536, DATA_SIZE = 100, IN_FLIGHT = 8 };

struct bench {
	dw_store *store;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	unsigned wakes;
	size_t answered;
	dw_op *kept;              /* a page that was answered */
	double trips[TIMERS_MAX]; /* us */
	uint64_t generations[TIMERS_MAX];
};

static void wake(void *user)
{
	struct bench *bench = user;

	pthread_mutex_lock(&bench->mutex);
	bench->wakes++;
	pthread_cond_signal(&bench->cond);
	pthread_mutex_unlock(&bench->mutex);
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static dw_usec wall(void *user)
{
	struct timespec now;

	(void)user;
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void print_line(dw_log_level level, const char *line, void *user)
{
	(void)level;
	(void)user;
	fprintf(stderr, "%s\n", line);
}

/* take waits for answers until count are there, and frees them. */
static void take(struct bench *bench, size_t count)
{
	struct alloc alloc = alloc_default();

	while (bench->answered < count) {
		dw_op *op = bench->store->type->collect(bench->store);

		if (!op) {
			pthread_mutex_lock(&bench->mutex);
			while (bench->wakes == 0)
				pthread_cond_wait(&bench->cond, &bench->mutex);
			bench->wakes = 0;
			pthread_mutex_unlock(&bench->mutex);
		}
		while (op) {
			dw_op *next = op->next;

			if (op->status != DW_OK) {
				fprintf(stderr, "kind %d: %s\n", (int)op->kind,
					dw_strerror(op->status));
				exit(1);
			}
			if (op->kind == DW_OP_PUT && ticket_of(op)->call)
				*(uint64_t *)ticket_of(op)->call = op->head.generation;
			if (op->kind == DW_OP_SCAN)
				bench->kept = op;
			else
				op_free(&alloc, op);
			bench->answered++;
			op = next;
		}
	}
}

static dw_op *make_put(const char *id, dw_usec due)
{
	static const char data[DATA_SIZE] = "0123456789";
	struct alloc alloc = alloc_default();
	struct record record = {.id = id,
				.topic = "order.timeout",
				.data = data,
				.data_size = DATA_SIZE,
				.id_size = (uint8_t)strlen(id),
				.topic_size = 13};
	unsigned char body[256];
	dw_op *op;

	record_encode(&record, body);
	op = op_new(&alloc, DW_OP_PUT, id, body, record_size(&record));
	op->topic = "order.timeout";
	op->head.due = due;
	return op;
}

static dw_op *make(struct bench *bench, dw_op_kind kind, size_t number)
{
	struct alloc alloc = alloc_default();
	char id[64];
	dw_op *op;

	/* Ids as they are in life: not in the order of anything. */
	snprintf(id, sizeof id, "order:%08zx", number * 2654435761u % 4294967296u);
	if (kind == DW_OP_PUT) {
		op = make_put(id, (dw_usec)(number * 7919 % 1000003));
		ticket_of(op)->call = &bench->generations[number];
		return op;
	}
	op = op_new(&alloc, kind, id, NULL, 0);
	op->head.generation = bench->generations[number];
	op->head.attempt = kind == DW_OP_SETTLE;
	return op;
}

static void submit(struct bench *bench, dw_op_kind kind, size_t first, size_t count)
{
	struct op_queue queue = {0};

	for (size_t i = 0; i < count; i++)
		op_queue_push(&queue, make(bench, kind, first + i));
	bench->store->type->submit(bench->store, op_queue_take(&queue));
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static void run(struct bench *bench, dw_op_kind kind, size_t batch, size_t total)
{
	static const char *const names[] = {"", "put", "claim", "settle"};
	double began = now_us();
	double seconds;
	size_t trips = 0;

	for (size_t i = 0; i < total; i += batch) {
		double sent = now_us();

		bench->answered = 0;
		submit(bench, kind, i, batch);
		take(bench, batch);
		bench->trips[trips++] = now_us() - sent;
	}
	seconds = (now_us() - began) / 1e6;
	qsort(bench->trips, trips, sizeof *bench->trips, compare);
	printf("%-7s batch %4zu: %8.0f /s, round trip us p50 %6.0f p99 %6.0f worst %6.0f\n",
	       names[kind], batch, (double)total / seconds, bench->trips[trips / 2],
	       bench->trips[trips * 99 / 100], bench->trips[trips - 1]);
}

static void run_ahead(struct bench *bench)
{
	size_t total = TIMERS_MAX;
	double began = now_us();
	size_t sent = 0;

	bench->answered = 0;
	while (sent < total) {
		submit(bench, DW_OP_PUT, sent, 64);
		sent += 64;
		if (sent >= 64 * IN_FLIGHT)
			take(bench, sent - 64 * (IN_FLIGHT - 1));
	}
	take(bench, total);
	printf("put     8 x 64 under way: %8.0f /s\n", (double)total / ((now_us() - began) / 1e6));
}

static void fill(struct bench *bench, size_t count)
{
	char id[64];

	bench->answered = 0;
	for (size_t i = 0; i < count; i++) {
		dw_op *op;

		snprintf(id, sizeof id, "there:%zx", i * 2654435761u % 4294967296u);
		op = make_put(id, (dw_usec)(i * 7919 % 1000003));
		bench->store->type->submit(bench->store, op);
		if (i % 4096 == 4095)
			take(bench, i - 2048);
	}
	take(bench, count);
}

static void open_store(struct bench *bench, const char *path, const dw_store_env *env)
{
	char message[DW_MESSAGE_SIZE] = "";

	bench_require(sqlite_store_open(&bench->store, path, env, message) == DW_OK, message);
}

static void close_store(struct bench *bench)
{
	(void)bench->store->type->stop(bench->store, DW_SECONDS(30));
	bench->store->type->free(bench->store);
}

/* scan reads everything by pages of 1000, as an owner does when it opens. */
static void scan(struct bench *bench)
{
	struct alloc alloc = alloc_default();
	dw_cursor after = {0};
	size_t total = 0;
	size_t page;
	double worst = 0;
	double began = now_us();

	do {
		dw_op *op = op_new(&alloc, DW_OP_SCAN, NULL, NULL, 0);
		double sent = now_us();
		double trip;

		op->limit = 1000;
		op->after = after;
		bench->kept = NULL;
		bench->answered = 0;
		bench->store->type->submit(bench->store, op);
		take(bench, 1);
		op = bench->kept;
		page = op->row_count;
		for (dw_row *row = op->rows; row; row = row->next)
			after = (dw_cursor){
			    .due = row->head.due, .generation = row->head.generation, .started = 1};
		trip = now_us() - sent;
		worst = trip > worst ? trip : worst;
		total += page;
		op_free(&alloc, op);
	} while (page == 1000);
	printf("scan of %zu: %8.0f /s, slowest page %.0f us\n", total,
	       (double)total / ((now_us() - began) / 1e6), worst);
}

static void fill_and_reopen(struct bench *bench, const char *path, const dw_store_env *env,
			    size_t there)
{
	double began = now_us();

	fill(bench, there);
	printf("filled %zu in %.1f s\n", there, (now_us() - began) / 1e6);
	began = now_us();
	close_store(bench);
	printf("closed in %.3f s\n", (now_us() - began) / 1e6);
	began = now_us();
	open_store(bench, path, env);
	printf("opened in %.3f s\n", (now_us() - began) / 1e6);
	scan(bench);
}

int main(int argc, char **argv)
{
	static struct bench bench = {.mutex = PTHREAD_MUTEX_INITIALIZER,
				     .cond = PTHREAD_COND_INITIALIZER};
	struct bench_options options = bench_options(argc, argv, 100000);
	struct bench_home home;
	struct alloc alloc = alloc_default();
	dw_store_env env = {.size = sizeof env,
			    .token = 1,
			    .patience = DW_SECONDS(5),
			    .now = wall,
			    .resize = alloc.resize,
			    .log = print_line,
			    .wake = wake,
			    .wake_user = &bench};
	static const size_t batches[] = {1, 64, 1024};

	bench_home_open(&home, "sqlite");
	open_store(&bench, home.file, &env);
	fill_and_reopen(&bench, home.file, &env, options.n);
	for (size_t i = 0; i < 3; i++) {
		size_t total = batches[i] == 1 ? 8192 : TIMERS_MAX;

		run(&bench, DW_OP_PUT, batches[i], total);
		run(&bench, DW_OP_CLAIM, batches[i], total);
		run(&bench, DW_OP_SETTLE, batches[i], total);
	}
	run_ahead(&bench);
	close_store(&bench);
	bench_home_end(&home);
	return 0;
}
