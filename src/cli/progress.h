/* How far an import or a loading is, on one line of a terminal that is drawn again and again. */
#ifndef DW_CLI_PROGRESS_H
#define DW_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "durawheel/durawheel.h"

struct progress {
	bool wanted;  /* stderr is a terminal, and nobody types the lines into one */
	bool shown;   /* the line is there */
	size_t width; /* of what is there */
	const char *unit;
	uint64_t total; /* bytes of the stream, or timers; 0: not known */
	dw_usec began;  /* steady */
	dw_usec drawn;  /* steady: last */
};

/* progress_begin: for a stream that is read from fd. */
void progress_begin(struct progress *, int fd);

/* progress_begin_loading: of timers; how many there are, total, is told later, or never. */
void progress_begin_loading(struct progress *);

/* progress_draw shows that count lines or timers are done, and so much of total; at most ten times
 * a second. */
void progress_draw(struct progress *, uint64_t count, uint64_t done);

/* progress_clear takes the line away, before something else is written, and at the end. */
void progress_clear(struct progress *);

#endif
