/* Reads the lines of a stream, in a buffer of fixed size. reader_next() never waits: it returns
 * READER_MORE if it needs more bytes. So the caller can store the lines already read while a slow
 * stream waits. */
#ifndef DW_CLI_READER_H
#define DW_CLI_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define READER_LINE_MAX ((size_t)2 * 1024 * 1024) /* the longest line, without its newline */

struct reader {
	int fd;
	char *bytes;     /* a buffer of READER_LINE_MAX + 1 bytes */
	size_t start;    /* where the next line starts */
	size_t end;      /* where the read bytes end */
	uint64_t number; /* number of the last line that was given, from 1 */
	uint64_t taken;  /* bytes of the stream up to the end of the last line that was given */
	bool ended;      /* the stream has ended */
	bool skipping;   /* inside a line that is too long */
};

enum reader_state {
	READER_LINE, /* a line was read */
	READER_LONG, /* a line was too long and is skipped */
	READER_MORE, /* call reader_fill() first */
	READER_END
};

/* reader_open returns false if out of memory. reader_close does not close fd. */
bool reader_open(struct reader *, int fd);
void reader_close(struct reader *);

/* reader_next gives the next line without its newline, if it was read completely. The line lives
 * until the next reader_fill(). */
enum reader_state reader_next(struct reader *, const char **ret_line, size_t *ret_size);

/* reader_fill reads once and may wait. False: the read failed, and errno says why. */
bool reader_fill(struct reader *);

#endif
