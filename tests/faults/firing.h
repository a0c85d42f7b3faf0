/* Writes the line that `durawheel run` would write when a timer starts, for programs of a test. So
 * the ledger can read both. */
#ifndef DW_TESTS_FAULTS_FIRING_H
#define DW_TESTS_FAULTS_FIRING_H

#include "durawheel/durawheel.h"

/* firing_write writes to stdout at once. If nobody reads stdout, the process ends. */
void firing_write(const dw_firing *);

#endif
