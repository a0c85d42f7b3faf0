/* Checks the options of dw_open, and opens the store that the URL names. Only this file reads that
 * URL. */
#ifndef DW_HANDLE_OPTIONS_H
#define DW_HANDLE_OPTIONS_H

#include "durawheel/store.h"

/* options_read copies the caller's options, whose struct may be older or newer, and sets the
 * defaults. DW_EINVAL: ret_message says what is wrong. */
int options_read(const dw_options *options, dw_options *ret_options, char *ret_message);

/* options_open_store opens the store of the URL, with a journal or without (NULL). Errors are those
 * of dw_open(). */
int options_open_store(const char *url, const char *journal, const dw_store_env *env,
		       dw_store **ret_store, char *ret_message);

#endif
