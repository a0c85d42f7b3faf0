/* What a program of a test writes when a timer starts: the line `durawheel run` would write, so
 * that the ledger reads both. */
#ifndef DW_TESTS_FAULTS_FIRING_H
#define DW_TESTS_FAULTS_FIRING_H

#include "durawheel/durawheel.h"

/* firing_write writes to stdout at once; without a reader the process ends. */
void firing_write(const dw_firing *);

#endif
