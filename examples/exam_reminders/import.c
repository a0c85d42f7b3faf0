#include "import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "timetable.h"

#define CLOCK "exam.clock" /* the topic and the id of the timer that closes the import */
#define HEAD_START DW_MILLISECONDS(500) /* of a replay, so that its first reminder is on time */

/* How the time of the timetable becomes real time. */
struct mapping {
	dw_usec epoch;
	dw_usec from;
	int speed;
};

dw_usec wall_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return DW_SECONDS(now.tv_sec) + now.tv_nsec / 1000;
}

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

	if (timetable_load(s->file, s->remind, &table) < 0)
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

int import_once(dw *d, const struct settings *s)
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
