/* The memory that a test shares with a process whose wall clock it sets:
 * support/preload/stepped_clock.c. */
#ifndef DW_TESTS_FAULTS_STEPPED_H
#define DW_TESTS_FAULTS_STEPPED_H

#include <stdatomic.h>
#include <stdint.h>

/* All fields are zero at the start. The test sets ahead_us, increments steps and wakes the process.
 * The process sets seen. */
struct stepped {
	_Atomic int64_t ahead_us; /* how far the process's wall clock is ahead */
	_Atomic uint32_t steps;
	_Atomic uint32_t seen; /* the last step that the timers of the process have seen */
};

#endif
