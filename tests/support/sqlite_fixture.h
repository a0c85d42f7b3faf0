/* A folder with one SQLite store. `owner` opens it, and `other` opens it a second time. */
#ifndef DW_TESTS_SQLITE_FIXTURE_H
#define DW_TESTS_SQLITE_FIXTURE_H

#include "support/ask.h"
#include "support/temp.h"

enum { FIXTURE_START = 1000000 }; /* the clock at the start */

struct fixture {
	char folder[TEMP_SIZE];
	char path[TEMP_SIZE];
	char message[DW_MESSAGE_SIZE];
	dw_usec now;
	uint64_t token;
	struct ask owner;
	struct ask other;
};

/* These functions are for cmocka. The set-up opens no store. The teardown closes all. */
int fixture_set_up(void **state);
int fixture_tear_down(void **state);

/* fixture_try opens the store at path. Returns a status. message then says what is wrong. */
int fixture_try(struct fixture *, struct ask *, dw_role, const char *path);
void fixture_open(struct fixture *, struct ask *, dw_role);

/* fixture_words fails the test unless message contains these words. */
void fixture_words(const struct fixture *, const char *words);

/* fixture_raw runs SQL on its own connection, as another program would. */
void fixture_raw(const struct fixture *, const char *sql);

#endif
