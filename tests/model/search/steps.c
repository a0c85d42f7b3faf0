#include "model/search/steps.h"

#include <assert.h>
#include <string.h>

struct step *steps_add(struct steps *steps, const struct state *before, const char *text)
{
	unsigned char *after = steps->states[steps->count];
	struct step *step = &steps->items[steps->count++];

	assert(steps->count <= STEPS_MAX && steps->size <= STATE_MAX);
	memcpy(after, before, steps->size);
	*step = (struct step){.after = (struct state *)(void *)after, .text = text};
	return step;
}
