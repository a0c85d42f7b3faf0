/* Why a timer is a dead letter, as a word that is stored. */
#ifndef DW_BASE_REASON_H
#define DW_BASE_REASON_H

#include "durawheel/durawheel.h"

/* reason_find: the reason of a word (NULL: none), DW_REASON_UNKNOWN if it is not one. */
dw_reason reason_find(const char *name);

#endif
