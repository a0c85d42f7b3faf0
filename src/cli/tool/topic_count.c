#include "cli/tool/topic_count.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out/errors.h"
#include "cli/session.h"
#include "durawheel/select.h"

struct topic_walk {
	struct topic_tallies *tallies;
	bool is_owned;
	int status; /* the status of the last answer */
	dw_usec now;
	dw_cursor next;
};

static void owner_told(dw *d, int status, const dw_store_status *store, void *user)
{
	struct topic_walk *walk = user;

	(void)d;
	walk->status = status;
	walk->is_owned = status == DW_OK && store->owner && store->owner[0];
}

/* place_of returns the index of the topic, or the index at which it must be inserted. */
static size_t place_of(const struct topic_tallies *tallies, const char *name)
{
	size_t low = 0, high = tallies->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (strcmp(tallies->items[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* tally_of returns the tally of the topic, and adds it if necessary. Returns NULL if out of
 * memory. */
static struct topic_tally *tally_of(struct topic_tallies *tallies, const char *name)
{
	size_t at = place_of(tallies, name);
	struct topic_tally *items = tallies->items;

	if (at < tallies->count && strcmp(items[at].name, name) == 0)
		return &items[at];
	items = realloc(items, (tallies->count + 1) * sizeof *items);
	if (!items)
		return NULL;
	memmove(&items[at + 1], &items[at], (tallies->count++ - at) * sizeof *items);
	items[at] = (struct topic_tally){.pending = 0};
	(void)snprintf(items[at].name, sizeof items[at].name, "%s", name);
	tallies->items = items;
	return &items[at];
}

static void count_timer(struct topic_tally *tally, const dw_info *timer, dw_usec now)
{
	if (timer->state == DW_CLAIMED)
		tally->running++;
	else if (timer->due <= now)
		tally->due++;
	else
		tally->pending++;
}

static void topic_walk_told(dw *d, int status, const dw_info *timers, size_t count,
			    const dw_cursor *next, void *user)
{
	struct topic_walk *walk = user;

	(void)d;
	walk->status = status;
	if (status != DW_OK)
		return;
	walk->next = *next;
	for (size_t i = 0; i < count; i++) {
		struct topic_tally *tally = tally_of(walk->tallies, timers[i].topic);

		if (tally)
			count_timer(tally, &timers[i], walk->now);
		else
			walk->status = DW_ENOMEM;
	}
}

/* await waits for the answer to an operation. `status` is the return value of the call that
 * requested it. Returns EXIT_DONE, or complains. */
static int await(dw *d, struct topic_walk *walk, int status)
{
	int code = EXIT_DONE;

	if (status != DW_OK)
		return complain(exit_of(status), "%s", why(d, status));
	code = session_sync(d);
	if (code == EXIT_DONE && walk->status != DW_OK)
		code = complain(exit_of(walk->status), "%s", dw_strerror(walk->status));
	return code;
}

int topic_count(dw *d, struct topic_tallies *tallies)
{
	struct topic_walk walk = {.tallies = tallies, .status = DW_ESTORE, .now = session_now()};
	int code = await(d, &walk, dw_get_status(d, owner_told, &walk));

	if (code != EXIT_DONE || walk.is_owned)
		return code;
	do {
		code = await(d, &walk,
			     dw_list(d, NULL, walk.next.started ? &walk.next : NULL, DW_LIST_MAX,
				     topic_walk_told, &walk));
	} while (code == EXIT_DONE && !walk.next.ended);
	tallies->is_whole = code == EXIT_DONE;
	if (tallies->count > 0 && tallies->is_whole)
		(void)complain(EXIT_DONE,
			       "no process owns the store: all %" PRIu64
			       " timers were read to count them",
			       walk.next.looked);
	return code;
}

void topic_count_free(struct topic_tallies *tallies)
{
	free(tallies->items);
}
