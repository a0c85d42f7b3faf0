/* Runs `durawheel run` on the store of a test, as one life of its ledger. */
#ifndef DW_TESTS_FAULTS_OWNER_H
#define DW_TESTS_FAULTS_OWNER_H

#include "faults/ledger.h"

void owner_start(struct process *ret_owner, struct ledger *, bool until_idle);

/* owner_kill sends SIGKILL. The output of the owner goes into the ledger. */
void owner_kill(struct process *owner, struct ledger *);

/* owner_await waits for the end of the owner, which must be successful. owner_finish also frees
 * it. */
void owner_await(struct process *owner, struct ledger *);
void owner_finish(struct process *owner, struct ledger *);

/* owner_run_until_idle runs an owner with --until-idle to its end. */
void owner_run_until_idle(struct ledger *);

/* owner_wait_starts waits until the ledger has this number of starts. Returns false if the owner
 * has ended or hangs; the test has then failed. */
bool owner_wait_starts(struct process *owner, struct ledger *, size_t starts);

/* owner_wait_running waits until the owner has loaded the stored timers. */
bool owner_wait_running(struct process *owner, struct faults *);

#endif
