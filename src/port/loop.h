/* What the engine asks of whatever drives it. */
#ifndef DW_PORT_LOOP_H
#define DW_PORT_LOOP_H

#include "durawheel/durawheel.h"

struct loop_port {
	/* A turn must follow at wall time `at` or later, DW_NEVER: only when woken. */
	void (*arm)(void *user, dw_usec at);
	/* A turn must follow as soon as possible. Any thread. */
	void (*wake)(void *user);
	void *user;
};

#endif
