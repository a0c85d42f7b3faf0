/* A damaged timer in a file: reported, set aside, never fired; and dropped, but not requeued. */
#include "support/cmocka.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "durawheel/durawheel.h"
#include "support/temp.h"
#include "timer/record.h"

#define PATIENCE DW_SECONDS(60) /* far beyond what a loaded machine needs */

struct seen {
	int starts;
	int corrupt;
	int dead;
	int status;
	size_t letters;
	dw_dead letter;
	char message[DW_MESSAGE_SIZE]; /* of the last DW_EVENT_CORRUPT */
};

static dw_verdict on_due(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	((struct seen *)user)->starts++;
	return DW_DONE;
}

static void on_event(dw *d, const dw_event *event, void *user)
{
	struct seen *seen = user;

	(void)d;
	if (event->kind == DW_EVENT_CORRUPT) {
		seen->corrupt++;
		(void)snprintf(seen->message, sizeof seen->message, "%s", event->message);
	}
	if (event->kind == DW_EVENT_DEAD) {
		assert_int_equal(event->status, DW_ECORRUPT);
		assert_string_equal(event->id, "a");
		seen->dead++;
		dw_stop(d);
	}
}

static void on_done(dw *d, const dw_result *result, void *user)
{
	(void)d;
	((struct seen *)user)->status = result->status;
}

static void on_page(dw *d, int status, const dw_dead *letters, size_t count, const dw_cursor *next,
		    void *user)
{
	struct seen *seen = user;

	(void)d;
	(void)next;
	assert_int_equal(status, DW_OK);
	seen->letters = count;
	if (count > 0)
		seen->letter = letters[0];
}

static dw *open_store(const char *url, struct seen *seen)
{
	dw_options options = {
	    .size = sizeof options, .store = url, .on_event = on_event, .on_event_user = seen};
	char message[DW_MESSAGE_SIZE];
	dw *d = NULL;

	if (dw_open(&d, &options, message) != DW_OK)
		fail_msg("%s", message);
	return d;
}

static void change(const char *path, const char *sql)
{
	sqlite3 *handle = NULL;

	assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
	assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(handle), SQLITE_OK);
}

static void look(dw *d, struct seen *seen)
{
	assert_int_equal(dw_dead_list(d, NULL, NULL, 10, on_page, seen), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
}

static void damaged_timer_becomes_a_dead_letter(void **state)
{
	char folder[TEMP_SIZE];
	char path[TEMP_SIZE];
	char url[TEMP_SIZE + 8];
	struct seen seen = {0};
	dw *d;

	(void)state;
	temp_make(folder);
	(void)snprintf(url, sizeof url, "sqlite:%s", temp_file(path, folder, "t.db"));
	d = open_store(url, &seen);
	assert_int_equal(dw_at(d, "t", "a", 0, "data", 4), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	change(path, "UPDATE timer SET due = due + 1");
	d = open_store(url, &seen);
	assert_int_equal(dw_on(d, "*", on_due, &seen), DW_OK);
	assert_int_equal(dw_run(d), DW_OK); /* until it is set aside */
	assert_int_equal(seen.corrupt, 1);
	assert_int_equal(seen.dead, 1);
	look(d, &seen);
	assert_int_equal(seen.letters, 1);
	assert_int_equal(seen.letter.reason, DW_REASON_CORRUPT);
	assert_int_equal(seen.letter.damaged, 1);
	assert_int_equal(dw_dead_requeue(d, "a", 0, 0, on_done, &seen), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(seen.status, DW_ECORRUPT);
	assert_int_equal(dw_dead_drop(d, NULL, 1, NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_dead_drop(d, "a", seen.letter.generation, on_done, &seen), DW_OK);
	look(d, &seen);
	assert_int_equal(seen.status, DW_OK);
	assert_int_equal(seen.letters, 0);
	assert_int_equal(seen.starts, 0);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	temp_remove(folder);
}

/* change_topic gives all timers a topic of this size; the checksum of the body is right. */
static void change_topic(const char *path, size_t size)
{
	unsigned char body[RECORD_HEADER_SIZE + 256];
	char topic[UINT8_MAX], sql[2 * sizeof body + 100];
	struct record record = {
	    .id = "a", .id_size = 1, .topic = topic, .topic_size = (uint8_t)size};
	int at = snprintf(sql, sizeof sql, "UPDATE timer SET body = x'");

	memset(topic, 't', sizeof topic);
	record_encode(&record, body);
	for (size_t i = 0; i < record_size(&record); i++)
		at += snprintf(sql + at, sizeof sql - (size_t)at, "%02x", body[i]);
	(void)snprintf(sql + at, sizeof sql - (size_t)at, "'"); /* it fits */
	change(path, sql);
}

static void timer_beyond_a_limit_is_reported_with_the_limit(void **state)
{
	char folder[TEMP_SIZE];
	char path[TEMP_SIZE];
	char url[TEMP_SIZE + 8];
	struct seen seen = {0};
	dw *d;

	(void)state;
	temp_make(folder);
	(void)snprintf(url, sizeof url, "sqlite:%s", temp_file(path, folder, "orders.db"));
	d = open_store(url, &seen);
	assert_int_equal(dw_at(d, "t", "a", 0, "data", 4), DW_OK);
	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	change_topic(path, 200);
	d = open_store(url, &seen);
	assert_int_equal(dw_run(d), DW_OK); /* until it is set aside */
	assert_string_equal(seen.message,
			    "a has a topic of 200 bytes, at most 63 are allowed: it is not fired");
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	temp_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(damaged_timer_becomes_a_dead_letter),
	    cmocka_unit_test(timer_beyond_a_limit_is_reported_with_the_limit),
	};

	return cmocka_run_group_tests_name("dead_sqlite", tests, NULL, NULL);
}
