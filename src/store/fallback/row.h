/* A row of the journal: the difference between what Redis has under an id and what was promised
 * about that id while Redis was away. An id has one row at most.
 *
 * In the file a row is a timer of the SQLite store. The timer's generation is the row's number, its
 * topic is the namespace, and its deadline is that of the journaled timer. Its data are these
 * bytes, little-endian:
 *
 *	 0  1, the version of the layout, u8   1  what, u8   2  flags, u8   3  retries, u8
 *	 4  attempt, u32    8  base, u64       16  floor, u64     24  fence, u64
 *	32 session, u64    40 the timer's record, of a put
 *
 * One more row has the id ORIGIN_ID. It says to which server the rows belong: `what` is 0, `base`
 * is the difference of the clocks, and behind these fields stand the era and the address of the
 * server, each with its NUL. */
#ifndef DW_STORE_FALLBACK_ROW_H
#define DW_STORE_FALLBACK_ROW_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/linear.h"
#include "durawheel/store.h"
#include "port/op.h"

/* The id of the row that says to which server the other rows belong (origin.h). A timer with this
 * id is not journaled. */
#define ORIGIN_ID "durawheel: the server of this journal"
#define ROW_ORIGIN ((dw_op_kind)0)

/* A flag beside those of dw_replay: as far as the owner knew, Redis never had the id. */
#define ROW_ABSENT 128u

/* The fields of a row. */
struct row_words {
	dw_op_kind what; /* the kind of operation, as in dw_replay */
	unsigned flags;
	uint8_t retries; /* retries that Redis has not counted */
	uint32_t attempt;
	uint64_t base; /* the generation in Redis that the row replaces; 0: none, or unknown */
	uint64_t floor;
	uint64_t fence;
	/* Names the opening of the file in which the row was written (dw_replay.journal). */
	uint64_t session;
};

/* A row in memory. Only the file has the row's body. */
struct row {
	struct linear_node node; /* must be the first field */
	struct row_words words;
	uint64_t generation; /* the generation that the engine knows; 0: none */
	uint64_t number;     /* the row's generation in the file */
	/* The engine has claimed the timer from the journal, and has given no verdict. */
	bool is_claimed;
	bool has_begun;  /* the handler of this claim has started: DW_REPLAY_LOCAL */
	uint8_t claims;  /* how many claims were made in the journal */
	dw_usec at;      /* when the row was written (steady clock); 0: by an earlier process */
	size_t bytes;    /* the row's bytes in the file */
	uint8_t writes;  /* how many writes of the row the file has not answered */
	bool is_sent;    /* Redis may have done what the row says */
	bool is_leaving; /* Redis has the row, and the file is deleting it */
	struct op_queue behind; /* operations on the row's id that wait for its replay */
	char id[];
};

/* A row to be written. `due` is the timer's deadline. For a put, `body` is the timer's record. */
struct row_write {
	const char *id;
	const struct row_words *words;
	dw_usec due;
	const void *body;
	size_t body_size;
	bool is_vital; /* the write may use the space that is kept back for a full disk */
};

/* row_op makes the operation that writes a row of the namespace into the file. Returns NULL without
 * memory. */
dw_op *row_op(const struct alloc *, const char *name, const struct row_write *);

bool row_is_origin(const dw_row *);

/* row_read reads a row of the file; *ret_body points into it. Returns DW_OK, DW_ECORRUPT or
 * DW_ENEWER. */
int row_read(const dw_row *, struct row_words *ret_words, const void **ret_body, size_t *ret_size);

/* row_replay makes the operation that replays a row; `number` is the row's number. Returns NULL
 * without memory. */
dw_op *row_replay(const struct alloc *, const dw_row *, const struct row_words *, const void *body,
		  size_t body_size);

#endif
