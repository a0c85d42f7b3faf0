#include "cli/out/nearest.h"

#include <string.h>

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* distance returns the least number of edits that turn a into b. An edit inserts, deletes or
 * changes a letter, or swaps two neighbours. This is the restricted Damerau-Levenshtein distance:
 * it changes no letter twice. Both lengths are at most NEAREST_MAX. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t rows[3][NEAREST_MAX + 1] = {{0}}; /* the current row and the two rows before it */
	size_t *row = rows[0], *last = rows[1], *before = rows[2];

	for (size_t j = 0; j <= b_length; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t *next = before;

		before = last;
		last = row;
		row = next;
		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			size_t change = last[j - 1] + (a[i - 1] != b[j - 1]);

			row[j] = least(least(last[j], row[j - 1]) + 1, change);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
	}
	return row[b_length];
}

void nearest_begin(struct nearest *nearest, const char *word, size_t length)
{
	/* One letter in three may be wrong, but at least one. */
	*nearest = (struct nearest){
	    .word = word, .length = length, .distance = length < 6 ? 2 : length / 3 + 1};
}

void nearest_try(struct nearest *nearest, const char *name)
{
	size_t length = strlen(name);
	size_t here;

	if (nearest->length < 2 || nearest->length > NEAREST_MAX || length > NEAREST_MAX)
		return;
	here = distance(nearest->word, nearest->length, name, length);
	if (length > nearest->length && strncmp(nearest->word, name, nearest->length) == 0)
		here = 0; /* the word is the beginning of the name */
	if (here >= nearest->distance)
		return;
	nearest->distance = here;
	nearest->name = name;
}
