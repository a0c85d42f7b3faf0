/* The public API of topics and their queues. */
#include "durawheel/topic.h"
#include "engine/queue/topic_calls.h"
#include "handle/handle.h"

int dw_topic_set(dw *d, const char *topic, const dw_topic_settings *settings, dw_done_fn done,
		 void *user)
{
	int status = handle_admit(d);

	return status == DW_OK ? engine_topic_set(d->engine, topic, settings,
						  (struct done){.fn = done, .user = user})
			       : status;
}

int dw_topic_change(dw *d, const char *topic, const dw_topic_settings *from,
		    const dw_topic_settings *to, dw_done_fn done, void *user)
{
	int status = handle_admit(d);

	return status == DW_OK ? engine_topic_change(d->engine, topic, from, to,
						     (struct done){.fn = done, .user = user})
			       : status;
}

int dw_topic_pause(dw *d, const char *topic, unsigned paused, dw_done_fn done, void *user)
{
	int status = handle_admit(d);

	return status == DW_OK ? engine_topic_pause(d->engine, topic, paused,
						    (struct done){.fn = done, .user = user})
			       : status;
}

int dw_topic_drop(dw *d, const char *topic, dw_done_fn done, void *user)
{
	int status = handle_admit(d);

	return status == DW_OK
		   ? engine_topic_drop(d->engine, topic, (struct done){.fn = done, .user = user})
		   : status;
}

int dw_topic_list(dw *d, const char *name, dw_topic_fn fn, void *user)
{
	int status = handle_admit(d);

	if (status == DW_OK && !fn)
		status = handle_refuse(d, DW_EINVAL, "the callback is NULL");
	return status == DW_OK ? engine_topic_list(d->engine, name, fn, user) : status;
}

/* ---- Messages ------------------------------------------------------------------------------ */

int dw_push(dw *d, const dw_timer *messages, size_t count, dw_done_fn done, void *user)
{
	int status = handle_admit(d);

	return status == DW_OK ? engine_push(d->engine, messages, count,
					     (struct done){.fn = done, .user = user})
			       : status;
}

int dw_take(dw *d, const dw_take_options *options, dw_take_fn fn, void *user)
{
	int status = handle_admit_with(d, options, "the options are NULL");

	if (status == DW_OK && !fn)
		status = handle_refuse(d, DW_EINVAL, "the callback is NULL");
	return status == DW_OK ? engine_take(d->engine, options, fn, user) : status;
}

int dw_ack(dw *d, const dw_answer *answer, dw_bulk_fn fn, void *user)
{
	int status = handle_admit_with(d, answer, "the answer is NULL");

	if (status == DW_OK && answer->verdict == DW_HOLD)
		status = handle_refuse(d, DW_EINVAL, "DW_HOLD is no answer: see dw_touch");
	return status == DW_OK ? engine_answer(d->engine, answer, fn, user) : status;
}

int dw_touch(dw *d, const char *const *tokens, size_t count, dw_bulk_fn fn, void *user)
{
	dw_answer answer = {
	    .size = sizeof answer, .tokens = tokens, .count = count, .verdict = DW_HOLD};
	int status = handle_admit(d);

	return status == DW_OK ? engine_answer(d->engine, &answer, fn, user) : status;
}
