#include "model/search/search.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/search/steps.h"
#include "model/search/store.h"

#define QUIET_STEPS_MAX 200u

static void print_step(const char *number, const struct step *step)
{
	printf("  %5s ", number);
	if (step->who)
		printf("%s%s", step->who, step->text[0] == '\'' ? "" : " ");
	printf("%s", step->text);
	if (step->generation)
		printf(", g%u", step->generation);
	if (step->attempt)
		printf(", attempt %u", step->attempt);
	putchar('\n');
}

static void print_numbered(unsigned number, const struct step *step)
{
	char text[16];

	(void)snprintf(text, sizeof text, "%u.", number);
	print_step(text, step);
}

/* print_path: the steps from the first state to this one; their count. */
static unsigned print_path(const struct search *search, const struct store *store, uint32_t number)
{
	uint32_t path[256];
	unsigned length = 0;
	struct steps steps = {.size = search->subject->size};

	for (; number && length < sizeof path / sizeof path[0]; length++) {
		path[length] = number;
		number = store_node(store, number)->parent;
	}
	for (unsigned i = length; i > 0; i--) {
		const struct node *node = store_node(store, path[i - 1]);

		search->subject->moves(search->model, store_state(store, node->parent), &steps);
		print_numbered(length - i + 1, &steps.items[node->step]);
	}
	return length;
}

/* A path without faults, from a state to its end. */
struct quiet_path {
	unsigned count;
	unsigned char states[QUIET_STEPS_MAX + 1][STATE_MAX];
};

static const struct state *last_of(const struct quiet_path *path)
{
	return (const struct state *)(const void *)path->states[path->count - 1];
}

static void lead_on(struct quiet_path *path, const struct state *state, size_t size)
{
	memcpy(path->states[path->count++], state, size);
}

/* unseen: the first step that leads to a state that is not on the path. */
static const struct step *unseen(const struct steps *steps, const struct quiet_path *path)
{
	for (unsigned i = 0; i < steps->count; i++) {
		unsigned k = 0;

		while (k < path->count &&
		       memcmp(path->states[k], steps->items[i].after, steps->size) != 0)
			k++;
		if (k == path->count)
			return &steps->items[i];
	}
	return NULL;
}

/* let_end: what is promised must happen when nothing fails any more and nobody calls. From here the
 * first step that leads on is taken, until there is none. */
static unsigned let_end(const struct search *search, const struct state *from, bool printing)
{
	struct quiet_path path = {.count = 0};
	struct steps steps = {.size = search->subject->size};

	lead_on(&path, from, steps.size);
	while (path.count <= QUIET_STEPS_MAX) {
		const struct step *step = NULL;

		search->subject->moves(search->quiet, last_of(&path), &steps);
		step = unseen(&steps, &path);
		if (!step)
			break;
		if (printing)
			print_step("quiet", step);
		lead_on(&path, step->after, steps.size);
	}
	return search->subject->end(last_of(&path));
}

/* note counts a violation; true: it is the first of its promise, and is to be shown. */
static bool note(const struct search *search, struct found *found, unsigned broken)
{
	found->violations++;
	if (found->broken[broken]++ || !search->trace)
		return false;
	printf("%s is broken: %s\n", search->subject->name(broken), search->subject->words(broken));
	return true;
}

/* visit adds what follows on the state. A step that breaks a promise leads nowhere. */
static void visit(const struct search *search, struct store *store, uint32_t number,
		  struct found *found)
{
	const struct state *state = store_state(store, number);
	unsigned broken = search->quiet ? let_end(search, state, false) : 0;
	struct steps steps = {.size = search->subject->size};

	if (broken) {
		if (note(search, found, broken)) {
			(void)print_path(search, store, number);
			(void)let_end(search, state, true);
		}
		return;
	}
	search->subject->moves(search->model, state, &steps);
	found->transitions += steps.count;
	for (unsigned i = 0; i < steps.count; i++) {
		const struct step *step = &steps.items[i];

		if (!step->broken)
			store_add(store, step->after, number, (uint8_t)i);
		else if (note(search, found, step->broken))
			print_numbered(print_path(search, store, number) + 1, step);
	}
}

static void add_first(const struct search *search, struct store *store)
{
	unsigned char bytes[STATE_MAX] = {0};
	struct state *first = (struct state *)(void *)bytes;

	search->subject->first(search->model, first);
	store_add(store, first, 0, 0);
}

struct found search_run(const struct search *search)
{
	struct store *store = store_new(search->subject->size);
	struct found found = {.states = 0};
	uint32_t next = 0;

	add_first(search, store);
	for (; next < store_count(store) && store_count(store) < search->limit; next++) {
		visit(search, store, next, &found);
		if (search->until && found.broken[search->until])
			break;
	}
	found.states = store_count(store);
	found.complete = next == found.states;
	store_free(store);
	return found;
}
