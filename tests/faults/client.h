/* The commands that run beside the owner: import, add, cancel. The ledger gets the requests of a
 * command before it begins, and its confirmations when it has ended. */
#ifndef DW_TESTS_FAULTS_CLIENT_H
#define DW_TESTS_FAULTS_CLIENT_H

#include "faults/ledger.h"

enum { CLIENT_IDS_MAX = 64 };

struct client {
	struct ledger *ledger;
	struct process process;
	enum client_kind { CLIENT_NONE, CLIENT_IMPORT, CLIENT_ADD, CLIENT_CANCEL } kind;
	size_t ids[CLIENT_IDS_MAX]; /* add: one, import: the first */
	size_t count;
	char file[TEMP_SIZE]; /* what it reads */
};

/* client_import: count timers from first on, each with the due of its entry. */
void client_import(struct client *, size_t first, size_t count);
void client_add(struct client *, size_t number);

/* client_cancel: those of ids, count of them. */
void client_cancel(struct client *);

/* client_has_ended: after process_poll(). Its answers are in the ledger then, and it is free for
 * the next command. */
bool client_has_ended(struct client *);

/* client_wait: the same, and waits for it. */
void client_wait(struct client *);

/* client_free kills what still runs. */
void client_free(struct client *);

/* client_list compares what is stored with the ledger. */
void client_list(struct ledger *);

/* client_check_empty: nothing is pending, claimed or dead. */
void client_check_empty(struct faults *);

#endif
