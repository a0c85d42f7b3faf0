#include "contract/contract.h"
#include "store/store.h"

static void *make_place(void)
{
	return NULL;
}

static void free_place(void *place)
{
	(void)place;
}

static int open_store(void *place, const dw_store_env *env, dw_store **ret_store)
{
	(void)place;
	return memory_store_open(ret_store, env);
}

int main(void)
{
	static const struct contract_kind kind = {.name = "memory",
						  .make_place = make_place,
						  .free_place = free_place,
						  .open = open_store};

	return contract_run(&kind);
}
