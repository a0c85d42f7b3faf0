/* The smallest program: one timer, kept in a SQLite file. The same id again, as after a restart,
 * sets the same timer again: there is never a second one. */
#include <stdio.h>

#include <durawheel/durawheel.h>

static dw_verdict cancel_order(dw *d, const dw_firing *firing, void *user)
{
	(void)user;
	printf("%s was not paid in time: cancelled\n", firing->id);
	dw_stop(d);
	return DW_DONE;
}

int main(void)
{
	static dw_options options; /* zero: the defaults */
	char message[DW_MESSAGE_SIZE];
	dw *d;

	options.size = sizeof options;
	options.store = "sqlite:hello.db";
	if (dw_open(&d, &options, message) != DW_OK)
		return fprintf(stderr, "hello: %s\n", message), 1;
	dw_on(d, "order.timeout", cancel_order, NULL);
	dw_after(d, "order.timeout", "order:42", DW_SECONDS(2), NULL, 0);
	dw_run(d);
	return dw_close(d, DW_SECONDS(5)) == DW_OK ? 0 : 1;
}
