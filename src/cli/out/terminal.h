/* A terminal of which one command has the whole screen, until terminal_leave(). */
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

/* terminal_is_there returns true if stdin and stdout are a terminal whose cursor can move. */
bool terminal_is_there(void);

/* terminal_take_keys takes keys one by one. terminal_enter also takes the screen. terminal_leave
 * gives back what was before. All may be called twice. */
void terminal_take_keys(struct terminal *);
void terminal_enter(struct terminal *);
void terminal_leave(struct terminal *);

/* terminal_size returns 24 rows and 80 columns if the real size is unknown. */
void terminal_size(size_t *ret_rows, size_t *ret_columns);

/* terminal_draw shows lines, which end with a newline, from the top of the screen on. Returns false
 * if the terminal is gone. */
bool terminal_draw(const char *lines);

/* terminal_key reads the key that was pressed. KEY_NONE means that no key is left to read. KEY_QUIT
 * is also returned if the terminal is gone. */
enum key terminal_key(void);

#endif
