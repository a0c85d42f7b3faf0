#include "support/seen.h"

#include <stdio.h>
#include <string.h>

#include "support/cmocka.h"

dw_verdict on_due(dw *d, const dw_firing *firing, void *user)
{
	struct seen *seen = user;

	seen->attempt = firing->attempt;
	(void)snprintf(seen->data, sizeof seen->data, "%.*s", (int)firing->data_size,
		       (const char *)firing->data);
	assert_true(firing->now >= firing->due);
	if (++seen->starts == seen->stop_at)
		dw_stop(d);
	return seen->verdict;
}

void on_done(dw *d, const dw_result *result, void *user)
{
	struct seen *seen = user;

	(void)d;
	seen->answers++;
	seen->status = result->status;
	seen->level = result->level;
}

dw *open_store(const char *url, dw_role role)
{
	dw_options options = {.size = sizeof options, .store = url, .role = role};
	char message[DW_MESSAGE_SIZE];
	dw *d = NULL;

	if (dw_open(&d, &options, message) != DW_OK)
		fail_msg("%s", message);
	return d;
}

void refused(const dw_options *options, int status, const char *word)
{
	char message[DW_MESSAGE_SIZE];
	dw *d = (dw *)message; /* dw_open() must not change it on failure */

	assert_int_equal(dw_open(&d, options, message), status);
	assert_ptr_equal(d, message);
	if (!strstr(message, word))
		fail_msg("\"%s\" does not say \"%s\"", message, word);
}

uint64_t known_timers(const dw *d)
{
	dw_stats stats = {.size = sizeof stats};

	assert_int_equal(dw_get_stats(d, &stats), DW_OK);
	return stats.timers;
}
