#include "support/viewer.h"

#include <poll.h>
#include <stdio.h>

#include "support/cmocka.h"

static void happened(dw *d, const dw_event *event, void *user)
{
	struct viewer *viewer = user;

	(void)d;
	viewer->events[event->kind]++;
	viewer->statuses[event->kind] = event->status;
	if (event->status != DW_OK)
		(void)snprintf(viewer->trouble, sizeof viewer->trouble, "%s", event->message);
}

int viewer_open(struct viewer *viewer, dw_options *options)
{
	options->size = sizeof *options;
	options->on_event = happened;
	options->on_event_user = viewer;
	return dw_open(&viewer->d, options, viewer->message);
}

void viewer_close(struct viewer *viewer)
{
	assert_int_equal(dw_close(viewer->d, VIEWER_PATIENCE), DW_OK);
	viewer->d = NULL;
}

void viewer_await(const struct viewer *viewer, const int *counter, int wanted)
{
	struct pollfd fd = {.fd = dw_fd(viewer->d), .events = POLLIN};

	for (int i = 0; *counter < wanted; i++) {
		assert_true(i < 1000000);
		assert_true(poll(&fd, 1, (int)(VIEWER_PATIENCE / 1000)) > 0);
		assert_int_equal(dw_turn(viewer->d), DW_OK);
	}
}

void viewer_sync(const struct viewer *viewer, int status)
{
	assert_int_equal(status, DW_OK);
	assert_int_equal(dw_sync(viewer->d, VIEWER_PATIENCE), DW_OK);
}

int viewer_answer(const struct viewer *viewer, int status)
{
	viewer_sync(viewer, status);
	return viewer->status;
}

dw_verdict viewer_due(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	((struct viewer *)user)->starts++;
	return DW_DONE;
}

void viewer_done(dw *d, const dw_result *result, void *user)
{
	(void)d;
	((struct viewer *)user)->status = result->status;
}

void viewer_page(dw *d, int status, const dw_info *infos, size_t count, const dw_cursor *next,
		 void *user)
{
	struct viewer *viewer = user;

	(void)d;
	(void)next;
	viewer->status = status;
	viewer->count = count;
	assert_true(count <= VIEWER_PAGE);
	for (size_t i = 0; i < count; i++) {
		viewer->states[i] = infos[i].state;
		(void)snprintf(viewer->ids[i], sizeof viewer->ids[i], "%s", infos[i].id);
		(void)snprintf(viewer->topics[i], sizeof viewer->topics[i], "%s", infos[i].topic);
		if (infos[i].state == DW_NEWER)
			assert_int_equal(infos[i].data_size, 0);
	}
}

void viewer_letters(dw *d, int status, const dw_dead *letters, size_t count, const dw_cursor *next,
		    void *user)
{
	struct viewer *viewer = user;

	(void)d;
	(void)next;
	assert_int_equal(status, DW_OK);
	viewer->count = count;
	viewer->newer = count > 0 && letters[0].newer;
	viewer->damaged = count > 0 && letters[0].damaged;
}

void viewer_check(dw *d, int status, const dw_check_report *report, void *user)
{
	struct viewer *viewer = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	viewer->flaws = report->flaw_count;
	if (report->flaws_shown > 0)
		(void)snprintf(viewer->flaw, sizeof viewer->flaw, "%s", report->flaws[0].what);
}
