#include "store/redis/page/rows.h"

void rows_push(struct rows *rows, dw_row *row)
{
	row->next = NULL;
	*(rows->last ? &rows->last->next : &rows->first) = row;
	rows->last = row;
	rows->count++;
}

dw_row *rows_pop(struct rows *rows)
{
	dw_row *row = rows->first;

	rows->first = row->next;
	if (!rows->first)
		rows->last = NULL;
	rows->count--;
	row->next = NULL;
	return row;
}

/* merge merges two sorted lists. */
static dw_row *merge(dw_row *a, dw_row *b, rows_before *is_before)
{
	dw_row *first = NULL;
	dw_row **tail = &first;

	while (a && b) {
		dw_row **least = is_before(b, a) ? &b : &a;

		*tail = *least;
		tail = &(*tail)->next;
		*least = *tail;
	}
	*tail = a ? a : b;
	return first;
}

dw_row *rows_sort(dw_row *row, rows_before *is_before)
{
	dw_row *sorted[48] = {0};
	dw_row *all = NULL;

	while (row) {
		dw_row *next = row->next;
		unsigned i = 0;

		row->next = NULL;
		for (; sorted[i]; i++) {
			row = merge(sorted[i], row, is_before);
			sorted[i] = NULL;
		}
		sorted[i] = row;
		row = next;
	}
	for (unsigned i = 0; i < sizeof sorted / sizeof *sorted; i++)
		all = merge(sorted[i], all, is_before);
	return all;
}
