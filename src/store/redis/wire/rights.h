/* Asks whether the server lets us run scripts. Every operation is a script. */
#ifndef DW_STORE_REDIS_RIGHTS_H
#define DW_STORE_REDIS_RIGHTS_H

struct redis_store;

/* rights_ask sends the commands that test this. The answer is in scripts.missing before the reply
 * to any later command arrives. */
void rights_ask(struct redis_store *);

#endif
