/*
 * lens.h: a copy of the fields that tell live names from dead ones, for the loops of the sweep.
 */
#ifndef WHEEL_LENS_H
#define WHEEL_LENS_H

#include "wheel/names.h"

/* struct wheel_lens: keeps these fields in registers. The compiler would read them from the wheel
 * for every entry: for all it knows, writing an entry may change the wheel. */
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

/* wheel_lens_keeps returns true if this name is alive. If its timer is old, *name becomes the name
 * of an elder. Only old names cost a branch, because the branch predictor cannot guess which names
 * are alive. */
static inline bool wheel_lens_keeps(dw_wheel *wheel, struct wheel_lens lens, uint64_t *name)
{
	uint32_t generation = wheel_generation(*name);

	if (BITS_RARE(wheel_name_lasts(*name)) || BITS_RARE(lens.last - generation >= lens.old))
		return (*name = wheel_names_age(wheel, *name)) != 0;
	return wheel_ring_has(lens.ring, lens.mask, generation);
}

#endif
