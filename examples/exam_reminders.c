/* Exam reminders: one line before each paper of a timetable, each once, although the program may be
 * killed at any moment and started again.
 *
 *	exam_reminders [--store URL] [--name NS] [--remind 30m] [--speed N] [--from TIME]
 *	               [--until-idle] FILE.csv
 *
 * A term takes weeks. --speed N runs it N times as fast, from TIME on (or from the first reminder
 * on), so that one can watch it: an exam's moment t becomes the real moment epoch + (t - from) / N.
 *
 * How it survives a kill. The timetable is imported once. The import ends with a timer that is
 * never due, the clock: it says that every paper is stored, and for which epoch, start and speed.
 * Reminders get their handler only after the clock is stored. So a store without a clock is one of
 * which nothing has fired yet, and the import is begun again: the same ids replace what a killed
 * import left. A store with a clock is complete, and the file is not read again: a reminder that
 * has fired is gone from the store and must not come back.
 *
 * It does not follow changes of the file. A program that must would put the changed paper again
 * under its id, which replaces its timer.
 */
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <durawheel/durawheel.h>

#define TOPIC "exam.reminder"
#define CLOCK "exam.clock" /* the topic and the id of the timer that closes the import */
#define PATIENCE DW_SECONDS(30)
#define HEAD_START DW_MILLISECONDS(500) /* of a replay, so that its first reminder is on time */
#define FILE_MAX (4 * 1024 * 1024)
#define FIELDS_MAX 16

struct settings {
	const char *store;
	const char *name; /* of the timers in a store that is shared: Redis */
	const char *file;
	dw_usec remind;
	dw_usec from; /* DW_NEVER: not given */
	int speed;    /* 0: not given */
	int until_idle;
};

struct paper {
	dw_usec reminder; /* in the time of the timetable */
	char id[DW_ID_MAX + 1];
	char text[256]; /* what to print */
};

struct timetable {
	struct paper *papers;
	size_t count;
};

/* How the time of the timetable becomes real time. */
struct mapping {
	dw_usec epoch;
	dw_usec from;
	int speed;
};

static dw_usec wall_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return DW_SECONDS(now.tv_sec) + now.tv_nsec / 1000;
}

/* ---- The file: CSV as in RFC 4180 -------------------------------------------------------- */

/* read_file: the whole file, ended by a zero byte; NULL, and words on stderr, when it cannot be. */
static char *read_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *text = malloc(FILE_MAX + 1);
	size_t size;

	if (!file || !text) {
		perror(path);
		goto fail;
	}
	size = fread(text, 1, FILE_MAX, file);
	text[size] = '\0';
	if (ferror(file) || size == FILE_MAX || strlen(text) != size) {
		fprintf(stderr, "%s: not a text file of less than 4 MiB\n", path);
		goto fail;
	}
	fclose(file);
	return text;
fail:
	if (file)
		fclose(file);
	free(text);
	return NULL;
}

/* unquote moves the text between quotes to out, each doubled quote as one, and returns what follows
 * the closing quote, or NULL if there is none. */
static char *unquote(char *in, char **out)
{
	for (; *in != '\0'; *(*out)++ = *in++)
		if (*in == '"' && *++in != '"')
			return in;
	return NULL;
}

/* cut_field cuts the field at *at out of the text, in place, and moves *at behind it. *ret_end is
 * what ended it: ',', '\n', or 0 at the end of the text. NULL: not CSV. */
static char *cut_field(char **at, char *ret_end)
{
	char *field = *at;
	char *out = field;
	int quoted = *field == '"';
	char *in = quoted ? unquote(field + 1, &out) : field + strcspn(field, ",\r\n");

	if (!quoted)
		out = in;
	if (in && in[0] == '\r' && in[1] == '\n')
		in++;
	if (!in || !strchr(",\n", *in))
		return NULL;
	*ret_end = *in;
	*at = *in == '\0' ? in : in + 1;
	*out = '\0';
	return field;
}

/* cut_record cuts a line into fields. Their number; 0: the text has ended; -1: not CSV. */
static int cut_record(char **at, char *field[FIELDS_MAX])
{
	char end = ',';
	int count = 0;

	if (**at == '\0')
		return 0;
	while (end == ',') {
		if (count == FIELDS_MAX)
			return -1;
		field[count] = cut_field(at, &end);
		if (!field[count++])
			return -1;
	}
	return count;
}

/* ---- The timetable ----------------------------------------------------------------------- */

/* offset_of: how far the local time of an RFC 3339 time that was parsed is ahead of UTC. */
static dw_usec offset_of(const char *time_text)
{
	size_t size = strlen(time_text);
	int hours, minutes;
	char sign;

	if (size < 6 || sscanf(time_text + size - 6, "%c%2d:%2d", &sign, &hours, &minutes) != 3)
		return 0; /* it ends in Z */
	return (sign == '-' ? -1 : 1) * (DW_HOURS(hours) + DW_MINUTES(minutes));
}

/* describe writes the line to print: "08:30 +01:00 Mon 15 May  in 30 min: Drama (8261/W)". */
static int describe(struct paper *p, char *const field[FIELDS_MAX], dw_usec remind)
{
	const char *start = field[3];
	dw_usec offset = offset_of(start);
	const char *zone = start[strlen(start) - 1] == 'Z' ? "UTC" : start + strlen(start) - 6;
	time_t local = (time_t)((p->reminder + offset) / DW_SECONDS(1));
	char clock[8], day[16];
	struct tm tm;
	int size;

	if (!gmtime_r(&local, &tm) || strftime(clock, sizeof clock, "%H:%M", &tm) == 0 ||
	    strftime(day, sizeof day, "%a %d %b", &tm) == 0)
		return -1;
	size = snprintf(p->text, sizeof p->text, "%s %s %s  in %lld min: %s (%s)", clock, zone, day,
			(long long)(remind / DW_MINUTES(1)), field[1], field[0]);
	for (char *c = p->text; *c != '\0'; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' '; /* a field in quotes may hold line ends */
	return size > 0 && (size_t)size < sizeof p->text ? 0 : -1;
}

/* fill_paper: row and unit name the paper, so that importing the file again finds the same ids. */
static int fill_paper(struct paper *p, size_t row, char *const field[FIELDS_MAX], dw_usec remind)
{
	dw_usec start;
	int size = snprintf(p->id, sizeof p->id, "paper:%zu:%s", row, field[0]);

	if (size < 0 || (size_t)size >= sizeof p->id || dw_parse_time(field[3], &start) != DW_OK)
		return -1;
	p->reminder = start - remind;
	return describe(p, field, remind);
}

/* read_papers: every record behind the heading; -1, and words on stderr, at the first bad one. */
static int read_papers(char *text, const struct settings *s, struct timetable *ret_table)
{
	char *field[FIELDS_MAX];
	int fields;

	if (cut_record(&text, field) != 5 || strcmp(field[0], "unit") != 0 ||
	    strcmp(field[1], "subject") != 0 || strcmp(field[3], "start") != 0) {
		fprintf(stderr, "%s: must begin with unit,subject,tier,start,minutes\n", s->file);
		return -1;
	}
	while ((fields = cut_record(&text, field)) != 0) {
		struct paper *p = &ret_table->papers[ret_table->count];

		if (fields != 5 || fill_paper(p, ret_table->count + 1, field, s->remind) < 0) {
			fprintf(stderr, "%s: paper %zu is not unit,subject,tier,start,minutes\n",
				s->file, ret_table->count + 1);
			return -1;
		}
		ret_table->count++;
	}
	return 0;
}

static int load_timetable(const struct settings *s, struct timetable *ret_table)
{
	char *text = read_file(s->file);
	size_t lines = 1;
	int result = -1;

	if (!text)
		return -1;
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	ret_table->count = 0;
	ret_table->papers = calloc(lines, sizeof *ret_table->papers);
	if (ret_table->papers)
		result = read_papers(text, s, ret_table);
	free(text);
	return result;
}

/* ---- The import -------------------------------------------------------------------------- */

/* map_time: without --speed and --from the timetable's time is the real one. */
static struct mapping map_time(const struct settings *s, const struct timetable *table)
{
	struct mapping m = {.epoch = wall_clock(), .speed = s->speed ? s->speed : 1};
	int replay = s->speed != 0 || s->from != DW_NEVER;

	m.from = s->from;
	for (size_t i = 0; replay && s->from == DW_NEVER && i < table->count; i++)
		if (table->papers[i].reminder < m.from)
			m.from = table->papers[i].reminder;
	if (replay)
		m.epoch += HEAD_START;
	else
		m.from = m.epoch;
	return m;
}

/* put_papers: in the order of the file, because equal deadlines fire in the order of insertion. */
static int put_papers(dw *d, const struct timetable *table, const struct mapping *m)
{
	size_t past = 0;

	for (size_t i = 0; i < table->count; i++) {
		const struct paper *p = &table->papers[i];
		dw_usec due = m->epoch + (p->reminder - m->from) / m->speed;
		int error;

		if (p->reminder < m->from) {
			past++;
			continue;
		}
		error = dw_at(d, TOPIC, p->id, due, p->text, strlen(p->text));
		if (error != DW_OK)
			return error;
	}
	if (past > 0)
		fprintf(stderr,
			"%zu of %zu reminders are past and left out; --speed 200000 replays all\n",
			past, table->count);
	return dw_sync(d, PATIENCE); /* DW_OK: every one of them is stored */
}

static int put_clock(dw *d, const struct mapping *m)
{
	char data[128];

	snprintf(data, sizeof data, "epoch %lld from %lld speed %d", (long long)m->epoch,
		 (long long)m->from, m->speed);
	if (dw_at(d, CLOCK, CLOCK, DW_NEVER, data, strlen(data)) != DW_OK)
		return -1;
	return dw_sync(d, PATIENCE);
}

static int import(dw *d, const struct settings *s)
{
	struct timetable table = {0};
	struct mapping m;
	int result = -1;

	if (load_timetable(s, &table) < 0)
		goto out;
	m = map_time(s, &table);
	result = put_papers(d, &table, &m);
	if (result == DW_OK)
		result = put_clock(d, &m);
	if (result == DW_OK)
		fprintf(stderr, "the timetable is stored: %zu papers of %s\n", table.count,
			s->file);
	else
		fprintf(stderr, "cannot store the timetable: %s\n", dw_last_error(d));
out:
	free(table.papers);
	return result;
}

/* ---- Reminding --------------------------------------------------------------------------- */

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

struct answer {
	int status;
	char data[128];
};

static void take_clock(dw *d, int status, const dw_info *timers, size_t count,
		       const dw_cursor *next, void *user)
{
	struct answer *answer = user;

	(void)d;
	(void)next;
	answer->status = status;
	if (status == DW_OK && count == 1)
		snprintf(answer->data, sizeof answer->data, "%.*s", (int)timers->data_size,
			 (const char *)timers->data);
}

/* prepare: DW_OK when the timetable is in the store, from this start or from an earlier one. */
static int prepare(dw *d, const struct settings *s)
{
	struct answer clock = {.status = DW_EUNKNOWN};

	if (dw_get(d, CLOCK, take_clock, &clock) != DW_OK || dw_sync(d, PATIENCE) != DW_OK ||
	    (clock.status != DW_OK && clock.status != DW_ENOENT)) {
		fprintf(stderr, "cannot ask the store: %s\n", dw_last_error(d));
		return -1;
	}
	if (clock.status == DW_ENOENT)
		return import(d, s);
	fprintf(stderr, "going on with the stored timetable (%s)\n", clock.data);
	return DW_OK;
}

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

/* idle: every reminder is settled. */
static int idle(dw *d)
{
	dw_stats stats = {.size = sizeof stats};
	uint64_t left = 1;

	return dw_get_stats(d, &stats) == DW_OK && !stats.recovering &&
	       dw_count(d, TOPIC, &left) == DW_OK && left == 0;
}

/* drive turns until a signal or, if asked to, until it is idle. The signals are blocked but while
 * it waits, so that none is missed. */
static int drive(dw *d, int until_idle)
{
	struct pollfd ready = {.fd = dw_fd(d), .events = POLLIN};
	struct sigaction action = {.sa_handler = stop};
	sigset_t signals, before;
	int error = DW_OK;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, &before);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (error == DW_OK && !stopped && !(until_idle && idle(d))) {
		ppoll(&ready, 1, NULL, &before);
		error = dw_turn(d);
	}
	return error;
}

/* ---- The program ------------------------------------------------------------------------- */

static int read_option(int option, const char *text, struct settings *s)
{
	char rest;

	switch (option) {
	case 's':
		s->store = text;
		return 0;
	case 'm':
		s->name = text;
		return 0;
	case 'r':
		return dw_parse_duration(text, &s->remind) == DW_OK &&
			       s->remind % DW_MINUTES(1) == 0
			   ? 0
			   : -1;
	case 'n':
		return sscanf(text, "%9d%c", &s->speed, &rest) == 1 && s->speed > 0 ? 0 : -1;
	case 'f':
		return dw_parse_time(text, &s->from) == DW_OK ? 0 : -1;
	case 'u':
		s->until_idle = 1;
		return 0;
	default:
		return -1;
	}
}

static int read_arguments(int argc, char **argv, struct settings *s)
{
	static const struct option options[] = {{"store", required_argument, NULL, 's'},
						{"remind", required_argument, NULL, 'r'},
						{"speed", required_argument, NULL, 'n'},
						{"from", required_argument, NULL, 'f'},
						{"until-idle", no_argument, NULL, 'u'},
						{"name", required_argument, NULL, 'm'},
						{NULL, 0, NULL, 0}};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (read_option(option, optarg, s) < 0)
			return -1;
	if (argc - optind != 1)
		return -1;
	s->file = argv[optind];
	return 0;
}

int main(int argc, char **argv)
{
	struct settings s = {.store = "sqlite:exams.db",
			     .name = "exams",
			     .remind = DW_MINUTES(30),
			     .from = DW_NEVER};
	dw_options options = {.size = sizeof options, .on_event = say_event};
	char message[DW_MESSAGE_SIZE];
	dw_usec started = wall_clock();
	int result;
	dw *d;

	if (read_arguments(argc, argv, &s) < 0) {
		fprintf(stderr, "usage: exam_reminders [--store URL] [--name NS] [--remind 30m] "
				"[--speed N] [--from TIME] [--until-idle] FILE.csv\n"
				"--remind in whole minutes; TIME as 2023-05-15T08:00:00+01:00\n");
		return 2;
	}
	options.store = s.store;
	options.name = s.name;
	if (dw_open(&d, &options, message) != DW_OK) {
		fprintf(stderr, "%s\n", message);
		return 1;
	}
	result = prepare(d, &s);
	if (result == DW_OK)
		result = dw_on(d, TOPIC, remind, &started);
	if (result == DW_OK)
		result = drive(d, s.until_idle);
	if (dw_close(d, PATIENCE) != DW_OK)
		result = -1;
	return result == DW_OK ? 0 : 1;
}
