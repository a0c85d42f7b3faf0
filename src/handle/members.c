/* Public functions about the processes that share a store (peers), and about the servers of the
 * store. */
#include "durawheel/members.h"

#include "base/grown.h"
#include "engine/call/facts.h"
#include "engine/call/members.h"
#include "handle/handle.h"

int dw_members(dw *d, dw_members_fn fn, void *user)
{
	int status = handle_admit(d);

	if (status == DW_OK && !fn)
		status = handle_refuse(d, DW_EINVAL, "the callback is NULL");
	return status == DW_OK ? engine_members(d->engine, fn, user) : status;
}

int dw_get_node(const dw *d, size_t number, dw_node *ret_node)
{
	int status = handle_admit_look(d);

	if (status == DW_OK && !ret_node)
		status = handle_refuse(d, DW_EINVAL, "the node is NULL");
	else if (status == DW_OK && grown_size_is_wrong(ret_node->size, sizeof(size_t)))
		status = handle_refuse(d, DW_EINVAL, "node.size is not sizeof(dw_node)");
	else if (status == DW_OK)
		status = engine_node(d->engine, number, ret_node);
	return status == DW_ENOENT ? handle_refuse(d, status, "there are no more servers") : status;
}

int dw_owns(dw *d, const char *id)
{
	int status = handle_admit(d);

	return status == DW_OK ? engine_owns(d->engine, id) : status;
}

int dw_leave(dw *d)
{
	int status = handle_admit(d);

	return status == DW_OK ? engine_leave(d->engine) : status;
}

int dw_facts(dw *d, dw_facts_fn fn, void *user)
{
	int status = handle_admit(d);

	if (status == DW_OK && !fn)
		status = handle_refuse(d, DW_EINVAL, "the callback is NULL");
	return status == DW_OK ? engine_facts(d->engine, fn, user) : status;
}
