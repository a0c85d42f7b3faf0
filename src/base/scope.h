/* Calls a function when a variable goes out of scope, by a return or because an exception of a C++
 * program passes through. The library is built with -fexceptions for this purpose. */
#ifndef DW_BASE_SCOPE_H
#define DW_BASE_SCOPE_H

/* AT_END(fn) on a variable calls fn(&variable) at the end of its scope. fn must not call anything
 * that may throw. */
#define AT_END(fn) __attribute__((cleanup(fn)))

#endif
