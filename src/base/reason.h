/* The words that stores use for the reason why a timer became a dead letter. */
#ifndef DW_BASE_REASON_H
#define DW_BASE_REASON_H

#include "durawheel/durawheel.h"

/* reason_find returns the reason that a word stands for, or DW_REASON_UNKNOWN if the word is
 * unknown or NULL. */
dw_reason reason_find(const char *name);

#endif
