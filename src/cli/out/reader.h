/* Reads a stream line by line, with a buffer of fixed size.
 *
 * reader_next() never blocks. It returns READER_MORE if it needs more bytes, so the caller can
 * store the lines that it has before it waits for a slow stream. */
#ifndef DW_CLI_READER_H
#define DW_CLI_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of the longest line, without its newline. */
#define READER_LINE_MAX ((size_t)2 * 1024 * 1024)

struct reader {
	int fd;
	char *bytes;     /* a buffer of READER_LINE_MAX + 1 bytes */
	size_t start;    /* where the next line starts in the buffer */
	size_t end;      /* where the bytes in the buffer end */
	uint64_t number; /* the number of the last returned line; the first has 1 */
	uint64_t taken;  /* bytes of the stream up to the end of the last returned line */
	bool ended;      /* the stream has ended */
	bool skipping;   /* the reader is inside a line that is too long */
};

enum reader_state {
	READER_LINE, /* a line was read */
	READER_LONG, /* a line was too long and is skipped */
	READER_MORE, /* the caller must call reader_fill() */
	READER_END
};

/* reader_open allocates the buffer. Returns false if out of memory. reader_close frees it, and does
 * not close fd. */
bool reader_open(struct reader *, int fd);
void reader_close(struct reader *);

/* reader_next returns the next line without its newline, if the buffer has all of it. The line
 * lives until the next reader_fill(). */
enum reader_state reader_next(struct reader *, const char **ret_line, size_t *ret_size);

/* reader_fill reads once, and may block. Returns false if the read fails. errno then has the
 * error. */
bool reader_fill(struct reader *);

#endif
