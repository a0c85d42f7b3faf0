/* Includes cmocka and the headers that it needs before it. */
#ifndef DW_TESTS_CMOCKA_H
#define DW_TESTS_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
