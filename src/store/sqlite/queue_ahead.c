#include "store/sqlite/queue_ahead.h"

#include "store/sqlite/bind.h"
#include "topic/returns.h"

static int bind_ahead(sqlite3_stmt *statement, const struct sqlite_topic *topic, dw_usec now)
{
	const dw_topic_settings *settings = &topic->settings;
	int code = sqlite3_bind_int64(statement, 1, topic->number);

	code = code ? code : sqlite3_bind_int64(statement, 2, returns_hidden_max(settings, now));
	return code ? code : sqlite3_bind_int64(statement, 3, returns_retry_max(settings, now));
}

int sqlite_queue_is_ahead(struct sqlite_session *session, const struct sqlite_topic *topic,
			  dw_usec now, bool *ret_is)
{
	sqlite3_stmt *statement = statement_of(session, SQL_MESSAGE_AHEAD);
	int code = bind_ahead(statement, topic, now);

	code = code ? code : sqlite3_step(statement);
	*ret_is = code == SQLITE_ROW;
	return sqlite_db_finish(statement, code);
}

int sqlite_queue_bring_forward(struct sqlite_session *session, const struct sqlite_topic *topic,
			       dw_usec now)
{
	const dw_topic_settings *settings = &topic->settings;
	sqlite3_stmt *statement = statement_of(session, SQL_MESSAGE_FORWARD);
	int code = bind_ahead(statement, topic, now);

	code = code ? code : sqlite3_bind_int64(statement, 4, returns_hidden_again(settings, now));
	code = code ? code : sqlite3_bind_int64(statement, 5, returns_retry_again(settings, now));
	code = run(statement, code);
	session->changed |= sqlite3_changes(session->db.handle) > 0;
	return code;
}
