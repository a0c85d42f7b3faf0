#include "store/sqlite/hooks.h"

#include <stdarg.h>
#include <stdio.h>

enum { LINE_SIZE = 512 };

void sqlite_hooks_init(struct sqlite_hooks *hooks, const dw_store_env *env)
{
	(void)pthread_mutex_init(&hooks->mutex, NULL); /* never fails without attributes */
	hooks->env = env;
	hooks->shut = false;
	hooks->now = 0;
}

void sqlite_hooks_free(struct sqlite_hooks *hooks)
{
	(void)pthread_mutex_destroy(&hooks->mutex); /* no thread holds it any more */
}

void sqlite_hooks_shut(struct sqlite_hooks *hooks)
{
	pthread_mutex_lock(&hooks->mutex);
	hooks->shut = true;
	pthread_mutex_unlock(&hooks->mutex);
}

dw_usec sqlite_hooks_now(struct sqlite_hooks *hooks)
{
	dw_usec now;

	pthread_mutex_lock(&hooks->mutex);
	if (!hooks->shut)
		hooks->now = hooks->env->now(hooks->env->now_user);
	now = hooks->now;
	pthread_mutex_unlock(&hooks->mutex);
	return now;
}

void sqlite_hooks_wake(struct sqlite_hooks *hooks)
{
	pthread_mutex_lock(&hooks->mutex);
	if (!hooks->shut)
		hooks->env->wake(hooks->env->wake_user);
	pthread_mutex_unlock(&hooks->mutex);
}

void sqlite_hooks_log(struct sqlite_hooks *hooks, dw_log_level level, const char *format, ...)
{
	char line[LINE_SIZE];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(line, sizeof line, format, arguments); /* a long line is cut */
	va_end(arguments);
	pthread_mutex_lock(&hooks->mutex);
	if (!hooks->shut && hooks->env->log)
		hooks->env->log(level, line, hooks->env->log_user);
	pthread_mutex_unlock(&hooks->mutex);
}
