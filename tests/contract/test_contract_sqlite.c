#include "contract/contract.h"

#include <stdlib.h>

#include "store/store.h"
#include "support/cmocka.h"
#include "support/temp.h"

static void *make_place(void)
{
	char *folder = malloc(TEMP_SIZE);

	assert_non_null(folder);
	temp_make(folder);
	return folder;
}

static void free_place(void *place)
{
	temp_remove(place);
	free(place);
}

static int open_store(void *place, const dw_store_env *env, dw_store **ret_store)
{
	char message[DW_MESSAGE_SIZE] = "";
	char path[TEMP_SIZE];
	int status =
	    sqlite_store_open(ret_store, temp_file(path, place, "timers.db"), env, message);

	if (status != DW_OK)
		print_message("%s\n", message);
	return status;
}

int main(void)
{
	static const struct contract_kind kind = {.name = "sqlite",
						  .shared = true,
						  .make_place = make_place,
						  .free_place = free_place,
						  .open = open_store};

	return contract_run(&kind);
}
