#include "support/ruled.h"

#include <stdio.h>
#include <string.h>

#include "support/cmocka.h"

static void ruled_event(dw *d, const dw_event *event, void *user)
{
	struct ruled *seen = user;

	(void)d;
	seen->events[event->kind]++;
	if (event->kind == DW_EVENT_MISSED)
		seen->missed = event->count;
	if (event->kind == DW_EVENT_ZONE)
		seen->waiting = event->count;
}

void ruled_open(struct ruled *seen, unsigned workers)
{
	dw_options options = {.size = sizeof options,
			      .store = "memory:",
			      .flags = DW_TEST_CLOCK,
			      .workers = workers,
			      .on_event = ruled_event,
			      .on_event_user = seen};

	*seen = (struct ruled){.verdict = DW_DONE};
	assert_int_equal(dw_open(&seen->d, &options, NULL), DW_OK);
}

void ruled_keep(struct ruled *seen, const dw_firing *firing)
{
	if (seen->count < STARTS_MAX)
		seen->starts[seen->count] = (struct start){
		    firing->now, firing->occurrence, firing->missed, firing->attempt, firing->last};
	seen->count++;
	seen->token = *firing->token;
}

dw_verdict ruled_start(dw *d, const dw_firing *firing, void *user)
{
	struct ruled *seen = user;

	ruled_keep(seen, firing);
	if (seen->count != seen->retry_at)
		return seen->verdict;
	(void)dw_retry_in(d, DW_SECONDS(2));
	return DW_RETRY;
}

void ruled_answer(dw *d, const dw_result *result, void *user)
{
	struct ruled *seen = user;

	(void)d;
	seen->status = result->status;
	seen->generation = result->generation;
}

static void ruled_page(dw *d, int status, const dw_info *timers, size_t count,
		       const dw_cursor *next, void *user)
{
	struct ruled *seen = user;

	(void)d;
	(void)next;
	seen->status = status == DW_OK && count == 0 ? DW_ENOENT : status;
	if (seen->status != DW_OK)
		return;
	(void)snprintf(seen->rule, sizeof seen->rule, "%s", timers->rule ? timers->rule : "");
	seen->due = timers->due;
	seen->state = timers->state;
}

dw_usec ruled_time(const char *text)
{
	dw_usec time = 0;

	assert_int_equal(dw_parse_time(text, &time), DW_OK);
	return time;
}

int ruled_put(struct ruled *seen, const char *text)
{
	dw_timer timer = {.size = sizeof timer, .id = "a", .topic = "t"};
	dw_rule *rule = NULL;
	char message[DW_MESSAGE_SIZE];
	int status;

	if (dw_rule_parse(text, &rule, message) != DW_OK)
		fail_msg("%s: %s", text, message);
	timer.rule = rule;
	seen->status = 1;
	status = dw_put(seen->d, &timer, ruled_answer, seen);
	dw_rule_free(rule);
	if (status != DW_OK)
		return status;
	assert_int_equal(dw_sync(seen->d, DW_SECONDS(10)), DW_OK);
	return seen->status;
}

void ruled_look(struct ruled *seen)
{
	assert_int_equal(dw_get(seen->d, "a", ruled_page, seen), DW_OK);
	assert_int_equal(dw_sync(seen->d, DW_SECONDS(10)), DW_OK);
}

void ruled_advance(struct ruled *seen, const char *until)
{
	assert_int_equal(dw_test_advance(seen->d, ruled_time(until)), DW_OK);
}

void assert_start(const struct ruled *seen, size_t at, const char *now, const char *occurrence,
		  uint32_t missed)
{
	assert_true(at < seen->count);
	assert_int_equal(seen->starts[at].now, ruled_time(now));
	assert_int_equal(seen->starts[at].occurrence, ruled_time(occurrence));
	assert_int_equal(seen->starts[at].missed, missed);
}

void assert_on_time(const struct ruled *seen, size_t at, const char *now)
{
	assert_start(seen, at, now, now, 0);
}
