/* A rule as text: reads and writes what dw_rule_parse() reads. */
#ifndef DW_CALENDAR_RULE_TEXT_H
#define DW_CALENDAR_RULE_TEXT_H

#include <stddef.h>

#include "base/alloc.h"
#include "durawheel/durawheel.h"

/* rule_read reads a rule, as dw_rule_parse(), but does not check it. It is one block: free it with
 * alloc_free(). DW_ENOMEM, or DW_EINVAL: message says why. */
int rule_read(const struct alloc *, const char *text, dw_rule **ret_rule, char *ret_message);

/* rule_write writes the text and a NUL, cut to size bytes. Returns the length of the whole text.
 * The rule was checked. The same rule always has the same text. */
size_t rule_write(const dw_rule *, char *ret_text, size_t size);

#endif
