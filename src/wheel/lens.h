/*
 * lens.h: the sweep's view of names. It looks at many entries and writes between two of them.
 */
#ifndef WHEEL_LENS_H
#define WHEEL_LENS_H

#include "wheel/names.h"

/* struct wheel_lens: what tells live names from dead ones, in registers: an entry that is written
 * may be the wheel itself, for all that the compiler knows. */
struct wheel_lens {
	const uint64_t *ring;
	uint32_t mask;
	uint32_t last;
	uint32_t old;
};

static inline struct wheel_lens wheel_lens(const dw_wheel *wheel)
{
	return (struct wheel_lens){wheel->names.gone, wheel->names.ring_mask,
				   wheel_next_generation(wheel) - 1, wheel->names.old};
}

/* wheel_lens_keeps: is this name alive? It is another one from now on if it is old. No branch but
 * for the old: which names are alive cannot be predicted. */
static inline bool wheel_lens_keeps(dw_wheel *wheel, struct wheel_lens lens, uint64_t *name)
{
	uint32_t generation = wheel_generation(*name);

	if (BITS_RARE(wheel_name_lasts(*name)) || BITS_RARE(lens.last - generation >= lens.old))
		return (*name = wheel_names_age(wheel, *name)) != 0;
	return wheel_ring_has(lens.ring, lens.mask, generation);
}

#endif
