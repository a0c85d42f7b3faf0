/* Writes the line that `durawheel run` would write when a timer starts. With it the ledger can also
 * read the output of a program of the test. */
#ifndef DW_TESTS_FAULTS_FIRING_H
#define DW_TESTS_FAULTS_FIRING_H

#include "durawheel/durawheel.h"

/* firing_write writes to stdout at once. If nobody reads stdout, the process ends. */
void firing_write(const dw_firing *);

#endif
