/* The stores there are. Each opens with the env of durawheel/store.h and answers as the table there
 * says; src/options.c alone knows which URL means which. */
#ifndef DW_STORE_STORE_H
#define DW_STORE_STORE_H

#include "durawheel/store.h"

/* memory_store_open: timers of this process only; answers are there at once. DW_ENOMEM. */
int memory_store_open(dw_store **ret_store, const dw_store_env *env);

/* sqlite_store_open opens or makes the file at path. On failure ret_message (DW_MESSAGE_SIZE bytes)
 * says why: DW_EOWNED, DW_ESTORE, DW_ENOMEM, DW_ESYS. */
int sqlite_store_open(dw_store **ret_store, const char *path, const dw_store_env *env,
		      char *ret_message);

/* sqlite_store_look_every: how often an owner that nobody wakes looks for what others wrote. For
 * tests, of which one wants this never to be the reason, and another one does not want to wait. */
void sqlite_store_look_every(dw_store *, dw_usec tick);

/* redis_store_open reaches the server of url, redis:// or unix://, and the namespace env->name in
 * it. On failure ret_message says why: DW_EINVAL (the URL), DW_EOWNED, DW_ESTORE, DW_ENOMEM,
 * DW_ESYS. */
int redis_store_open(dw_store **ret_store, const char *url, const dw_store_env *env,
		     char *ret_message);

#endif
