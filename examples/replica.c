/* A replica of a service: several of them share the timers of one namespace in Redis. Each adds
 * timers and cancels some, and each fires those of its shards, whoever has added them.
 *
 *	replica STORE WHO
 *
 * It adds 100 timers a second, which are due within a second, and cancels every tenth. After
 * SIGUSR1 it adds no more. After SIGTERM it ends, and gives its shards to the others.
 * examples/replicas.sh starts several, kills one, and checks what they have written:
 *
 *	put WHO ID                          the timer is stored
 *	cancels WHO ID                      it is being cancelled; without an answer, perhaps it is
 *	cancelled WHO ID                    it will not start any more
 *	kept WHO ID                         it was too late
 *	start WHO ID ATTEMPT LATE NOW       it starts; both times in us
 *	shards WHO COUNT NOW                it has so many shards now */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <durawheel/members.h>

#define PAUSE_MS 10 /* between two timers */

struct replica {
	const char *who;
	dw_usec put_at; /* when the next timer is added */
	long count;     /* how many were added */
};

static volatile sig_atomic_t stopped, adds = 1;

static void on_signal(int number)
{
	if (number == SIGUSR1)
		adds = 0;
	else
		stopped = 1;
}

static dw_verdict start(dw *d, const dw_firing *firing, void *user)
{
	const struct replica *self = user;

	(void)d;
	printf("start %s %s %u %lld %lld\n", self->who, firing->id, (unsigned)firing->attempt,
	       (long long)(firing->now - firing->due), (long long)firing->now);
	return DW_DONE;
}

static void was_put(dw *d, const dw_result *result, void *user)
{
	const struct replica *self = user;

	(void)d;
	if (result->status == DW_OK)
		printf("put %s %s\n", self->who, result->id);
	else
		fprintf(stderr, "%s: put %s: %s\n", self->who, result->id,
			dw_strerror(result->status));
}

/* was_cancelled: in a shard of another replica, and shortly before the deadline, it can be too
 * late. If that replica was killed, nobody may know. */
static void was_cancelled(dw *d, const dw_result *result, void *user)
{
	const struct replica *self = user;

	(void)d;
	if (result->status == DW_OK)
		printf("cancelled %s %s\n", self->who, result->id);
	else if (result->status != DW_EUNKNOWN)
		printf("kept %s %s\n", self->who, result->id);
}

/* add puts a timer into whatever shard its id belongs to, also into one of another replica. */
static void add(dw *d, struct replica *self)
{
	dw_timer timer = {.size = sizeof timer, .topic = "order.timeout"};
	char id[DW_ID_SIZE];

	snprintf(id, sizeof id, "%s:%ld", self->who, self->count);
	timer.id = id;
	timer.due = dw_now(d) + DW_MILLISECONDS(100 + self->count * 37 % 900);
	dw_put(d, &timer, was_put, self);
	if (self->count % 10 == 0) {
		printf("cancels %s %s\n", self->who, id);
		dw_cancel(d, id, was_cancelled, self);
	}
	self->count++;
}

static void on_event(dw *d, const dw_event *event, void *user)
{
	const struct replica *self = user;

	if (event->kind == DW_EVENT_SHARDS)
		printf("shards %s %llu %lld\n", self->who, (unsigned long long)event->count,
		       (long long)dw_now(d));
	else
		fprintf(stderr, "%s: %s\n", self->who, event->message);
}

static int serve(dw *d, struct replica *self)
{
	struct pollfd turn = {.fd = dw_fd(d), .events = POLLIN};

	while (!stopped) {
		poll(&turn, 1, PAUSE_MS);
		if (dw_turn(d) != DW_OK)
			return -1;
		for (; adds && self->put_at <= dw_now(d); self->put_at += DW_MILLISECONDS(PAUSE_MS))
			add(d, self);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct replica self = {.who = argc > 2 ? argv[2] : ""};
	dw_options options = {.size = sizeof options,
			      .store = argc > 1 ? argv[1] : NULL,
			      .name = "replicas",
			      .role = DW_PEER,
			      .on_event = on_event,
			      .on_event_user = &self};
	struct sigaction action = {.sa_handler = on_signal};
	char message[DW_MESSAGE_SIZE];
	int error;
	dw *d;

	if (argc != 3 || strcspn(self.who, " :") != strlen(self.who))
		return fprintf(stderr, "usage: replica STORE WHO\n"), 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	if (dw_open(&d, &options, message) != DW_OK)
		return fprintf(stderr, "replica: %s\n", message), 1;
	dw_on(d, "order.timeout", start, &self);
	self.put_at = dw_now(d);
	error = serve(d, &self);
	/* The last calls get their answers, what runs ends, and the shards go to the others. */
	if (dw_close(d, DW_SECONDS(5)) != DW_OK)
		error = -1;
	return error == 0 ? 0 : 1;
}
