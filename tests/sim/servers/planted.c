/* Planted bugs. The linker sends calls of the library here (--wrap). */
#include "sim/servers/servers.h"
#include "store/redis/core.h"
#include "store/redis/nodes/cluster_text.h"
#include "store/redis/nodes/named.h"

static enum bug planted;

void servers_plant(enum bug bug)
{
	planted = bug;
}

/* ---- Which server is used -------------------------------------------------------------------- */

bool __real_named_count(struct nomination *, const struct vote *, unsigned count, unsigned majority,
			dw_usec now);
bool __wrap_named_count(struct nomination *, const struct vote *, unsigned count, unsigned majority,
			dw_usec now);

bool __wrap_named_count(struct nomination *ret_named, const struct vote *votes, unsigned count,
			unsigned majority, dw_usec now)
{
	bool is_named = __real_named_count(ret_named, votes, count,
					   planted == BUG_NAMED_BY_ONE ? 1 : majority, now);

	if (is_named && planted == BUG_NAMED_EARLY)
		ret_named->length = usec_add(ret_named->length, NAMED_FOR);
	if (is_named && planted == BUG_NAMED_LONG)
		ret_named->until = usec_add(ret_named->until, DW_SECONDS(8));
	return is_named;
}

const char *__real_cluster_line_read(const char *text, struct cluster_line *);
const char *__wrap_cluster_line_read(const char *text, struct cluster_line *);

const char *__wrap_cluster_line_read(const char *text, struct cluster_line *ret_line)
{
	const char *rest = __real_cluster_line_read(text, ret_line);

	if (planted == BUG_SLOT_FIRST)
		ret_line->epoch = 1;
	return rest;
}

const struct node *__real_nodes_new(const struct redis_store *);
const struct node *__wrap_nodes_new(const struct redis_store *);

const struct node *__wrap_nodes_new(const struct redis_store *store)
{
	for (unsigned i = 0; planted == BUG_REPLACED_NEW && i < store->nodes.count; i++)
		if (node_is_new(store->nodes.list[i]))
			return store->nodes.list[i];
	return __real_nodes_new(store);
}

/* ---- When a call is answered ----------------------------------------------------------------- */

void __real_held_answer(struct redis_store *, const struct held_source *, dw_op *, int status);
void __wrap_held_answer(struct redis_store *, const struct held_source *, dw_op *, int status);

void __wrap_held_answer(struct redis_store *store, const struct held_source *source, dw_op *op,
			int status)
{
	if (planted != BUG_CONFIRM_EARLY) {
		__real_held_answer(store, source, op, status);
		return;
	}
	op->level = DW_REPLICATED;
	answer(store, op, status);
}
