#include "model/steps.h"

#include <assert.h>

struct step *steps_add(struct steps *steps, const struct state *before, const char *text)
{
	struct step *step = &steps->items[steps->count++];

	assert(steps->count <= STEPS_MAX);
	*step = (struct step){.after = *before, .text = text};
	return step;
}
