#include "store/sqlite/hooks.h"

#include <stdarg.h>
#include <stdio.h>

enum { LINE_SIZE = 512 };

void sqlite_outlet_init(struct sqlite_outlet *outlet, const dw_store_env *env)
{
	(void)pthread_mutex_init(&outlet->mutex, NULL); /* never fails without attributes */
	outlet->env = env;
	outlet->shut = false;
	outlet->now = 0;
}

void sqlite_outlet_free(struct sqlite_outlet *outlet)
{
	(void)pthread_mutex_destroy(&outlet->mutex); /* nobody holds it any more */
}

void sqlite_outlet_shut(struct sqlite_outlet *outlet)
{
	pthread_mutex_lock(&outlet->mutex);
	outlet->shut = true;
	pthread_mutex_unlock(&outlet->mutex);
}

dw_usec sqlite_outlet_now(struct sqlite_outlet *outlet)
{
	dw_usec now;

	pthread_mutex_lock(&outlet->mutex);
	if (!outlet->shut)
		outlet->now = outlet->env->now(outlet->env->now_user);
	now = outlet->now;
	pthread_mutex_unlock(&outlet->mutex);
	return now;
}

void sqlite_outlet_wake(struct sqlite_outlet *outlet)
{
	pthread_mutex_lock(&outlet->mutex);
	if (!outlet->shut)
		outlet->env->wake(outlet->env->wake_user);
	pthread_mutex_unlock(&outlet->mutex);
}

void sqlite_outlet_log(struct sqlite_outlet *outlet, dw_log_level level, const char *format, ...)
{
	char line[LINE_SIZE];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(line, sizeof line, format, arguments); /* a long line is cut */
	va_end(arguments);
	pthread_mutex_lock(&outlet->mutex);
	if (!outlet->shut && outlet->env->log)
		outlet->env->log(level, line, outlet->env->log_user);
	pthread_mutex_unlock(&outlet->mutex);
}
