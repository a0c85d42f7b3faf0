/* The crash tests on Redis. */
#ifndef DW_TESTS_REDIS_FAULTS_H
#define DW_TESTS_REDIS_FAULTS_H

#include "faults/faults.h"

/* kill.c */
void kill_owner(struct faults *);
void kill_server(struct faults *);
void kill_both(struct faults *);

/* cancel.c */
void cancel_at_deadline(struct faults *);

#endif
