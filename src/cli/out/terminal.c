#include "cli/out/terminal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Switches to the alternate screen, hides the cursor, and turns off the wrapping of long lines. */
static const char enter[] = "\033[?1049h\033[?25l\033[?7l\033[2J";
static const char leave[] = "\033[?7h\033[?25h\033[?1049l";

bool terminal_is_there(void)
{
	const char *kind = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !(kind && !strcmp(kind, "dumb"));
}

bool terminal_has_colour(void)
{
	const char *kind = getenv("TERM"), *refusal = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && kind && strcmp(kind, "dumb") != 0 && !(refusal && *refusal);
}

/* write_all writes the whole text. Returns false if the terminal is gone. */
static bool write_all(const char *text, size_t size)
{
	while (size > 0) {
		ssize_t written = write(STDOUT_FILENO, text, size);

		if (written < 0 && errno != EINTR)
			return false;
		text += written < 0 ? 0 : written;
		size -= written < 0 ? 0 : (size_t)written;
	}
	return true;
}

void terminal_take_keys(struct terminal *terminal)
{
	struct termios raw;

	if (terminal->has_keys || tcgetattr(STDIN_FILENO, &terminal->before) != 0)
		return;
	raw = terminal->before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	terminal->has_keys = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

void terminal_enter(struct terminal *terminal)
{
	terminal_take_keys(terminal);
	if (terminal->is_entered || !terminal->has_keys)
		return;
	terminal->is_entered = true;
	/* terminal_draw() will notice a terminal that is gone. */
	(void)write_all(enter, sizeof enter - 1);
}

void terminal_leave(struct terminal *terminal)
{
	if (terminal->is_entered)
		/* If the terminal is gone, there is nothing to restore. */
		(void)write_all(leave, sizeof leave - 1);
	terminal->is_entered = false;
	if (terminal->has_keys)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &terminal->before);
	terminal->has_keys = false;
}

void terminal_size(size_t *ret_rows, size_t *ret_columns)
{
	struct winsize size;
	bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;

	*ret_rows = known ? size.ws_row : 24;
	*ret_columns = known && size.ws_col > 0 ? size.ws_col : 80;
}

bool terminal_draw(const char *lines)
{
	bool is_written = write_all("\033[H", 3);

	for (const char *end; is_written && (end = strchr(lines, '\n')); lines = end + 1) {
		const char *next = end[1] ? "\033[K\r\n" : "\033[K";

		is_written =
		    write_all(lines, (size_t)(end - lines)) && write_all(next, strlen(next));
	}
	return is_written && write_all("\033[J", 3);
}

/* next_byte returns a byte. Returns -1 if none can be read now, and -2 if the terminal is gone. */
static int next_byte(void)
{
	unsigned char byte;
	ssize_t count = read(STDIN_FILENO, &byte, 1);

	if (count == 1)
		return byte;
	return count < 0 && errno != EAGAIN && errno != EINTR ? -2 : -1;
}

/* sequence reads the bytes after an escape character, and returns the key that they stand for. */
static enum key sequence(void)
{
	if (next_byte() != '[')
		return KEY_OTHER;
	switch (next_byte()) {
	case 'A':
		return KEY_UP;
	case 'B':
		return KEY_DOWN;
	case '5':
		return next_byte() == '~' ? KEY_PAGE_UP : KEY_OTHER;
	case '6':
		return next_byte() == '~' ? KEY_PAGE_DOWN : KEY_OTHER;
	default:
		return KEY_OTHER;
	}
}

enum key terminal_key(void)
{
	switch (next_byte()) {
	case -1:
		return KEY_NONE;
	case -2:
	case 'q':
	case 'Q':
		return KEY_QUIT;
	case 's':
		return KEY_SORT;
	case 'k':
		return KEY_UP;
	case 'j':
		return KEY_DOWN;
	case '\033':
		return sequence();
	default:
		return KEY_OTHER;
	}
}
