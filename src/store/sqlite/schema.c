#include "store/sqlite/schema.h"

#include <stdio.h>

/* Builds before the first release used the versions 1 and 2. */
enum { SCHEMA_VERSION = 3 };

/* The generation is the rowid, so the order of the table is the order of insertion. Every write
 * keeps pending, claimed and dead in meta, so that nobody needs to count a million rows. */
static const char schema[] =
    "CREATE TABLE timer(generation INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    " topic TEXT NOT NULL, due INTEGER NOT NULL, state INTEGER NOT NULL,"
    " attempt INTEGER NOT NULL, retries INTEGER NOT NULL, crashes INTEGER NOT NULL,"
    " open INTEGER NOT NULL, claim INTEGER NOT NULL, seal INTEGER NOT NULL,"
    " body BLOB NOT NULL, why TEXT) STRICT;"
    "CREATE INDEX timer_due ON timer(due, generation);"
    "CREATE TABLE inbox(generation INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    " open INTEGER NOT NULL) STRICT;"
    "CREATE TABLE dead(number INTEGER PRIMARY KEY, reason TEXT NOT NULL, at INTEGER NOT NULL,"
    " generation INTEGER NOT NULL, id TEXT NOT NULL, topic TEXT NOT NULL, due INTEGER NOT NULL,"
    " state INTEGER NOT NULL, attempt INTEGER NOT NULL, retries INTEGER NOT NULL,"
    " crashes INTEGER NOT NULL, open INTEGER NOT NULL, claim INTEGER NOT NULL,"
    " seal INTEGER NOT NULL, body BLOB NOT NULL, why TEXT) STRICT;"
    "CREATE INDEX dead_id ON dead(id, generation);"
    "CREATE TABLE meta(one INTEGER PRIMARY KEY CHECK(one = 1), generation INTEGER NOT NULL,"
    " batch INTEGER NOT NULL, session INTEGER NOT NULL, pending INTEGER NOT NULL,"
    " claimed INTEGER NOT NULL, dead INTEGER NOT NULL, ended INTEGER NOT NULL) STRICT;"
    "INSERT INTO meta VALUES(1, 0, 0, 0, 0, 0, 0, 0);"
    "CREATE TABLE ended(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    " until INTEGER NOT NULL, body BLOB NOT NULL) STRICT;"
    "CREATE INDEX ended_until ON ended(until);"
    "CREATE TABLE topic(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
    " settings TEXT NOT NULL, closed INTEGER NOT NULL, keep INTEGER NOT NULL,"
    " messages INTEGER NOT NULL, dropped INTEGER NOT NULL, expired INTEGER NOT NULL) STRICT;"
    "CREATE TABLE message(number INTEGER PRIMARY KEY, topic INTEGER NOT NULL,"
    " state INTEGER NOT NULL, until INTEGER NOT NULL, delivery INTEGER NOT NULL,"
    " generation INTEGER NOT NULL, due INTEGER NOT NULL, attempt INTEGER NOT NULL,"
    " retries INTEGER NOT NULL, body BLOB NOT NULL) STRICT;"
    "CREATE INDEX message_place ON message(topic, state, until, number);"
    "CREATE INDEX message_order ON message(topic, number);"
    "CREATE TABLE owner(one INTEGER PRIMARY KEY CHECK(one = 1), line TEXT NOT NULL,"
    " pid INTEGER NOT NULL, start INTEGER NOT NULL, boot TEXT NOT NULL,"
    " since INTEGER NOT NULL, seen INTEGER NOT NULL, report TEXT NOT NULL,"
    " topics TEXT NOT NULL) STRICT;"
    "INSERT INTO owner VALUES(1, '', 0, 0, '', 0, 0, '', '');";

#define TIMER                                                                                      \
	"timer.generation, timer.id, timer.topic, timer.due, timer.state, timer.attempt,"          \
	" timer.retries, timer.crashes, timer.open, timer.claim, timer.seal, timer.body,"          \
	" timer.why"

#define DEAD                                                                                       \
	"generation, id, topic, due, state, attempt, retries, crashes, open, claim, seal, body,"   \
	" why, number, reason, at"

/* The messages with the latest times of return: taken messages that return after ?2, and retried
 * messages with a computed pause that return after ?3. */
#define AHEAD                                                                                      \
	"SELECT number FROM (SELECT number FROM message WHERE topic = ?1 AND state = 1"            \
	" AND until > ?2 ORDER BY until DESC LIMIT 64)"                                            \
	" UNION ALL SELECT number FROM (SELECT number, until FROM message WHERE topic = ?1"        \
	" AND state = 2 AND until > ?3 ORDER BY until DESC LIMIT 64) WHERE until & 1"

#define MESSAGE "number, state, until, delivery, generation, due, attempt, retries, body"

static const char *const sql[SQL_COUNT] = {
    [SQL_BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [SQL_BEGIN_READ] = "BEGIN",
    [SQL_COMMIT] = "COMMIT",
    [SQL_ROLLBACK] = "ROLLBACK",
    [SQL_META_READ] = "SELECT generation, batch, session, pending, claimed, dead, ended FROM meta",
    [SQL_META_WRITE] = "UPDATE meta SET generation = ?, batch = ?, session = ?, pending = ?,"
		       " claimed = ?, dead = ?, ended = ?",
    [SQL_META_RECOUNT] = "SELECT (SELECT count(*) FROM timer WHERE state = 0),"
			 " (SELECT count(*) FROM timer WHERE state <> 0),"
			 " (SELECT count(*) FROM dead), (SELECT count(*) FROM ended)",
    [SQL_TIMER_BY_ID] = "SELECT " TIMER " FROM timer WHERE id = ?",
    [SQL_TIMER_BY_GENERATION] = "SELECT " TIMER " FROM timer WHERE generation = ?",
    [SQL_TIMER_INSERT] = "INSERT INTO timer(due, state, attempt, retries, crashes, open, claim,"
			 " seal, generation, id, topic, body)"
			 " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_TIMER_UPDATE] = "UPDATE timer SET state = ?2, attempt = ?3, retries = ?4, crashes = ?5,"
			 " open = ?6, claim = ?7, seal = ?8 WHERE generation = ?9",
    [SQL_TIMER_MOVE] = "UPDATE timer SET due = ?1, state = ?2, attempt = ?3, retries = ?4,"
		       " crashes = ?5, open = ?6, claim = ?7, seal = ?8 WHERE generation = ?9",
    [SQL_TIMER_RENEW] = "UPDATE timer SET due = ?1, state = ?2, attempt = ?3, retries = ?4,"
			" crashes = ?5, open = ?6, claim = ?7, seal = ?8, generation = ?9,"
			" why = NULL WHERE generation = ?10",
    [SQL_TIMER_TELL] = "UPDATE timer SET why = ?2 WHERE generation = ?1",
    [SQL_TIMER_DELETE] = "DELETE FROM timer WHERE generation = ?",
    [SQL_TIMER_CLEAR] = "DELETE FROM timer",
    /* The index only gives the order of the rows. Everything about a timer comes from the table. */
    [SQL_TIMER_SCAN] = "SELECT " TIMER ", place.due, place.generation"
		       " FROM timer AS place INDEXED BY timer_due"
		       " CROSS JOIN timer ON timer.generation = place.generation"
		       " WHERE (place.due, place.generation) > (?1, ?2)"
		       " AND place.due <= ?3"
		       " ORDER BY place.due, place.generation LIMIT ?4",
    [SQL_TIMER_LOAD] = "SELECT " TIMER " FROM timer NOT INDEXED WHERE generation > ?1"
		       " ORDER BY generation LIMIT ?2",
    [SQL_TIMER_NEXT_DUE] = "SELECT due FROM timer WHERE state = 0 ORDER BY due, generation LIMIT 1",
    [SQL_TIMER_DUE] = "SELECT due FROM timer INDEXED BY timer_due WHERE due >= ?1 AND due < ?2"
		      " ORDER BY due LIMIT ?3",
    /* The fourth byte of a body is the version of its format. The query first reads the youngest
     * timers, which are the likeliest to be newer. Then it reads all timers from the beginning,
     * because a disk reads slowly backwards. */
    [SQL_TIMER_NEWER] = "SELECT * FROM"
			" (SELECT " TIMER " FROM timer ORDER BY timer.generation DESC LIMIT 64)"
			" WHERE substr(body, 4, 1) > ?1 UNION ALL SELECT " TIMER
			" FROM timer NOT INDEXED WHERE substr(timer.body, 4, 1) > ?1",
    [SQL_INBOX_READ] = "SELECT " TIMER ", inbox.generation, inbox.id"
		       " FROM inbox LEFT JOIN timer ON timer.id = inbox.id"
		       " WHERE inbox.generation > ? ORDER BY inbox.generation LIMIT ?",
    [SQL_INBOX_WRITE] = "INSERT OR REPLACE INTO inbox(generation, id, open) VALUES(?, ?, ?)",
    [SQL_INBOX_IS_OPEN] = "SELECT open FROM inbox WHERE id = ?",
    [SQL_INBOX_ACK] = "DELETE FROM inbox WHERE id = ? AND generation <= ?",
    [SQL_INBOX_COUNT] = "SELECT count(*) FROM inbox",
    [SQL_INBOX_CLEAR] = "DELETE FROM inbox",
    [SQL_DEAD_INSERT] = "INSERT INTO dead(reason, at, generation, id, topic, due, state, attempt,"
			" retries, crashes, open, claim, seal, body, why) SELECT ?2, ?3, " TIMER
			" FROM timer WHERE generation = ?1",
    [SQL_DEAD_OLDEST] = "SELECT number, at FROM dead ORDER BY number LIMIT 1",
    [SQL_DEAD_DELETE] = "DELETE FROM dead WHERE number = ?",
    [SQL_DEAD_FIND] = "SELECT " DEAD " FROM dead WHERE id = ?1 AND (?2 = 0 OR generation = ?2)"
		      " ORDER BY generation DESC LIMIT 1",
    [SQL_DEAD_SCAN] = "SELECT " DEAD " FROM dead WHERE number > ?1"
		      " ORDER BY number LIMIT ?2",
    [SQL_DEAD_DROP] = "DELETE FROM dead WHERE (?1 IS NULL OR id = ?1)"
		      " AND (?2 = 0 OR generation = ?2)",
    [SQL_DEAD_CLEAR] = "DELETE FROM dead",
    [SQL_DEAD_NEWER] = "SELECT " DEAD " FROM dead WHERE substr(body, 4, 1) > ?1"
		       " AND (?2 IS NULL OR id = ?2) AND (?3 = 0 OR generation = ?3)",
    [SQL_ENDED_WRITE] = "INSERT INTO ended(id, until, body) VALUES(?1, ?2, ?3)"
			" ON CONFLICT(id) DO UPDATE SET until = ?2, body = ?3",
    [SQL_ENDED_FIND] = "SELECT body, number, until FROM ended WHERE id = ?1 AND until > ?2",
    [SQL_ENDED_OLDEST] = "SELECT number, until FROM ended ORDER BY until LIMIT 1",
    [SQL_ENDED_UNTIL] = "UPDATE ended SET until = ?2 WHERE number = ?1",
    [SQL_ENDED_DELETE] = "DELETE FROM ended WHERE number = ?",
    [SQL_ENDED_CLEAR] = "DELETE FROM ended",
    [SQL_TIMER_FROM_DEAD] = "INSERT INTO timer(due, state, attempt, retries, crashes, open, claim,"
			    " seal, generation, id, topic, body)"
			    " SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, id, topic, body"
			    " FROM dead WHERE number = ?10",
    [SQL_OWNER_READ] = "SELECT line, pid, start, boot, since, seen, report FROM owner",
    [SQL_OWNER_WRITE] = "UPDATE owner SET line = ?, pid = ?, start = ?, boot = ?, since = ?5,"
			" seen = ?5, report = '', topics = ''",
    [SQL_OWNER_REPORT] = "UPDATE owner SET seen = ?, report = ?",
    [SQL_TOPIC_FIND] = "SELECT number, settings, messages, dropped, expired FROM topic"
		       " WHERE name = ?",
    [SQL_TOPIC_SCAN] = "SELECT number, settings, messages, dropped, expired, name FROM topic",
    [SQL_TOPIC_INSERT] = "INSERT INTO topic(name, settings, closed, keep, messages, dropped,"
			 " expired) SELECT ?1, ?2, ?3, ?4, 0, 0, 0"
			 " WHERE (SELECT count(*) FROM topic) < ?5",
    [SQL_TOPIC_UPDATE] = "UPDATE topic SET settings = ?2, closed = ?3, keep = ?4"
			 " WHERE name = ?1",
    [SQL_TOPIC_TALLY] = "UPDATE topic SET messages = messages + ?2, dropped = dropped + ?3,"
			" expired = expired + ?4 WHERE number = ?1",
    [SQL_TOPIC_RECOUNT] = SCHEMA_RECOUNT,
    [SQL_TOPIC_DELETE] = "DELETE FROM topic WHERE number = ?",
    [SQL_TOPIC_CLOSED] = "SELECT 1 FROM topic WHERE closed <> 0 AND (?1 IS NULL OR name = ?1)",
    [SQL_TOPIC_KEEPS] = "SELECT 1 FROM topic WHERE keep <> 0",
    [SQL_TOPIC_KEEP] = "SELECT keep FROM topic WHERE name = ?",
    [SQL_TOPIC_EMPTY] = "UPDATE topic SET messages = 0",
    [SQL_COUNTS_READ] = "SELECT topics, pid, start, boot FROM owner",
    [SQL_COUNTS_WRITE] = "UPDATE owner SET topics = ?",
    [SQL_MESSAGE_INSERT] = "INSERT INTO message(number, topic, state, until, delivery, generation,"
			   " due, attempt, retries, body) VALUES(?, ?, 0, 0, 0, ?, ?, ?, ?, ?)",
    /* The messages that may be handed out: first those whose time-out has passed, then those that
     * have returned after a retry, then those that were never handed out. */
    [SQL_MESSAGE_READY] = "SELECT * FROM (SELECT " MESSAGE " FROM message WHERE topic = ?1"
			  " AND state = 1 AND until <= ?2 ORDER BY until, number LIMIT ?3)"
			  " UNION ALL SELECT * FROM (SELECT " MESSAGE " FROM message"
			  " WHERE topic = ?1 AND state = 2 AND until <= ?2"
			  " ORDER BY until, number LIMIT ?3)"
			  " UNION ALL SELECT * FROM (SELECT " MESSAGE " FROM message"
			  " WHERE topic = ?1 AND state = 0 ORDER BY until, number LIMIT ?3)"
			  " LIMIT ?3",
    [SQL_MESSAGE_FIND] = "SELECT " MESSAGE " FROM message WHERE number = ?1 AND topic = ?2",
    [SQL_MESSAGE_FIRST] = "SELECT number, due FROM message WHERE topic = ?"
			  " ORDER BY number LIMIT 1",
    [SQL_MESSAGE_COMES] = "SELECT min((SELECT coalesce(min(until), ?2) FROM message"
			  " WHERE topic = ?1 AND state = 1), (SELECT coalesce(min(until), ?2)"
			  " FROM message WHERE topic = ?1 AND state = 2))",
    [SQL_MESSAGE_COUNT] = "SELECT (SELECT count(*) FROM message WHERE topic = ?1 AND state = 0),"
			  " (SELECT count(*) FROM message WHERE topic = ?1 AND state = 1),"
			  " (SELECT count(*) FROM message WHERE topic = ?1 AND state = 2)",
    [SQL_MESSAGE_PLACE] = "UPDATE message SET state = ?2, until = ?3, delivery = ?4, retries = ?5"
			  " WHERE number = ?1",
    [SQL_MESSAGE_DELETE] = "DELETE FROM message WHERE number = ?",
    [SQL_MESSAGE_CLEAR] = "DELETE FROM message",
    [SQL_MESSAGE_AHEAD] = AHEAD " LIMIT 1",
    [SQL_MESSAGE_FORWARD] = "UPDATE message SET until = CASE state WHEN 1 THEN ?4 ELSE ?5 END"
			    " WHERE number IN (" AHEAD ")",
    [SQL_LETTER_INSERT] = "INSERT INTO dead(reason, at, generation, id, topic, due, state,"
			  " attempt, retries, crashes, open, claim, seal, body, why)"
			  " VALUES(?10, ?11, ?9, ?12, ?13, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?14,"
			  " ?15)",
    [SQL_DATA_VERSION] = "PRAGMA data_version",
    [SQL_SCHEMA_VERSION] = "PRAGMA user_version",
};

/* ---- The schema in a file ---- */

bool sqlite_schema_is_newer(int64_t schema_version)
{
	return schema_version > SCHEMA_VERSION;
}

static int read_number(sqlite3 *handle, const char *query, sqlite3_int64 *ret_number)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(handle, query, -1, &statement, NULL);

	if (code != SQLITE_OK)
		return code;
	code = sqlite3_step(statement);
	if (code == SQLITE_ROW)
		*ret_number = sqlite3_column_int64(statement, 0);
	(void)sqlite3_finalize(statement); /* returns the code of step again */
	return code == SQLITE_ROW ? SQLITE_OK : code;
}

/* read_version reads the schema's version, which is 0 if the database is empty. If the database is
 * not ours, it sets *ret_why. It returns SQLITE_MISMATCH if a newer durawheel has made the
 * schema. */
static int read_version(sqlite3 *handle, enum sqlite_kind kind, sqlite3_int64 *ret_version,
			const char **ret_why)
{
	sqlite3_int64 application = 0;
	sqlite3_int64 objects = 0;
	int code = read_number(handle, "PRAGMA application_id", &application);

	code = code ? code : read_number(handle, "PRAGMA user_version", ret_version);
	code = code ? code : read_number(handle, "SELECT count(*) FROM sqlite_schema", &objects);
	if (code != SQLITE_OK)
		return code;
	if (application == 0 && *ret_version == 0 && objects == 0)
		return SQLITE_OK;
	if (application == SQLITE_KIND_JOURNAL && kind == SQLITE_KIND_TIMERS)
		*ret_why = "is the journal of a store in Redis: see durawheel journal";
	else if (application == SQLITE_KIND_TIMERS && kind == SQLITE_KIND_JOURNAL)
		*ret_why = "is a store of timers, not a journal: name another file";
	else if (application != kind)
		*ret_why = "is the database of another program";
	else if (sqlite_schema_is_newer(*ret_version))
		*ret_why = "was written by a newer durawheel; use that version or later";
	else if (*ret_version < 1)
		*ret_why = "is damaged: it has no schema version";
	else if (*ret_version < SCHEMA_VERSION)
		*ret_why = "was written by a durawheel before its first release: take its timers "
			   "along with that build's list --json, and import them here";
	return application == kind && sqlite_schema_is_newer(*ret_version) ? SQLITE_MISMATCH
									   : SQLITE_OK;
}

/* sqlite_schema_read uses one transaction. Without it, it might see half of a schema that another
 * process is making. */
int sqlite_schema_read(sqlite3 *handle, enum sqlite_kind kind, sqlite3_int64 *ret_version,
		       const char **ret_why)
{
	int code = sqlite3_exec(handle, "BEGIN", NULL, NULL, NULL);

	code = code ? code : read_version(handle, kind, ret_version, ret_why);
	if (!sqlite3_get_autocommit(handle))
		/* Nothing was written that could be lost. */
		(void)sqlite3_exec(handle, "ROLLBACK", NULL, NULL, NULL);
	return code;
}

static int make_schema(sqlite3 *handle, enum sqlite_kind kind)
{
	char numbers[96];
	int code = sqlite3_exec(handle, schema, NULL, NULL, NULL);

	(void)snprintf(numbers, sizeof numbers,
		       "PRAGMA application_id = %d;"
		       "PRAGMA user_version = %d;",
		       (int)kind, SCHEMA_VERSION);
	return code ? code : sqlite3_exec(handle, numbers, NULL, NULL, NULL);
}

int sqlite_schema_make(sqlite3 *handle, enum sqlite_kind kind, const char **ret_why)
{
	sqlite3_int64 version = 0;
	int code = sqlite3_exec(handle, "BEGIN IMMEDIATE", NULL, NULL, NULL);

	if (code != SQLITE_OK)
		return code;
	code = read_version(handle, kind, &version, ret_why);
	if (code == SQLITE_OK && !*ret_why && version == 0)
		code = make_schema(handle, kind);
	if (code == SQLITE_OK && !*ret_why)
		code = sqlite3_exec(handle, "COMMIT", NULL, NULL, NULL);
	if (!sqlite3_get_autocommit(handle))
		(void)sqlite3_exec(handle, "ROLLBACK", NULL, NULL,
				   NULL); /* the transaction has failed anyway */
	return code;
}

/* find_object sets *ret_found to true if the database has an object with this name and text. */
static int find_object(sqlite3_stmt *statement, sqlite3_stmt *ours, bool *ret_found)
{
	int code = sqlite3_bind_value(statement, 1, sqlite3_column_value(ours, 0));

	code = code ? code : sqlite3_bind_value(statement, 2, sqlite3_column_value(ours, 1));
	code = code ? code : sqlite3_step(statement);
	*ret_found = code == SQLITE_ROW;
	(void)sqlite3_reset(statement); /* returns the code of step again */
	return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

int sqlite_schema_is_whole(sqlite3 *handle, bool *ret_whole)
{
	sqlite3 *model = NULL;
	sqlite3_stmt *ours = NULL, *theirs = NULL;
	int code = sqlite3_open(":memory:", &model);

	*ret_whole = true;
	code = code ? code : sqlite3_exec(model, schema, NULL, NULL, NULL);
	code = code
		   ? code
		   : sqlite3_prepare_v2(model,
					"SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL",
					-1, &ours, NULL);
	code = code ? code
		    : sqlite3_prepare_v2(handle,
					 "SELECT 1 FROM sqlite_schema WHERE name = ? AND sql = ?",
					 -1, &theirs, NULL);
	while (code == SQLITE_OK && *ret_whole && sqlite3_step(ours) == SQLITE_ROW)
		code = find_object(theirs, ours, ret_whole);
	/* This database was made just now, and its statements cannot fail. */
	(void)sqlite3_finalize(ours);
	(void)sqlite3_finalize(theirs); /* returns an earlier error again */
	(void)sqlite3_close(model);     /* no statement is left open */
	return code;
}

int sqlite_schema_prepare(sqlite3 *handle, sqlite3_stmt **ret_statements)
{
	int code = SQLITE_OK;

	for (int i = 0; i < SQL_COUNT && code == SQLITE_OK; i++)
		code = sqlite3_prepare_v3(handle, sql[i], -1, SQLITE_PREPARE_PERSISTENT,
					  &ret_statements[i], NULL);
	return code;
}
