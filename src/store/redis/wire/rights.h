/* Asks whether the server lets us run scripts. Every operation is a script. */
#ifndef DW_STORE_REDIS_RIGHTS_H
#define DW_STORE_REDIS_RIGHTS_H

struct redis_store;

/* rights_ask sends the question. Its answer is in scripts.missing before the reply to a later
 * command arrives. */
void rights_ask(struct redis_store *);

#endif
