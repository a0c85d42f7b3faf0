/* Reads and writes a rule in the text form of dw_rule_parse(). */
#ifndef DW_CALENDAR_RULE_TEXT_H
#define DW_CALENDAR_RULE_TEXT_H

#include <stddef.h>

#include "base/alloc.h"
#include "durawheel/durawheel.h"

/* rule_read reads a rule like dw_rule_parse(), but does not check it. The rule is one block: free
 * it with alloc_free(). It returns DW_OK, DW_ENOMEM or DW_EINVAL. With DW_EINVAL ret_message says
 * why. */
int rule_read(const struct alloc *, const char *text, dw_rule **ret_rule, char *ret_message);

/* rule_write writes the text and a NUL, cut to size bytes. It returns the length of the whole text.
 * The rule must have been checked. The same rule always has the same text. */
size_t rule_write(const dw_rule *, char *ret_text, size_t size);

#endif
