/* The owner of timers that keep their ends is killed repeatedly. After each kill an id has its
 * timer or its end, and never both, because the step that ends the timer also stores its end. */
#include "faults/faults.h"
#include "faults/process.h"

#include <stdio.h>
#include <stdlib.h>

#include "durawheel/ended.h"

enum { TIMERS = 2000, KILLS = 25, KILLS_LONG = 200, ID_SIZE = 16 };

#define SPREAD_MS 3000
#define LIFE_MAX (DW_MILLISECONDS(250) * faults_slowness())
#define PATIENCE (DW_SECONDS(30) * faults_slowness())

/* What the store has for an id. */
struct found {
	bool timer, ended;
	int failed; /* an unexpected status of a call */
};

static void import_timers(struct faults *faults)
{
	char path[TEMP_SIZE];
	FILE *file = fopen(temp_file(path, faults->folder, "timers.ndjson"), "w");
	const char *const argv[] = {faults->command, "import", "--store",
				    faults->store,   path,     NULL};
	struct process import;

	if (!file)
		abort();
	for (int i = 0; i < TIMERS; i++)
		(void)fprintf(file,
			      "{\"id\":\"%d\",\"topic\":\"t\",\"in\":\"%dms\",\"keep\":\"1d\"}\n",
			      i, (int)(rng_below(&faults->rng, SPREAD_MS))); /* fclose() checks */
	if (fclose(file) != 0)
		abort();
	process_start(&import, argv);
	if (!process_wait(&import) || import.code != 0)
		faults_fail(faults, "import: exit %d, %s", import.code, stream_text(&import.err));
	process_free(&import);
}

/* live runs an owner for the given time, and kills it. */
static void live(struct faults *faults, dw_usec span)
{
	const char *const argv[] = {faults->command, "run", "--store", faults->store, NULL};
	dw_usec until = faults_now() + span;
	struct process owner, *one = &owner;

	process_start(&owner, argv);
	while (faults_now() < until && owner.pid != 0)
		process_poll(&one, 1, until);
	if (owner.pid == 0)
		faults_fail(faults, "the owner ended by itself: %s", stream_text(&owner.err));
	process_kill(&owner);
	process_free(&owner);
}

static void timer_told(dw *d, int status, const dw_info *timers, size_t count,
		       const dw_cursor *next, void *user)
{
	struct found *found = user;

	(void)d;
	(void)timers;
	(void)next;
	found->timer = status == DW_OK && count == 1;
	if (status != DW_OK && status != DW_ENOENT)
		found->failed = status;
}

static void end_told(dw *d, int status, const dw_ended *ended, void *user)
{
	struct found *found = user;

	(void)d;
	found->ended = status == DW_OK && ended->end == DW_END_DONE && ended->started > 0;
	if ((status != DW_OK && status != DW_ENOENT) || (status == DW_OK && !found->ended))
		found->failed = status;
}

/* look_at_all returns how many ids have an end. */
static int look_at_all(struct faults *faults, unsigned kill)
{
	dw_options options = {.size = sizeof options, .store = faults->store, .role = DW_CLIENT};
	static struct found all[TIMERS];
	char ids[TIMERS][ID_SIZE];
	int ended = 0;
	dw *d;

	if (dw_open(&d, &options, NULL) != DW_OK)
		abort();
	for (int i = 0; i < TIMERS; i++) {
		all[i] = (struct found){0};
		(void)snprintf(ids[i], ID_SIZE, "%d", i);
		if (dw_get(d, ids[i], timer_told, &all[i]) != DW_OK ||
		    dw_ended_get(d, ids[i], end_told, &all[i]) != DW_OK)
			abort();
	}
	if (dw_sync(d, PATIENCE) != DW_OK || dw_close(d, PATIENCE) != DW_OK)
		abort();
	for (int i = 0; i < TIMERS; i++) {
		ended += all[i].ended;
		if (all[i].failed || all[i].timer == all[i].ended)
			faults_fail(faults, "kill %u: %d has %s", kill, i,
				    all[i].failed  ? "a wrong answer"
				    : all[i].timer ? "a timer and its end"
						   : "neither a timer nor its end");
	}
	return ended;
}

void kill_ends(struct faults *faults)
{
	unsigned kills = (unsigned)faults_amount(faults, KILLS, KILLS_LONG);
	int ended = 0, before, in_between = 0;

	import_timers(faults);
	for (unsigned i = 1; i <= kills; i++) {
		live(faults, faults_between(faults, 0, LIFE_MAX));
		before = ended;
		ended = look_at_all(faults, i);
		in_between += ended > before && ended < TIMERS;
		if (ended < before)
			faults_fail(faults, "kill %u: %d ends are lost", i, before - ended);
	}
	live(faults, DW_MILLISECONDS(SPREAD_MS) + 4 * LIFE_MAX);
	if (look_at_all(faults, kills + 1) != TIMERS)
		faults_fail(faults, "some timers have not ended");
	(void)printf("    %u kills, %d of them among ends\n", kills, in_between); /* for people */
	if (in_between == 0 && kills >= KILLS) /* few kills may all miss the ends */
		faults_fail(faults, "no kill was in the middle");
}
