/*
 * environment.h: what a test takes from outside.
 * DW_SEED: run this one seed only. DW_TEST_SCALE: percent of the usual amount of random operations;
 * under valgrind 2 unless set.
 */
#ifndef SUPPORT_ENVIRONMENT_H
#define SUPPORT_ENVIRONMENT_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* environment_number: the variable's value, or `usual` when it is not set. */
static inline uint64_t environment_number(const char *name, uint64_t usual)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : usual;
}

/* environment_scaled: this share of `amount`, at least 1. */
static inline uint64_t environment_scaled(uint64_t amount)
{
	const char *preload = getenv("LD_PRELOAD");
	uint64_t usual = preload && strstr(preload, "vgpreload") ? 2 : 100;
	uint64_t scaled = amount * environment_number("DW_TEST_SCALE", usual) / 100;

	return scaled ? scaled : 1;
}

#endif
