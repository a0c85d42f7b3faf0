/* The faults. The seed determines which faults happen, and when. */
#ifndef SIM_CORE_FAULTS_H
#define SIM_CORE_FAULTS_H

#include <stdbool.h>

#include "base/usec.h"

struct sim;

/* The seed's profile: how often what happens, in events of 10,000. Some faults have 0 in a seed, so
 * that seeds differ in kind and not only in luck. */
struct knobs {
	uint32_t crash;
	uint32_t crash_inside; /* of 10,000 callbacks */
	uint32_t close;
	uint32_t step; /* of the wall clock */
	uint32_t stall;
	uint32_t spurious; /* a turn without a reason */
	uint32_t memory;   /* an allocation is going to fail */
	uint32_t fail;     /* of 10,000 operations */
	uint32_t slow;     /* of 10,000 ways to the store or back */
	uint32_t id_count;
	uint32_t action_count;
	uint32_t hold_ms;
	uint32_t pause_max_us; /* between two actions of the program */
	uint32_t timers_max;
	uint32_t recurring; /* of 10,000 puts: with a rule */
	dw_usec delay_max;  /* of a deadline; 0: hours */
};

struct faults {
	bool over;               /* the quiet end has begun: no more faults */
	dw_usec disturbed_until; /* steady: the end of the last fault */
};

/* draw: [0, limit). */
uint64_t draw(struct sim *, uint64_t limit);

/* chance is true n times of 10,000. When n is 0 it draws nothing. */
bool chance(struct sim *, uint32_t n);

/* some: how often a fault happens in this seed: never in four seeds of ten, else up to most. */
uint32_t some(struct sim *, uint32_t most);

/* any_pause: one of four lengths, in us. */
uint32_t any_pause(struct sim *);

/* faults_disturb notes a fault that lasts until then. */
void faults_disturb(struct sim *, dw_usec until);

#endif
