/* Checks the options of dw_open, and opens the store that the URL names. Only this file reads that
 * URL. */
#ifndef DW_HANDLE_OPTIONS_H
#define DW_HANDLE_OPTIONS_H

#include "durawheel/store.h"

/* options_read copies the caller's options, and sets the defaults. The caller's struct may be older
 * or newer. It returns DW_OK or DW_EINVAL. With DW_EINVAL ret_message says what is wrong. */
int options_read(const dw_options *options, dw_options *ret_options, char *ret_message);

/* options_open_store opens the store that the URL names. journal is the path of the journal, or
 * NULL. It returns the errors of dw_open(). */
int options_open_store(const char *url, const char *journal, const dw_store_env *env,
		       dw_store **ret_store, char *ret_message);

#endif
