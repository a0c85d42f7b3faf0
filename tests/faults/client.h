/* The commands that run beside the owner: import, add and cancel. The requests of a command are in
 * the ledger before the command begins, and its confirmations after the command has ended. */
#ifndef DW_TESTS_FAULTS_CLIENT_H
#define DW_TESTS_FAULTS_CLIENT_H

#include "faults/ledger.h"

enum { CLIENT_IDS_MAX = 64 };

struct client {
	struct ledger *ledger;
	struct process process;
	enum client_kind { CLIENT_NONE, CLIENT_IMPORT, CLIENT_ADD, CLIENT_CANCEL } kind;
	size_t ids[CLIENT_IDS_MAX]; /* for an add the timer, for an import the first timer */
	size_t count;
	char file[TEMP_SIZE]; /* the file that an import reads */
};

/* client_import starts an import of `count` timers, beginning with number `first`. The ledger has
 * their deadlines. */
void client_import(struct client *, size_t first, size_t count);
void client_add(struct client *, size_t number);

/* client_cancel starts a cancel of the first `count` timers in ids. */
void client_cancel(struct client *);

/* client_has_ended returns true if the command has ended. The answers are then in the ledger, and
 * the client can start the next command. Call it after process_poll(). */
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
