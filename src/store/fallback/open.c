/* Opens the store: first the file, and then Redis, which may be away. */
#include <stdio.h>

#include "base/usec.h"
#include "port/driven.h"
#include "store/fallback/core.h"

static int make(struct fallback **ret_fallback, const struct fallback_parts *parts,
		const dw_store_env *env, char *message)
{
	struct alloc alloc = {env->resize, env->resize_user};
	struct fallback *fallback = alloc_new(&alloc, sizeof *fallback);
	size_t damaged = 0;
	int status = DW_ENOMEM;

	if (fallback) {
		fallback->store.type = &fallback_class;
		fallback->env = *env;
		fallback->alloc = alloc;
		status = journal_open(&fallback->journal, parts, env, &damaged, message);
	}
	if (status != DW_OK) {
		alloc_free(&alloc, fallback);
		return status;
	}
	if (damaged > 0)
		tell_all(fallback, DW_EVENT_CORRUPT, DW_ECORRUPT, damaged,
			 "the journal had damaged rows: what was asked in them is lost");
	*ret_fallback = fallback;
	return DW_OK;
}

/* has_ownership returns true if this store has the lease. A store that was opened while Redis was
 * away has none. */
static bool has_ownership(const struct fallback *fallback)
{
	return fallback->env.role == DW_OWNER && driven_owns(fallback->front);
}

/* check_origin refuses rows that are for another server. */
static int check_origin(struct fallback *fallback, char *message)
{
	const struct journal *journal = &fallback->journal;
	dw_origin server;

	fallback->front->type->origin(fallback->front, &server);
	if (journal->rows.table.count == 0 || !origin_differs(&journal->origin, &server))
		return DW_OK;
	(void)snprintf(message, DW_MESSAGE_SIZE,
		       "%.50s has timers for %.40s, and this %s: open it there, name another file, "
		       "or `durawheel journal replay --yes` it",
		       journal->path, journal->origin.server.address,
		       server.era[0] ? "is another server"
				     : "may be another server"); /* long words are cut */
	return DW_EINVAL;
}

static void give_up(struct fallback *fallback)
{
	struct alloc alloc = fallback->alloc;

	if (fallback->front) {
		(void)fallback->front->type->stop(fallback->front,
						  /* If this fails, the lease ends by itself. */
						  DW_SECONDS(1));
		fallback->front->type->free(fallback->front);
	}
	/* If this fails, the journal's thread stops later. */
	(void)journal_stop(&fallback->journal, DW_SECONDS(1));
	journal_free(&fallback->journal);
	tell_free(fallback);
	alloc_free(&alloc, fallback);
}

int fallback_open(dw_store **ret_store, const struct fallback_parts *parts, const dw_store_env *env,
		  char *ret_message)
{
	dw_store_env own = *env;
	struct fallback *fallback = NULL;
	int status = make(&fallback, parts, env, ret_message);

	if (status != DW_OK)
		return status;
	own.may_be_away = 1;
	if (own.role == DW_STANDBY)
		own.role = DW_CLIENT; /* the store asks for the ownership after it is open */
	status = parts->open_front(&fallback->front, parts->url, &own, ret_message);
	if (status == DW_OK)
		status = check_origin(fallback, ret_message);
	if (status != DW_OK) {
		give_up(fallback);
		return status;
	}
	fallback->now = env->steady(env->steady_user);
	server_note(fallback, false);
	fallback->replay.awaits_owner = env->role != DW_CLIENT && !has_ownership(fallback);
	fallback->state = DW_JOURNAL_READY;
	if (fallback->journal.rows.table.count > 0)
		fallback_come_back(fallback);
	*ret_store = &fallback->store;
	return DW_OK;
}
