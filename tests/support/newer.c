#include "support/newer.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc.h"
#include "support/cmocka.h"
#include "timer/record.h"

#if DW_WITH_REDIS
#include "store/redis/wire/value.h"
#endif

#if DW_WITH_SQLITE
#include <sqlite3.h>
#endif

enum { AT_VERSION = 3, AT_SIZE = 4, AT_CRC = 8, AT_ID_SIZE = 12, AT_REST = 16, AT_ID = 28 };

void newer_seal(unsigned char *body, size_t size)
{
	uint32_t crc;

	bytes_put(body + AT_SIZE, size, 4);
	crc = crc32c(0, body, AT_CRC);
	crc = crc32c(crc, body + AT_CRC + 4, size - AT_CRC - 4);
	bytes_put(body + AT_CRC, crc, 4);
}

/* names writes the header, the id and the topic. Returns their size. */
static size_t names(unsigned version, const char *id, const char *topic, unsigned char *ret_body)
{
	size_t id_size = strlen(id);
	size_t topic_size = strlen(topic);

	memset(ret_body, 0, AT_ID);
	memcpy(ret_body, "DWT", AT_VERSION);
	ret_body[AT_VERSION] = (unsigned char)version;
	ret_body[AT_ID_SIZE] = (unsigned char)id_size;
	ret_body[AT_ID_SIZE + 1] = (unsigned char)topic_size;
	memcpy(ret_body + AT_ID, id, id_size);
	memcpy(ret_body + AT_ID + id_size, topic, topic_size);
	return AT_ID + id_size + topic_size;
}

size_t newer_body(const char *id, const char *topic, unsigned char *ret_body)
{
	static const unsigned char blocks[] = {1, 0, 2, 0, 0, 0xff, 0x87, 1, 5, 0, 'd', 'a', 'i'};
	size_t size = names(RECORD_VERSION + 1, id, topic, ret_body);

	memset(ret_body + AT_REST, 0xa5, AT_ID - AT_REST); /* unknown to this version */
	memcpy(ret_body + size, blocks, sizeof blocks);
	newer_seal(ret_body, size + sizeof blocks);
	return size + sizeof blocks;
}

#if DW_WITH_REDIS

enum { AT_FORM = 36, AT_BODY_CRC = 38, AT_RECORD = 42, FORM_RECORD = 3 };

size_t newer_value(const dw_head *head, const char *id, const char *topic, unsigned char *ret_value)
{
	size_t size = newer_body(id, topic, ret_value + AT_RECORD);

	value_head_write(ret_value, head, 0, record_crc(ret_value + AT_RECORD));
	ret_value[AT_FORM] = FORM_RECORD;
	ret_value[AT_FORM + 1] = 0;
	memcpy(ret_value + AT_BODY_CRC, ret_value + AT_RECORD + AT_CRC, 4);
	return AT_RECORD + size;
}

#endif

size_t body_of_topic(const char *id, size_t topic_size, unsigned char *ret_body)
{
	char topic[512] = "";
	size_t size;

	assert_true(topic_size < sizeof topic);
	memset(topic, 't', topic_size);
	size = names(1, id, topic, ret_body);
	newer_seal(ret_body, size);
	return size;
}

#if DW_WITH_SQLITE

static void change(sqlite3 *handle, const char *sql)
{
	char *error = NULL;

	if (sqlite3_exec(handle, sql, NULL, NULL, &error) != SQLITE_OK)
		fail_msg("%s: %s", sql, error);
}

static sqlite3 *open_file(const char *path)
{
	sqlite3 *handle = NULL;

	assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
	sqlite3_busy_timeout(handle, 60000);
	return handle;
}

/* insert adds a row. Both tables begin with these columns. */
static void insert(sqlite3 *handle, const char *sql, const dw_head *head, const void *body,
		   size_t size)
{
	const unsigned char *bytes = body;
	const char *id = (const char *)bytes + AT_ID;
	const sqlite3_int64 numbers[] = {(sqlite3_int64)head->generation,
					 head->due,
					 head->state,
					 head->attempt,
					 head->retries,
					 head->crashes,
					 head->open,
					 0,
					 record_seal(head, 0, body)};
	sqlite3_stmt *statement = NULL;

	assert_int_equal(sqlite3_prepare_v2(handle, sql, -1, &statement, NULL), SQLITE_OK);
	for (int i = 0; i < 9; i++)
		assert_int_equal(sqlite3_bind_int64(statement, i + 1, numbers[i]), SQLITE_OK);
	assert_int_equal(sqlite3_bind_text(statement, 10, id, bytes[AT_ID_SIZE], SQLITE_STATIC), 0);
	assert_int_equal(sqlite3_bind_text(statement, 11, id + bytes[AT_ID_SIZE],
					   bytes[AT_ID_SIZE + 1], SQLITE_STATIC),
			 SQLITE_OK);
	assert_int_equal(sqlite3_bind_blob(statement, 12, body, (int)size, SQLITE_STATIC), 0);
	if (sqlite3_step(statement) != SQLITE_DONE)
		fail_msg("%s: %s", sql, sqlite3_errmsg(handle));
	sqlite3_finalize(statement);
}

#define COLUMNS                                                                                    \
	"generation, due, state, attempt, retries, crashes, open, claim, seal, id, topic, body"
#define VALUES "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12"

void plant(const char *path, const dw_head *head, const void *body, size_t size)
{
	sqlite3 *handle = open_file(path);

	change(handle, "BEGIN IMMEDIATE");
	insert(handle, "REPLACE INTO timer(" COLUMNS ") VALUES(" VALUES ")", head, body, size);
	change(handle,
	       "UPDATE meta SET pending = (SELECT count(*) FROM timer WHERE state = 0),"
	       " claimed = (SELECT count(*) FROM timer WHERE state = 1),"
	       " generation = (SELECT max(generation) FROM timer), batch = batch + 1, session = 1;"
	       "REPLACE INTO inbox SELECT generation, id, 0 FROM timer"
	       " ORDER BY generation DESC LIMIT 1; COMMIT");
	sqlite3_close(handle);
}

void plant_dead(const char *path, const dw_head *head, const void *body, size_t size)
{
	sqlite3 *handle = open_file(path);

	change(handle, "BEGIN IMMEDIATE");
	insert(handle,
	       "INSERT INTO dead(" COLUMNS ", reason, at) VALUES(" VALUES
	       ", 'LATE', 4000000000000000)",
	       head, body, size);
	change(handle, "UPDATE meta SET dead = dead + 1, batch = batch + 1, session = 1; COMMIT");
	sqlite3_close(handle);
}

void plant_take_away(const char *path, const char *id)
{
	sqlite3 *handle = open_file(path);
	char sql[512];

	(void)snprintf(sql, sizeof sql,
		       "BEGIN IMMEDIATE; DELETE FROM timer WHERE id = '%s';"
		       "UPDATE meta SET pending = pending - 1, batch = batch + 1, session = 1;"
		       "COMMIT",
		       id);
	change(handle, sql);
	sqlite3_close(handle);
}

size_t plant_body(const char *path, const char *id, unsigned char *ret_body)
{
	sqlite3 *handle = open_file(path);
	sqlite3_stmt *statement = NULL;
	size_t size = 0;

	assert_int_equal(
	    sqlite3_prepare_v2(handle, "SELECT body FROM timer WHERE id = ?", -1, &statement, NULL),
	    SQLITE_OK);
	assert_int_equal(sqlite3_bind_text(statement, 1, id, -1, SQLITE_STATIC), SQLITE_OK);
	if (sqlite3_step(statement) == SQLITE_ROW) {
		size = (size_t)sqlite3_column_bytes(statement, 0);
		assert_true(size <= NEWER_BODY_MAX);
		memcpy(ret_body, sqlite3_column_blob(statement, 0), size);
	}
	sqlite3_finalize(statement);
	sqlite3_close(handle);
	return size;
}

#endif
