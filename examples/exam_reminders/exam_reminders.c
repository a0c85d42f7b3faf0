/* Exam reminders: one line before each paper of a timetable, each once, even if the program is
 * killed at any moment and started again.
 *
 *	exam_reminders [--store URL] [--name NS] [--remind 30m] [--speed N] [--from TIME]
 *	               [--until-idle | --peer] FILE.csv
 *	exam_reminders --daily [--store URL] [--name NS] [--speed N --from TIME] [--until TIME]
 *	               [--begins DATE] FILE.csv
 *
 * A term takes weeks. --speed N runs it N times as fast, from TIME on (or from the first reminder
 * on), so that one can watch it: an exam's moment t becomes the real moment epoch + (t - from) / N.
 *
 * With --peer several of them share the timers of a store in Redis. Start the first one alone: it
 * stores the timetable.
 *
 * With --daily it lists the exams of each day instead, see daily.h.
 *
 * import.h says how it survives a kill; csv.c and timetable.c read the file, settings.c the command
 * line. It does not follow changes of the file. A program that must would put the changed paper
 * again under its id, which replaces its timer.
 */
#include <poll.h>
#include <stdio.h>

#include "daily.h"
#include "import.h"
#include "signals.h"

/* Written out before DW_DONE: a reminder that could not be written is tried again, and one that was
 * written just before a kill is written again with attempt 2. A handler with an effect outside,
 * such as a message to a student, gives id and attempt along, so that the receiver can tell. */
static dw_verdict remind(dw *d, const dw_firing *firing, void *user)
{
	dw_usec late = wall_clock() - firing->due;
	const dw_usec *started = user;

	(void)d;
	printf("%.*s", (int)firing->data_size, (const char *)firing->data);
	printf("   %.3f ms after its time", (double)late / 1000);
	if (firing->due < *started)
		printf(" (due before this start)");
	if (firing->attempt > 1)
		printf(", attempt %u", (unsigned)firing->attempt);
	printf("\n");
	if (fflush(stdout) != 0) {
		clearerr(stdout);
		return DW_RETRY;
	}
	return DW_DONE;
}

static void say_event(dw *d, const dw_event *event, void *user)
{
	(void)d;
	(void)user;
	if (event->status != DW_OK)
		fprintf(stderr, "%s\n", event->message);
}

/* idle: every reminder is settled, and only the clock of the import is left. */
static int idle(dw *d)
{
	dw_stats stats = {.size = sizeof stats};

	return dw_get_stats(d, &stats) == DW_OK && !stats.recovering && stats.timers <= 1;
}

/* drive turns until a signal or, if asked to, until it is idle. */
static int drive(dw *d, int until_idle)
{
	struct pollfd ready = {.fd = dw_fd(d), .events = POLLIN};
	sigset_t before = signals_block();
	int error = DW_OK;

	while (error == DW_OK && !signals_stopped() && !(until_idle && idle(d))) {
		ppoll(&ready, 1, NULL, &before);
		error = dw_turn(d);
	}
	return error;
}

int main(int argc, char **argv)
{
	struct settings s;
	dw_options options = {.size = sizeof options, .on_event = say_event};
	char message[DW_MESSAGE_SIZE];
	dw_usec started = wall_clock();
	int result;
	dw *d;

	if (settings_read(argc, argv, &s) < 0)
		return 2;
	if (s.daily)
		return daily_run(&s);
	options.store = s.store;
	options.name = s.name;
	options.role = s.peer ? DW_PEER : DW_OWNER;
	if (dw_open(&d, &options, message) != DW_OK) {
		fprintf(stderr, "%s\n", message);
		return 1;
	}
	result = import_once(d, &s);
	if (result == DW_OK)
		result = dw_on(d, TOPIC, remind, &started);
	if (result == DW_OK)
		result = drive(d, s.until_idle);
	if (dw_close(d, PATIENCE) != DW_OK)
		result = -1;
	return result == DW_OK ? 0 : 1;
}
