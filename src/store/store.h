/* The stores that exist. Each opens with the env of durawheel/store.h and answers as the table
 * there says. Only src/handle/options.c knows which URL means which store. */
#ifndef DW_STORE_STORE_H
#define DW_STORE_STORE_H

#include "durawheel/store.h"

/* memory_store_open opens a store that lives in this process only; it answers each operation at
 * once. DW_ENOMEM. */
int memory_store_open(dw_store **ret_store, const dw_store_env *env);

/* sqlite_store_open opens the file at path, and creates it if there is none. On failure ret_message
 * (DW_MESSAGE_SIZE bytes) says why: DW_EOWNED, DW_ESTORE, DW_ENOMEM, DW_ESYS. */
int sqlite_store_open(dw_store **ret_store, const char *path, const dw_store_env *env,
		      char *ret_message);

/* sqlite_store_look_every sets how often an owner looks in the file for changes of other processes
 * if nothing wakes it. Tests use it: one must not depend on this look, another does not want to
 * wait for it. */
void sqlite_store_look_every(dw_store *, dw_usec tick);

/* redis_store_open connects to the server of url (redis:// or unix://) and opens the namespace
 * env->name there. On failure ret_message says why: DW_EINVAL (the URL or the name), DW_EOWNED,
 * DW_ESTORE, DW_ENOMEM, DW_ESYS. */
int redis_store_open(dw_store **ret_store, const char *url, const dw_store_env *env,
		     char *ret_message);

#endif
