#include "support/misuse.h"

#include <string.h>

#include "support/cmocka.h"

dw *open_memory(struct seen *seen)
{
	dw *d = open_store("memory:", DW_OWNER);

	*seen = (struct seen){0};
	assert_int_equal(dw_on(d, "t", on_due, seen), DW_OK);
	return d;
}

void close_memory(dw *d)
{
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

void says(const dw *d, int status, int wanted, const char *words)
{
	assert_int_equal(status, wanted);
	if (!strstr(dw_last_error(d), words))
		fail_msg("\"%s\" says nothing of \"%s\"", dw_last_error(d), words);
}

int put_never(dw *d, struct seen *seen, const char *id, const char *topic)
{
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = topic, .due = DW_NEVER};

	return dw_put(d, &timer, on_done, seen);
}
