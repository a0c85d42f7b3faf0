/* The owner of recurring timers is killed repeatedly. Each occurrence must be delivered, or be
 * counted as missed by the next delivery. No occurrence may be delivered twice within a life. */
#include "faults/faults.h"
#include "faults/process.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RULES = 50, KILLS = 40, KILLS_LONG = 300 };

#define PERIOD (DW_MILLISECONDS(100) * faults_slowness())
#define LIFE_MAX (DW_MILLISECONDS(400) * faults_slowness())

/* A rule, and its last occurrence that a line reported. */
struct told {
	dw_usec occurrence; /* 0: there was none yet */
	unsigned life;
	int64_t missed_before; /* the missed count of that line */
	size_t starts, repeats;
	uint64_t missed; /* the sum of all lines */
};

struct kill_rules {
	struct faults *faults;
	unsigned life;
	struct told rules[RULES];
};

/* write_rules writes the file of an import. Every second rule does not deliver late occurrences. */
static void write_rules(const char *path)
{
	FILE *file = fopen(path, "w");
	char late[64];

	if (!file)
		abort();
	(void)snprintf(late, sizeof late, "; missed-after %" PRId64 "us",
		       PERIOD * 3 / 2); /* it fits */
	for (int i = 0; i < RULES; i++)
		(void)fprintf(
		    file, "{\"id\":\"%d\",\"topic\":\"t\",\"rule\":\"every %" PRId64 "us%s\"}\n", i,
		    PERIOD, i % 2 ? late : ""); /* fclose() checks */
	if (fclose(file) != 0)
		abort();
}

static void import_rules(struct faults *faults)
{
	char path[TEMP_SIZE];
	struct process import;
	const char *const argv[] = {faults->command,
				    "import",
				    "--store",
				    faults->store,
				    temp_file(path, faults->folder, "rules.ndjson"),
				    NULL};

	write_rules(path);
	process_start(&import, argv);
	if (!process_wait(&import) || import.code != 0)
		faults_fail(faults, "import: exit %d, %s", import.code, stream_text(&import.err));
	process_free(&import);
}

/* follows returns true if `missed` is the number of occurrences between this one and the last one.
 * If the owner was killed before it stored the verdict of the last one, the last one also counts as
 * missed, together with those that it counted itself. */
static bool follows(const struct kill_rules *test, const struct told *told, dw_usec occurrence,
		    int64_t missed)
{
	int64_t between = (occurrence - told->occurrence) / PERIOD - 1;
	int64_t again = told->missed_before + 1;

	return missed == between || (missed == between + again && told->life != test->life);
}

/* take_start checks and stores a line. */
static void take_start(struct kill_rules *test, struct told *told, int number, dw_usec occurrence,
		       int64_t missed)
{
	if (occurrence == told->occurrence) {
		told->repeats++;
		if (told->life == test->life)
			faults_fail(test->faults, "rule %d: %" PRId64 " twice in a life", number,
				    occurrence);
	} else if (told->occurrence > 0 && !follows(test, told, occurrence, missed)) {
		faults_fail(test->faults,
			    "rule %d: %" PRId64 " after %" PRId64 ", %" PRId64 " missed", number,
			    occurrence, told->occurrence, missed);
	} else {
		told->missed += (uint64_t)missed;
	}
	told->starts++;
	told->occurrence = occurrence;
	told->missed_before = missed;
	told->life = test->life;
}

static void take_line(struct kill_rules *test, const char *line, size_t size)
{
	json_t *object = json_loadb(line, size, 0, NULL);
	json_int_t occurrence = 0, missed = 0;
	const char *id = "";
	int number;

	if (json_unpack(object, "{s:s, s:I, s:I}", "id", &id, "occurrence", &occurrence, "missed",
			&missed) != 0)
		faults_fail(test->faults, "not a line: %.200s", line);
	number = (int)strtol(id, NULL, 10); /* the id is a number, as we wrote it */
	if (occurrence > 0 && number >= 0 && number < RULES)
		take_start(test, &test->rules[number], number, occurrence, missed);
	json_decref(object);
}

static void take_lines(struct kill_rules *test, struct process *owner)
{
	const char *line;
	size_t size;

	while ((line = stream_line(&owner->out, &size)))
		take_line(test, line, size);
}

/* live runs one owner for the given time, and kills it. */
static void live(struct kill_rules *test, dw_usec span)
{
	const char *const argv[] = {test->faults->command, "run", "--store", test->faults->store,
				    NULL};
	dw_usec until = faults_now() + span;
	struct process owner, *one = &owner;

	test->life++;
	process_start(&owner, argv);
	while (faults_now() < until && owner.pid != 0)
		process_poll(&one, 1, until);
	if (owner.pid == 0)
		faults_fail(test->faults, "the owner ended by itself: %s", stream_text(&owner.err));
	process_kill(&owner);
	take_lines(test, &owner);
	process_free(&owner);
}

static void check_rules(const struct kill_rules *test, dw_usec since)
{
	size_t starts = 0, repeats = 0;
	uint64_t missed = 0;

	for (int i = 0; i < RULES; i++) {
		const struct told *told = &test->rules[i];

		starts += told->starts;
		repeats += told->repeats;
		missed += told->missed;
		if (told->occurrence < since)
			faults_fail(test->faults, "rule %d has stopped", i);
		if (i % 2 == 0 && told->missed > 0)
			faults_fail(test->faults, "rule %d has left occurrences out", i);
	}
	(void)printf("    %u lives: %zu starts, %zu repeated, %" PRIu64 " missed\n", test->life,
		     starts, repeats, missed); /* only for people */
}

void kill_rules(struct faults *faults)
{
	static struct kill_rules test;
	unsigned kills = (unsigned)faults_amount(faults, KILLS, KILLS_LONG);
	dw_usec since;

	test = (struct kill_rules){.faults = faults};
	import_rules(faults);
	for (unsigned i = 0; i < kills; i++)
		live(&test, faults_between(faults, 0, LIFE_MAX));
	since = faults_now();
	live(&test, 4 * LIFE_MAX);
	check_rules(&test, since);
}
