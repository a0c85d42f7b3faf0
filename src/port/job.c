#include "port/job.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

/* The bytes of one firing in the arrays behind a job. Each array keeps the alignment of the array
 * behind it. */
#define ITEM_SIZE (sizeof(dw_firing) + sizeof(dw_token) + sizeof(dw_usec) + sizeof(dw_verdict))

static_assert(sizeof(struct job) % sizeof(dw_usec) == 0 &&
		  sizeof(dw_firing) % sizeof(dw_usec) == 0 &&
		  sizeof(dw_token) % sizeof(dw_usec) == 0,
	      "the arrays behind a job are aligned");

struct job *job_new(const struct alloc *alloc, const char *topic, size_t count, size_t data_size)
{
	bool copies = data_size != SIZE_MAX;
	struct job *job =
	    alloc_new(alloc, sizeof *job + count * ITEM_SIZE + (copies ? data_size : 0));

	if (!job)
		return NULL;
	job->post.is_job = true;
	job->firings = (dw_firing *)(job + 1);
	job->tokens = (dw_token *)(job->firings + count);
	job->retry_in = (dw_usec *)(job->tokens + count);
	job->verdicts = (dw_verdict *)(job->retry_in + count);
	job->room = copies ? (unsigned char *)(job->verdicts + count) : NULL;
	memcpy(job->topic, topic, strlen(topic) + 1);
	return job;
}

static const void *keep(struct job *job, const void *data, size_t size)
{
	void *kept = job->room;

	if (!kept)
		return data;
	if (size > 0)
		memcpy(kept, data, size);
	job->room += size;
	return kept;
}

void job_add(struct job *job, const dw_firing *firing)
{
	size_t i = job->count++;

	job->tokens[i] = *firing->token;
	job->retry_in[i] = -1;
	job->verdicts[i] = DW_DONE;
	job->firings[i] = *firing;
	job->firings[i].id = job->tokens[i].id;
	job->firings[i].topic = job->topic;
	job->firings[i].data = keep(job, firing->data, firing->data_size);
	job->firings[i].token = &job->tokens[i];
}

void job_begin(struct job *job, dw_usec now)
{
	job->started = true;
	for (size_t i = 0; i < job->count; i++) {
		job->firings[i].now = now;
		job->started = job->started && now >= job->firings[i].due;
	}
}

void job_run(struct job *job, dw *handle)
{
	dw_batch batch = {.size = sizeof batch,
			  .topic = job->topic,
			  .firings = job->firings,
			  .count = job->count,
			  .verdicts = job->verdicts,
			  .retry_in = job->retry_in};

	if (job->fire_batch)
		job->fire_batch(handle, &batch, job->user);
	else
		job->verdicts[0] = job->fire(handle, job->firings, job->user);
}
