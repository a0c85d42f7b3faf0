/* Writes a rule as the text that dw_rule_parse() reads. */
#ifndef DW_CALENDAR_RULE_TEXT_H
#define DW_CALENDAR_RULE_TEXT_H

#include <stddef.h>

#include "durawheel/durawheel.h"

/* rule_write writes the text and a NUL, cut to size bytes. Returns the length of the whole text.
 * The rule was checked. The same rule always has the same text. */
size_t rule_write(const dw_rule *, char *ret_text, size_t size);

#endif
