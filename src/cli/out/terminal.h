/* Lets one command use the whole screen of a terminal, until terminal_leave(). */
#ifndef DW_CLI_TERMINAL_H
#define DW_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct terminal {
	bool has_keys;
	bool is_entered;
	struct termios before;
};

enum key { KEY_NONE, KEY_QUIT, KEY_SORT, KEY_UP, KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_OTHER };

/* terminal_is_there returns true if stdin and stdout are a terminal that can move its cursor. */
bool terminal_is_there(void);

/* terminal_has_colour returns true if stdout is a terminal that may show colours: TERM is not
 * "dumb", and NO_COLOR is not set. */
bool terminal_has_colour(void);

/* terminal_take_keys makes each key readable at once. terminal_enter also clears the screen.
 * terminal_leave restores the state before them. Each of them may be called twice. */
void terminal_take_keys(struct terminal *);
void terminal_enter(struct terminal *);
void terminal_leave(struct terminal *);

/* terminal_size returns the number of rows and columns, or 24 and 80 if they are unknown. */
void terminal_size(size_t *ret_rows, size_t *ret_columns);

/* terminal_draw shows lines from the top of the screen. Each line ends with a newline. Returns
 * false if the terminal is gone. */
bool terminal_draw(const char *lines);

/* terminal_key returns the next pressed key, or KEY_NONE if no key was pressed. It returns KEY_QUIT
 * if the terminal is gone. */
enum key terminal_key(void);

#endif
