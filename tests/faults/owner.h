/* Runs `durawheel run` on the store of a test, as one life of its ledger. */
#ifndef DW_TESTS_FAULTS_OWNER_H
#define DW_TESTS_FAULTS_OWNER_H

#include "faults/ledger.h"

void owner_start(struct process *ret_owner, struct ledger *, bool until_idle);

/* owner_kill: SIGKILL; what it wrote goes into the ledger. */
void owner_kill(struct process *owner, struct ledger *);

/* owner_await waits for its end, which must be a good one. owner_finish frees it, too. */
void owner_await(struct process *owner, struct ledger *);
void owner_finish(struct process *owner, struct ledger *);

/* owner_run_until_idle: from start to end. */
void owner_run_until_idle(struct ledger *);

/* owner_wait_starts: until the ledger has that many starts in all. False: it ended, or hangs. */
bool owner_wait_starts(struct process *owner, struct ledger *, size_t starts);

/* owner_wait_running: until it has loaded what is stored. */
bool owner_wait_running(struct process *owner, struct faults *);

#endif
