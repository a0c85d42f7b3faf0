#include "engine/due/late.h"

void late_close(struct late *late)
{
	late->is_open = false;
}

static void begin(struct late *late)
{
	unsigned next = (late->last + 1) % LATE_BATCHES;

	late->is_open = true;
	if (late->batches[next].left > 0)
		return;
	late->last = next;
	late->batches[next] = (struct late_batch){.due = DW_NEVER};
}

uint8_t late_add(struct late *late, dw_usec due)
{
	struct late_batch *batch;

	if (!late->is_open)
		begin(late);
	batch = &late->batches[late->last];
	batch->due = usec_min(batch->due, due);
	batch->left++;
	late->left++;
	return (uint8_t)(late->last + 1);
}

void late_answered(struct late *late, uint8_t number)
{
	if (number == 0)
		return;
	late->batches[number - 1].left--;
	late->left--;
}

bool late_waits(struct late *late, dw_usec due, dw_usec steady)
{
	for (unsigned i = 0; late->left > 0 && i < LATE_BATCHES; i++) {
		struct late_batch *batch = &late->batches[i];

		if (batch->left == 0 || batch->due > due)
			continue;
		if (batch->until == 0)
			batch->until = usec_add(steady, LATE_PATIENCE);
		if (steady < batch->until)
			return true;
	}
	return false;
}
