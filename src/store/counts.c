#include "store/counts.h"

#include <string.h>

static bool add_row(const struct alloc *alloc, dw_op *op, dw_row ***tail, dw_row *row)
{
	if (!op_add_row(alloc, op, tail, row))
		return false;
	row->status = DW_ENOENT;
	return true;
}

bool counts_add_rows(const struct alloc *alloc, dw_op *op, dw_row ***tail, const char *text,
		     size_t size)
{
	const char *end = text + size;

	if (!add_row(alloc, op, tail, row_new(alloc, "", "", 0)))
		return false;
	while (text && text < end) {
		const char *tab = memchr(text, '\t', (size_t)(end - text));
		const char *stop = tab ? memchr(tab, '\n', (size_t)(end - tab)) : NULL;
		char name[DW_TOPIC_MAX + 1] = "";

		if (!stop || tab - text > DW_TOPIC_MAX)
			return true; /* the last line is cut off, so it is left out */
		memcpy(name, text, (size_t)(tab - text));
		if (!add_row(alloc, op, tail,
			     row_new(alloc, name, tab + 1, (size_t)(stop - tab - 1))))
			return false;
		text = stop + 1;
	}
	return true;
}
