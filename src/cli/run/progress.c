#include "cli/run/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/session.h"

enum { WIDTH_MAX = 120, WIDTH_DEFAULT = 80, BAR_LEAST = 8 };
#define DRAW_EVERY DW_MILLISECONDS(100)

void progress_begin(struct progress *progress, int fd)
{
	struct stat stat;
	dw_usec now = session_steady();
	off_t at;

	*progress = (struct progress){.wanted = isatty(STDERR_FILENO) && !isatty(fd),
				      .unit = "lines",
				      .began = now,
				      .drawn = now};
	if (fstat(fd, &stat) != 0 || !S_ISREG(stat.st_mode))
		return;
	at = lseek(fd, 0, SEEK_CUR);
	if (at >= 0 && stat.st_size > at)
		progress->total = (uint64_t)(stat.st_size - at);
}

void progress_begin_loading(struct progress *progress)
{
	dw_usec now = session_steady();

	*progress = (struct progress){
	    .wanted = isatty(STDERR_FILENO), .unit = "timers", .began = now, .drawn = now};
}

/* terminal_width reads the width each time, because the window may have changed. */
static size_t terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return WIDTH_DEFAULT;
	return size.ws_col < WIDTH_MAX ? size.ws_col : WIDTH_MAX;
}

/* put writes the text with one write(). The text ends with the cursor in the first column, so that
 * a message of another thread begins there. */
static void put(const char *text, size_t size)
{
	/* If stderr fails, there is no place for a report. */
	(void)!write(STDERR_FILENO, text, size);
}

/* draw_bar draws a bar of `size` columns that shows the share done/total. */
static void draw_bar(char *bar, size_t size, uint64_t done, uint64_t total)
{
	size_t full = (size_t)((double)(size - 2) * (double)done / (double)total);

	memset(bar, ' ', size);
	memset(bar + 1, '=', full);
	bar[0] = '[';
	bar[size - 1] = ']';
}

/* compose writes the line for `width` columns. Returns its length. */
static size_t compose(const struct progress *progress, uint64_t count, uint64_t done, char *line,
		      size_t width)
{
	dw_usec passed = session_steady() - progress->began;
	uint64_t rate = passed > 0 ? (uint64_t)((double)count * 1e6 / (double)passed) : 0;
	char text[96];
	size_t length;

	if (done > progress->total)
		done = progress->total;
	if (progress->total > 0)
		(void)snprintf(text, sizeof text, "%3d%%  %" PRIu64 " %s  %" PRIu64 "/s  ",
			       (int)(100.0 * (double)done / (double)progress->total), count,
			       progress->unit, rate);
	else
		(void)snprintf(text, sizeof text, "%" PRIu64 " %s  %" PRIu64 "/s", count,
			       progress->unit, rate);
	length = strlen(text);
	if (length > width)
		length = width;
	memcpy(line, text, length);
	if (progress->total == 0 || width < length + BAR_LEAST)
		return length;
	draw_bar(line + length, width - length, done, progress->total);
	return width;
}

void progress_draw(struct progress *progress, uint64_t count, uint64_t done)
{
	char line[WIDTH_MAX * 2 + 2] = "\r";
	size_t width, length;

	if (!progress->wanted || session_steady() - progress->drawn < DRAW_EVERY)
		return;
	progress->drawn = session_steady();
	width = terminal_width() - 1; /* a character in the last column would wrap */
	length = compose(progress, count, done, line + 1, width);
	/* Spaces overwrite the rest of a longer line, but not beyond the edge of a narrower
	 * window. */
	for (; length < progress->width && length < width; length++)
		line[1 + length] = ' ';
	line[1 + length] = '\r';
	put(line, length + 2);
	progress->width = length;
	progress->shown = true;
}

void progress_clear(struct progress *progress)
{
	char line[WIDTH_MAX + 2] = "\r";
	size_t width = terminal_width() - 1;

	if (!progress->shown)
		return;
	if (progress->width < width)
		width = progress->width;
	memset(line + 1, ' ', width);
	line[1 + width] = '\r';
	put(line, width + 2);
	progress->shown = false;
	progress->width = 0;
}
