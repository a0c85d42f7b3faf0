/* Does the server let us run scripts? Every operation is one. */
#ifndef DW_STORE_REDIS_RIGHTS_H
#define DW_STORE_REDIS_RIGHTS_H

struct redis_store;

/* rights_ask asks. scripts.missing has the answer before that to a later command comes. */
void rights_ask(struct redis_store *);

#endif
