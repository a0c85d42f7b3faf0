#include "support/batches.h"

#include "support/cmocka.h"

#include <string.h>

struct batches batches;

static void write_down(char letter)
{
	assert_true(batches.size + 1 < sizeof batches.calls);
	batches.calls[batches.size++] = letter;
}

static void note(const dw_firing *firing)
{
	unsigned char letter = (unsigned char)*firing->id;

	assert_true(firing->now >= firing->due);
	assert_int_equal(firing->now, batches.h->wall);
	assert_memory_equal(firing->data, "data", firing->data_size);
	assert_string_equal(firing->token->id, firing->id);
	batches.attempts[letter] = firing->attempt;
	batches.tokens[letter] = *firing->token;
	write_down(*firing->id);
}

static void take_batch(dw *d, dw_batch *batch, void *user)
{
	struct harness *h = user;

	assert_ptr_equal(d, h);
	assert_string_equal(batch->topic, "t");
	assert_true(batch->count > 0 && batch->size == sizeof *batch);
	for (size_t i = 0; i < batch->count; i++) {
		assert_true(i == 0 || batch->firings[i].due >= batch->firings[i - 1].due);
		assert_int_equal(batch->verdicts[i], DW_DONE);
		assert_int_equal(batch->retry_in[i], -1);
		note(&batch->firings[i]);
		batch->verdicts[i] = batches.verdicts[(unsigned char)*batch->firings[i].id];
		batch->retry_in[i] = batches.retry_in;
	}
	write_down('|');
	batches.at = h->wall;
	if (batches.inside)
		batches.inside(h, batch);
}

dw_batch_fn batches_handler(void)
{
	return take_batch;
}

int batches_on(struct harness *h, size_t max, dw_usec wait, int on_worker)
{
	dw_batch_options options = {
	    .size = sizeof options, .max = max, .wait_us = wait, .on_worker = on_worker};

	if (batches.h != h)
		batches = (struct batches){.h = h, .retry_in = -1};
	return engine_on_batch(h->engine, "t", &options, take_batch, h);
}

struct harness *batches_begin(struct harness *h, dw_usec wait, int on_worker)
{
	batches.h = NULL; /* the harness of another test may have had the same address */
	assert_int_equal(batches_on(h, BATCH_OF, wait, on_worker), DW_OK);
	harness_turn(h);
	return h;
}

void batches_put(struct harness *h, char first, int count, dw_usec step)
{
	for (int i = 0; i < count; i++) {
		char id[2] = {(char)(first + i), '\0'};

		assert_int_equal(harness_put(h, id, i * step), DW_OK);
	}
	batches_pass(h, 0);
}

void batches_pass(struct harness *h, dw_usec duration)
{
	harness_pass(h, duration);
	assert_int_equal(engine_check(h->engine), 0);
}
