/* The memory that a test shares with a process whose wall clock it sets:
 * support/preload/stepped_clock.c. */
#ifndef DW_TESTS_FAULTS_STEPPED_H
#define DW_TESTS_FAULTS_STEPPED_H

#include <stdatomic.h>
#include <stdint.h>

/* Zero at first. The test sets ahead_us, adds to steps and wakes; the process sets seen. */
struct stepped {
	_Atomic int64_t ahead_us; /* of the process's wall clock */
	_Atomic uint32_t steps;
	_Atomic uint32_t seen; /* the last of them that the process's timers have seen */
};

#endif
