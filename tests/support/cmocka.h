/* Includes cmocka and the headers that it needs before it. */
#ifndef DW_TESTS_CMOCKA_H
#define DW_TESTS_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* not_tested skips the test, because the machine cannot run it, and says why. */
#define not_tested(why)                                                                            \
	do {                                                                                       \
		print_message("NOT TESTED: " why "\n");                                            \
		skip();                                                                            \
	} while (0)

/* nothing_tested is what main returns in a build for which the program has no test. It says why. */
static inline int nothing_tested(const char *why)
{
	print_message("NOT TESTED: %s\n", why);
	return 77; /* ctest calls it skipped */
}

#endif
