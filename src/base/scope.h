/* The end of a scope: a function that runs when a variable goes out of it, by a return or because
 * an exception of a C++ program passes through. The library is built with -fexceptions for that. */
#ifndef DW_BASE_SCOPE_H
#define DW_BASE_SCOPE_H

/* AT_END(fn) on a variable: fn(&variable) runs at the end of its scope. It must not call anything
 * that could throw. */
#define AT_END(fn) __attribute__((cleanup(fn)))

#endif
