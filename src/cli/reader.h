/* Lines of a stream, in a buffer of fixed size. The reader never waits by itself: it says when it
 * needs more, so that a slow stream does not keep what was read already from being stored. */
#ifndef DW_CLI_READER_H
#define DW_CLI_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define READER_LINE_MAX ((size_t)2 * 1024 * 1024) /* without its newline */

struct reader {
	int fd;
	char *bytes;     /* READER_LINE_MAX + 1 of them */
	size_t start;    /* of the next line */
	size_t end;      /* of what is read */
	uint64_t number; /* of the line last given out, from 1 */
	uint64_t taken;  /* bytes of the stream up to its end */
	bool ended;      /* the stream has no more */
	bool skipping;   /* inside a line that is too long */
};

enum reader_state {
	READER_LINE, /* a line */
	READER_LONG, /* a line too long; it is skipped */
	READER_MORE, /* reader_fill() first */
	READER_END
};

/* reader_open: false when there is no memory. reader_close does not close fd. */
bool reader_open(struct reader *, int fd);
void reader_close(struct reader *);

/* reader_next gives the next line that is there, without its newline; it lives until the next
 * reader_fill(). */
enum reader_state reader_next(struct reader *, const char **ret_line, size_t *ret_size);

/* reader_fill reads once, which may wait. False: it failed, and errno says why. */
bool reader_fill(struct reader *);

#endif
