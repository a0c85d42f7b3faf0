/*
 * environment.h: the environment variables of a test.
 *
 * DW_SEED: run only this seed. DW_TEST_SCALE: the number of random operations, in percent of the
 * usual number; the default is 100, under valgrind 2.
 */
#ifndef SUPPORT_ENVIRONMENT_H
#define SUPPORT_ENVIRONMENT_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* environment_parse reads the whole text as a decimal number or as 0x... Returns false if the text
 * is not a number. */
static inline bool environment_parse(const char *text, uint64_t *ret_number)
{
	bool hexadecimal = strncmp(text, "0x", 2) == 0;
	const char *digits = hexadecimal ? text + 2 : text;
	const char *known = hexadecimal ? "0123456789abcdefABCDEF" : "0123456789";

	if (!*digits || digits[strspn(digits, known)] != '\0')
		return false;
	errno = 0;
	*ret_number = strtoull(digits, NULL, hexadecimal ? 16 : 10);
	return errno == 0;
}

/* environment_number returns the value of the variable, or `usual` if it is not set. A value that
 * is not a number ends the program, because a test with a wrong seed proves nothing. */
static inline uint64_t environment_number(const char *name, uint64_t usual)
{
	const char *text = getenv(name);
	uint64_t number = usual;

	if (text && *text && !environment_parse(text, &number)) {
		(void)fprintf(stderr, "%s=%s is not a number\n", name, text);
		exit(2);
	}
	return number;
}

/* environment_scaled returns the scaled amount, which is at least 1. */
static inline uint64_t environment_scaled(uint64_t amount)
{
	const char *preload = getenv("LD_PRELOAD");
	uint64_t usual = preload && strstr(preload, "vgpreload") ? 2 : 100;
	uint64_t scaled = amount * environment_number("DW_TEST_SCALE", usual) / 100;

	return scaled ? scaled : 1;
}

/* environment_step returns the step of an exhaustive loop. It is 1 if the scale is at least
 * whole_from, and larger if the scale is much smaller. */
static inline uint64_t environment_step(uint64_t whole_from)
{
	uint64_t step = whole_from / environment_scaled(100);

	return step ? step : 1;
}

#endif
