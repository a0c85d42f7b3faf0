#include "engine/call/facts.h"

#include "base/scope.h"
#include "engine/core.h"
#include "port/driven.h"

/* The facts in the form that the callback gets. */
struct fact_page {
	struct engine *engine;
	dw_fact *facts;
};

static void free_facts(struct fact_page *shown)
{
	alloc_free(&shown->engine->alloc, shown->facts);
}

void facts_show(struct engine *engine, const struct call *call)
{
	struct fact_page shown AT_END(free_facts) = {.engine = engine};
	size_t count = 0;
	int status = call->status;

	if (status == DW_OK) {
		shown.facts =
		    alloc_new(&engine->alloc, (call->op->row_count + 1) * sizeof *shown.facts);
		status = shown.facts ? DW_OK : DW_ENOMEM;
	}
	if (status != DW_OK) {
		call->fact_asker.fn(engine->env.handle, status, NULL, 0, call->fact_asker.user);
		return;
	}
	for (const dw_row *row = call->op->rows; row; row = row->next)
		shown.facts[count++] =
		    (dw_fact){.server = row->token, .name = row->id, .value = row->body};
	call->fact_asker.fn(engine->env.handle, DW_OK, shown.facts, count, call->fact_asker.user);
}

int engine_facts(struct engine *engine, dw_facts_fn fn, void *user)
{
	struct call *call;
	int status;

	if (!driven_tells_facts(engine->store))
		return engine_fail(engine, DW_EINVAL, "only a store in Redis has servers");
	status = call_new(engine, CALL_FACTS, "", &call);
	if (status != DW_OK)
		return status;
	call->fact_asker = (struct fact_asker){fn, user};
	return call_ask(engine, call, op_new(&engine->alloc, DW_OP_FACTS, NULL, NULL, 0));
}
