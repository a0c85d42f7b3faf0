/* The public calls by which a handler says more than its verdict, and the public call that asks for
 * the end of a timer. */
#include "durawheel/ended.h"

#include "base/utf8.h"
#include "handle/handle.h"

/* job_here returns the job whose handler makes this call on a worker's thread, or NULL. */
static struct job *job_here(dw *d, int admitted)
{
	return admitted == DW_ETHREAD && d->workers ? workers_job(d->workers) : NULL;
}

int dw_retry_in(dw *d, dw_usec delay)
{
	int status = handle_admit(d);
	struct job *job = job_here(d, status);

	if (status == DW_OK)
		return engine_retry_in(d->engine, delay);
	if (!job)
		return status;
	if (delay < 0)
		return handle_refuse(d, DW_EINVAL, "the delay is negative");
	if (job->fire_batch)
		return handle_refuse(d, DW_EINVAL, "a batch has dw_batch.retry_in");
	job->retry_in[0] = delay;
	return DW_OK;
}

int dw_start(dw *d, const dw_token *token)
{
	int status = handle_admit(d);

	if (status != DW_OK)
		return status;
	return token ? engine_started(d->engine, token)
		     : handle_refuse(d, DW_EINVAL, "the token is NULL");
}

static int send_saying(dw *d, const dw_token *token, const struct saying *saying)
{
	struct request say = {.kind = REQUEST_SAY, .token = token, .saying = *saying};

	return handle_ask(d, &say);
}

/* say_here keeps what is said about the delivery whose handler makes this call. A handler of a
 * batch is refused; `instead` names what it must call. */
static int say_here(dw *d, const struct saying *saying, const char *instead)
{
	int status = handle_admit(d);
	struct job *job = job_here(d, status);

	if (status == DW_OK)
		return engine_say(d->engine, saying);
	if (!job)
		return status;
	if (job->fire_batch)
		return handle_refuse(d, DW_EINVAL, instead);
	return send_saying(d, job->tokens, saying);
}

/* clean writes the text as a clean line of at most DW_WHY_MAX bytes. */
static struct saying clean(const char *text, char line[DW_WHY_MAX + 1])
{
	return (struct saying){.kind = SAID_WHY,
			       .bytes = text ? line : NULL,
			       .size = utf8_clean(text ? text : "", line, DW_WHY_MAX + 1)};
}

/* say_of keeps what is said about the delivery of the token. Without a token it is the delivery
 * whose handler makes this call. */
static int say_of(dw *d, const dw_token *token, const struct saying *saying, const char *instead)
{
	return token ? send_saying(d, token, saying) : say_here(d, saying, instead);
}

int dw_set_why(dw *d, const dw_token *token, const char *text)
{
	char line[DW_WHY_MAX + 1];
	const struct saying saying = clean(text, line);

	return say_of(d, token, &saying, "dw_set_why needs the token of one of the batch");
}

int dw_set_result(dw *d, const dw_token *token, const void *data, size_t size)
{
	/* A result without bytes may have the pointer NULL. */
	const struct saying saying = {
	    .kind = SAID_RESULT, .bytes = data || size > 0 ? data : "", .size = size};

	return say_of(d, token, &saying, "dw_set_result needs the token of one of the batch");
}

int dw_ended_get(dw *d, const char *id, dw_ended_fn fn, void *user)
{
	int status = handle_admit_with(d, id && fn ? id : NULL, "the id or the callback is NULL");

	return status == DW_OK ? engine_ended(d->engine, id, (struct end_asker){fn, user}) : status;
}
