#include "model/search.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/steps.h"
#include "model/store.h"

#define QUIET_STEPS_MAX 200u

static struct state first_state(const struct model *model)
{
	struct state state;

	memset(&state, 0, sizeof state);
	state.server.fence = state.server.lease = state.owner.fence = 1;
	state.owner.up = state.owner.lease = 1;
	state.server.fires = model->fire;
	state.owner.role = ROLE_OWNER;
	return state;
}

static void print_step(const char *number, const struct step *step)
{
	printf("  %5s %s", number, step->text);
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
	struct steps steps;

	for (; number && length < sizeof path / sizeof path[0]; length++) {
		path[length] = number;
		number = store_node(store, number)->parent;
	}
	for (unsigned i = length; i > 0; i--) {
		const struct node *node = store_node(store, path[i - 1]);

		moves_all(&search->model, &store_node(store, node->parent)->state, &steps);
		print_numbered(length - i + 1, &steps.items[node->step]);
	}
	return length;
}

/* unseen: the first step that leads to a state that is not among these. */
static const struct step *unseen(const struct steps *steps, const struct state *seen,
				 unsigned count)
{
	for (unsigned i = 0; i < steps->count; i++) {
		unsigned k = 0;

		while (k < count && memcmp(&seen[k], &steps->items[i].after, sizeof *seen) != 0)
			k++;
		if (k == count)
			return &steps->items[i];
	}
	return NULL;
}

/* let_end: what is promised must happen when nothing fails any more and nobody calls. From here the
 * first step that leads on is taken, until there is none. */
static enum promise let_end(const struct search *search, const struct state *from, bool printing)
{
	struct model quiet = search->model;
	struct state seen[QUIET_STEPS_MAX + 1];
	unsigned count = 1;
	struct steps steps;
	const struct step *step = NULL;

	quiet.quiet = true;
	seen[0] = *from;
	for (; count <= QUIET_STEPS_MAX; count++) {
		moves_all(&quiet, &seen[count - 1], &steps);
		step = unseen(&steps, seen, count);
		if (!step)
			break;
		if (printing)
			print_step("quiet", step);
		seen[count] = step->after;
	}
	return promises_end(&seen[count - 1]);
}

/* note counts a violation; true: it is the first of its promise, and is to be shown. */
static bool note(const struct search *search, struct found *found, enum promise broken)
{
	found->violations++;
	if (found->broken[broken]++ || !search->trace)
		return false;
	printf("%s is broken: %s\n", promise_name(broken), promise_words(broken));
	return true;
}

/* visit adds what follows on the state. A step that breaks a promise leads nowhere. */
static void visit(const struct search *search, struct store *store, uint32_t number,
		  struct found *found)
{
	const struct state *state = &store_node(store, number)->state;
	enum promise broken = let_end(search, state, false);
	struct steps steps;

	if (broken) {
		if (note(search, found, broken)) {
			(void)print_path(search, store, number);
			(void)let_end(search, state, true);
		}
		return;
	}
	moves_all(&search->model, state, &steps);
	found->transitions += steps.count;
	for (unsigned i = 0; i < steps.count; i++) {
		const struct step *step = &steps.items[i];

		if (!step->broken)
			store_add(store, &step->after, number, (uint8_t)i);
		else if (note(search, found, step->broken))
			print_numbered(print_path(search, store, number) + 1, step);
	}
}

struct found search_run(const struct search *search)
{
	struct store *store = store_new();
	struct found found = {.states = 0};
	struct state first = first_state(&search->model);
	uint32_t next = 0;

	store_add(store, &first, 0, 0);
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
