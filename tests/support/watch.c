#include "support/watch.h"

#include <stdio.h>
#include <stdlib.h>

static void on_event(dw *d, const dw_event *event, void *user)
{
	struct seen *seen = user;

	(void)d;
	if (event->kind == DW_EVENT_RECOVERED)
		return;
	seen->events++;
	seen->event = event->kind;
}

static void on_log(dw_log_level level, const char *line, void *user)
{
	struct seen *seen = user;

	(void)level;
	(void)snprintf(seen->log, sizeof seen->log, "%s", line);
}

static void *resize(void *user, void *block, size_t size)
{
	struct seen *seen = user;

	if (size == 0) {
		free(block);
		return NULL;
	}
	return atomic_load(&seen->no_memory) ? NULL : realloc(block, size);
}

dw_options seen_options(struct seen *seen)
{
	*seen =
	    (struct seen){.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	return (dw_options){.size = sizeof(dw_options),
			    .store = "memory:",
			    .on_event = on_event,
			    .on_event_user = seen,
			    .on_log = on_log,
			    .on_log_user = seen,
			    .resize = resize,
			    .resize_user = seen};
}

void seen_open(struct seen *seen, size_t posted_max_bytes)
{
	dw_options options = seen_options(seen);

	options.posted_max_bytes = posted_max_bytes;
	if (dw_open(&seen->d, &options, NULL) != DW_OK)
		abort();
}

void seen_done(dw *d, const dw_result *result, void *user)
{
	struct seen *seen = user;

	(void)d;
	pthread_mutex_lock(&seen->mutex);
	seen->answers++;
	seen->failures += result->status != DW_OK;
	seen->status = result->status;
	pthread_cond_broadcast(&seen->changed);
	pthread_mutex_unlock(&seen->mutex);
}

void seen_stop(dw *d, void *arg)
{
	(void)arg;
	dw_stop(d);
}

int seen_put(dw *d, const char *id, struct seen *seen)
{
	dw_timer timer = {.size = sizeof timer,
			  .id = id,
			  .topic = "t",
			  .due = DW_NEVER,
			  .data = "data",
			  .data_size = 4};

	return dw_put(d, &timer, seen_done, seen);
}

void seen_in_thread(void *(*body)(void *), struct seen *seen)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, seen) != 0 || pthread_join(thread, NULL) != 0)
		abort();
}
