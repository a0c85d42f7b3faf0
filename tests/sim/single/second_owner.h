/* A second owner of the same store. When our lease has run out, it may take the store, fire for a
 * while, and give it back. It claims, starts and settles a timer at one moment. Now and then it
 * dies between these steps. */
#ifndef SIM_SINGLE_SECOND_OWNER_H
#define SIM_SINGLE_SECOND_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/usec.h"

struct single;

struct second_owner {
	bool owns;
	uint64_t token;
	uint32_t count; /* how often it has taken over */
	dw_usec at;     /* steady: of its next act */
	dw_usec until;  /* it owns */
};

void second_owner_init(struct single *);
dw_usec second_owner_next(const struct single *);
void second_owner_act(struct single *);

#endif
