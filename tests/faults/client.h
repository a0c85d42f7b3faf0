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
	size_t ids[CLIENT_IDS_MAX]; /* add: the timer; import: the first timer */
	size_t count;
	char file[TEMP_SIZE]; /* the file that an import reads */
};

/* client_import starts an import of count timers from first on. The ledger has their deadlines. */
void client_import(struct client *, size_t first, size_t count);
void client_add(struct client *, size_t number);

/* client_cancel starts a cancel of the first count of ids. */
void client_cancel(struct client *);

/* client_has_ended: call it after process_poll(). If it returns true, the answers are in the
 * ledger, and the client can start the next command. */
bool client_has_ended(struct client *);

/* client_wait waits until the command has ended. */
void client_wait(struct client *);

/* client_free kills a command that still runs. */
void client_free(struct client *);

/* client_list compares the stored timers with the ledger. */
void client_list(struct ledger *);

/* client_check_empty checks that the store has no pending, claimed or dead timer. */
void client_check_empty(struct faults *);

#endif
