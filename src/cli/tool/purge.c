/* durawheel purge: deletes everything in the store. It owns the store while it runs, so it fails if
 * another process owns the store. */
#include "cli/commands.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/out/errors.h"
#include "cli/session.h"

struct purge {
	uint64_t timers;
	uint64_t dead;
	int code;
};

static void counted(dw *d, int status, const dw_store_status *store, void *user)
{
	struct purge *purge = user;

	(void)d;
	if (status != DW_OK) {
		purge->code = complain(exit_of(status), "%s", dw_strerror(status));
		return;
	}
	purge->timers = store->pending + store->claimed;
	purge->dead = store->dead;
	purge->code = EXIT_DONE;
}

static void purge_answered(dw *d, const dw_result *result, void *user)
{
	struct purge *purge = user;

	(void)d;
	purge->code = result->status == DW_OK ? EXIT_DONE
					      : complain(exit_of(result->status), "purge: %s",
							 dw_strerror(result->status));
}

/* wait_for waits for the answer to an operation. `asked` is the return value of the call that
 * requested it. Returns an exit code. */
static int wait_for(dw *d, struct purge *purge, int asked)
{
	if (asked != DW_OK)
		return complain(exit_of(asked), "purge: %s", why(d, asked));
	(void)session_wait(d); /* on failure purge->code stays EXIT_STORE */
	return purge->code;
}

static int purge_store(dw *d)
{
	struct purge purge = {.code = EXIT_STORE};
	int code = wait_for(d, &purge, dw_get_status(d, counted, &purge));

	purge.code = EXIT_STORE;
	if (code == EXIT_DONE)
		code = wait_for(d, &purge, dw_purge(d, purge_answered, &purge));
	if (code == EXIT_DONE)
		(void)printf("purged %" PRIu64 " timers and %" PRIu64 " dead letters\n",
			     purge.timers, purge.dead); /* session_close() reports a failed write */
	return code;
}

/* refuse names the store, and counts what would be lost. Returns an exit code. */
static int refuse(const struct options *options)
{
	char store[SESSION_STORE_SIZE] = "";
	struct purge purge = {.code = EXIT_STORE};
	dw *d;
	int code = session_look(options, (dw_options){.role = DW_CLIENT}, &d);

	if (code != EXIT_DONE)
		return code;
	session_store(options, store);
	code = wait_for(d, &purge, dw_get_status(d, counted, &purge));
	if (code == EXIT_DONE)
		code = complain(EXIT_USAGE,
				"purge: %" PRIu64 " timers and %" PRIu64
				" dead letters of the store %s would be lost; write --yes if you "
				"mean that",
				purge.timers, purge.dead, store);
	return session_close(d, code);
}

int command_purge(const struct options *options)
{
	dw *d;
	int code;

	if (!options->value[OPT_YES])
		return refuse(options);
	code = session_look(options, (dw_options){.role = DW_OWNER}, &d);
	return code == EXIT_DONE ? session_close(d, purge_store(d)) : code;
}
