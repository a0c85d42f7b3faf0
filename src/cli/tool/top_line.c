#include "cli/tool/top_line.h"

#include <string.h>

#include "cli/out/text.h"

/* width_of returns how many columns the next character takes. *ret_step is the number of its
 * bytes. */
static size_t width_of(const char *text, size_t size, char form[TEXT_STEP_SIZE], size_t *ret_step)
{
	*ret_step = text_step(text, size, form);
	return *ret_step == strlen(form) ? 1 : strlen(form);
}

/* end_of returns how many bytes of the line are printed. It sets *ret_is_cut if the line is longer,
 * so that "..." follows. */
static size_t end_of(const char *line, size_t size, size_t columns, bool *ret_is_cut)
{
	size_t used = 0, at = 0, fits = 0, blank = 0;

	while (at < size) {
		char form[TEXT_STEP_SIZE];
		size_t step, width = width_of(line + at, size - at, form, &step);

		if (used + width > columns)
			break;
		if (line[at] == ' ' && used + 3 <= columns)
			blank = at;
		used += width;
		at += step;
		fits = used + 3 <= columns ? at : fits;
	}
	*ret_is_cut = at < size;
	if (at == size)
		return size;
	/* If the line has no blank in its second half, a word is cut. */
	return blank > fits / 2 ? blank : fits;
}

static const char *const colours[] = {
    [TOP_PLAIN] = "",        [TOP_GOOD] = "\033[32m", [TOP_BAD] = "\033[1;31m",
    [TOP_WARN] = "\033[33m", [TOP_BARS] = "\033[36m", [TOP_DIM] = "\033[2m",
};

void top_line(FILE *to, const struct top_view *view, enum top_colour colour, const char *line)
{
	const char *begin = view->has_colour ? colours[colour] : "";
	size_t size = strlen(line), end = size;
	bool is_cut = false;

	if (view->columns > 0)
		end = end_of(line, size, view->columns, &is_cut);
	(void)fputs(begin, to); /* top_picture() reports failed writes */
	for (size_t at = 0; at < end;) {
		char form[TEXT_STEP_SIZE];

		at += text_step(line + at, size - at, form);
		(void)fputs(form, to);
	}
	(void)fputs(is_cut ? "..." : "", to);
	(void)fputs(*begin ? "\033[0m\n" : "\n", to);
}
