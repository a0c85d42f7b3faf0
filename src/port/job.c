#include "port/job.h"

#include <string.h>

struct job *job_new(const struct alloc *alloc, const dw_token *token, const char *topic,
		    const void *data, size_t size)
{
	struct job *job = alloc_new(alloc, sizeof *job + size);

	if (!job)
		return NULL;
	job->post.is_job = true;
	job->retry_in = -1;
	job->token = *token;
	memcpy(job->topic, topic, strlen(topic) + 1);
	if (size > 0)
		memcpy(job + 1, data, size);
	job->firing = (dw_firing){.size = sizeof job->firing,
				  .id = job->token.id,
				  .topic = job->topic,
				  .attempt = token->attempt,
				  .data = job + 1,
				  .data_size = size,
				  .token = &job->token};
	return job;
}
