/* The stores that exist. Each store implements the interface in durawheel/store.h. Only
 * src/handle/options.c knows which URL means which store. */
#ifndef DW_STORE_STORE_H
#define DW_STORE_STORE_H

#include "durawheel/store.h"

/* memory_store_open opens a store that lives in this process only. It answers each operation at
 * once. Returns DW_OK or DW_ENOMEM. */
int memory_store_open(dw_store **ret_store, const dw_store_env *env);

/* sqlite_store_open opens the file at path, and creates it if it does not exist. On failure it
 * returns DW_EOWNED, DW_ESTORE, DW_ENOMEM or DW_ESYS, and ret_message (DW_MESSAGE_SIZE bytes) says
 * why. */
int sqlite_store_open(dw_store **ret_store, const char *path, const dw_store_env *env,
		      char *ret_message);

/* sqlite_store_look_every sets how often an owner looks in the file for changes of other processes
 * if nothing wakes it. Only tests call it: some must not depend on this look, others do not want to
 * wait for it. */
void sqlite_store_look_every(dw_store *, dw_usec tick);

/* redis_store_open connects to the server of url, of any form that redis/url.h reads, and opens the
 * namespace env->name there. On failure it returns DW_EINVAL (the URL or the name is wrong),
 * DW_EOWNED, DW_ESTORE, DW_ENOMEM or DW_ESYS, and ret_message says why. */
int redis_store_open(dw_store **ret_store, const char *url, const dw_store_env *env,
		     char *ret_message);

#endif
