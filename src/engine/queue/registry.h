/* The registry of topics: their settings, which the store keeps, and their numbers. The owner reads
 * all settings before it delivers anything, and again when they change. */
#ifndef DW_ENGINE_REGISTRY_H
#define DW_ENGINE_REGISTRY_H

#include <stdbool.h>

#include "base/usec.h"
#include "durawheel/store.h"

struct engine;
struct call;

struct registry {
	bool is_loaded; /* the settings were read in this term */
	bool is_old;    /* the settings have changed since they were read */
	/* The last reading of the settings failed, or could not be applied completely. */
	bool is_torn;
	bool is_asked;
	/* When the settings are read next. A failure makes this later. */
	dw_usec at;
	/* The store has numbers that this owner has written. Before, it may have numbers of an
	 * earlier owner. */
	bool has_told;
	uint32_t told; /* checksum of the numbers that this owner has written */
};

/* registry_round reads the settings if they are needed. registry_wake returns when it must be
 * called next. */
void registry_round(struct engine *, dw_usec now);
dw_usec registry_wake(const struct engine *);

/* registry_answered handles the settings that were read, unless a call of the program has asked for
 * them. */
void registry_answered(struct engine *, dw_op *);

/* registry_changed handles the answer to a change of settings. */
void registry_changed(struct engine *, dw_op *);

void registry_show(struct engine *, const struct call *);

/* registry_may_deliver returns false until the owner knows which topics are paused, or are queues.
 * It returns true for a client: a client delivers nothing, and the operations that it repeats need
 * no settings. */
bool registry_may_deliver(const struct engine *);

/* registry_old notes that the settings must be read again. */
static inline void registry_old(struct registry *registry)
{
	registry->is_old = true;
}

/* registry_stop forgets that settings were read and numbers written, because the ownership is
 * lost. */
static inline void registry_stop(struct registry *registry)
{
	registry->is_loaded = false;
	registry->has_told = false;
}

/* registry_hurry lets the settings be read now, because the wall clock was set. */
static inline void registry_hurry(struct registry *registry, dw_usec now)
{
	registry->at = usec_min(registry->at, now);
}

#endif
