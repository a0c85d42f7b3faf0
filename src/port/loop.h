/* What the engine needs from the loop that drives it. */
#ifndef DW_PORT_LOOP_H
#define DW_PORT_LOOP_H

#include "durawheel/durawheel.h"

struct loop_port {
	/* Asks for a turn at wall time `at` or later. DW_NEVER: only when woken. */
	void (*arm)(void *user, dw_usec at);
	/* Asks for a turn as soon as possible. Any thread may call it. */
	void (*wake)(void *user);
	void *user;
};

#endif
