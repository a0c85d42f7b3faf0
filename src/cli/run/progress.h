/* Shows the progress of an import, or of the loading of timers, on a line of a terminal that is
 * redrawn. */
#ifndef DW_CLI_PROGRESS_H
#define DW_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "durawheel/durawheel.h"

struct progress {
	bool wanted;  /* stderr is a terminal, and the input comes from elsewhere */
	bool shown;   /* the line is on the screen */
	size_t width; /* the width of the line on the screen */
	const char *unit;
	uint64_t total; /* the size of the stream in bytes, or the number of timers; 0 if unknown */
	dw_usec began;  /* the steady time of the start */
	dw_usec drawn;  /* the steady time of the last drawing */
};

/* progress_begin starts the progress of a stream that is read from fd. */
void progress_begin(struct progress *, int fd);

/* progress_begin_loading starts the progress of loading timers. The caller sets `total` once it is
 * known. */
void progress_begin_loading(struct progress *);

/* progress_draw shows that `count` lines or timers are done. `done` is the part of `total` that is
 * done, in the unit of `total`. It draws at most ten times a second. */
void progress_draw(struct progress *, uint64_t count, uint64_t done);

/* progress_clear removes the line. Call it before other output, and at the end. */
void progress_clear(struct progress *);

#endif
