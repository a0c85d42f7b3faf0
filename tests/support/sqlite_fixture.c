#include "support/sqlite_fixture.h"

#if DW_WITH_SQLITE

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "support/cmocka.h"

int fixture_try(struct fixture *f, struct ask *ask, dw_role role, const char *path)
{
	f->message[0] = '\0';
	ask_init(ask, role, ++f->token, &f->now);
	return sqlite_store_open(&ask->store, path, &ask->env, f->message);
}

void fixture_open(struct fixture *f, struct ask *ask, dw_role role)
{
	if (fixture_try(f, ask, role, f->path) != DW_OK)
		fail_msg("%s", f->message);
}

int fixture_set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	assert_non_null(f);
	temp_make(f->folder);
	temp_file(f->path, f->folder, "orders.db");
	f->now = FIXTURE_START;
	*state = f;
	return 0;
}

int fixture_tear_down(void **state)
{
	struct fixture *f = *state;

	ask_end(&f->other);
	ask_end(&f->owner);
	temp_remove(f->folder);
	free(f);
	return 0;
}

void fixture_words(const struct fixture *f, const char *words)
{
	if (!strstr(f->message, words))
		fail_msg("\"%s\" says nothing of \"%s\"", f->message, words);
}

void fixture_raw(const struct fixture *f, const char *sql)
{
	sqlite3 *handle = NULL;
	char *error = NULL;

	assert_int_equal(sqlite3_open(f->path, &handle), SQLITE_OK);
	if (sqlite3_exec(handle, sql, NULL, NULL, &error) != SQLITE_OK)
		fail_msg("%s: %s", sql, error);
	sqlite3_close(handle);
}

#endif
