/* Reads the answers that a command of `durawheel work` writes to its descriptor 3. The command
 * writes a line for each message whose answer does not follow from the exit code:
 * {"token":"...","verdict":"retry","in":"1m","why":"..."}. */
#ifndef DW_CLI_WORK_ANSWERS_H
#define DW_CLI_WORK_ANSWERS_H

#include "cli/run/jobs.h"

struct work_answer {
	dw_verdict verdict;
	dw_usec retry_in; /* 0 means the topic's own delay */
	const char *why;  /* may be NULL; it lives until the callback returns */
};

/* work_answers_read reads all lines, and calls fn for each message of the job that a line names.
 * Only the first answer to a message counts. It complains about invalid lines. If such a line names
 * a message, the answer is DW_RETRY, so that the exit code does not settle the message. */
void work_answers_read(struct exec_job *,
		       void (*fn)(struct job_item *, const struct work_answer *, void *user),
		       void *user);

#endif
