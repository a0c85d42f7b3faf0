/* What the command line says. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <durawheel/durawheel.h>

struct settings {
	const char *store;
	const char *name; /* of the timers in a store that is shared: Redis */
	const char *file;
	dw_usec remind;
	dw_usec from; /* DW_NEVER: not given */
	int speed;    /* 0: not given */
	int until_idle;
	int peer; /* shares the timers with others */
	int daily;
	dw_usec until;  /* DW_NEVER: not given */
	dw_usec begins; /* midnight of that date, UTC; DW_NEVER: not given */
};

/* settings_read returns 0, or -1 if the arguments are wrong. Then it has printed the usage on
 * stderr. */
int settings_read(int argc, char **argv, struct settings *ret_settings);

#endif
