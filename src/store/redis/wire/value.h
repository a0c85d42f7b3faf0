/* A timer as Redis keeps it: a header that the scripts of lua/ read and write, and the body. The
 * body leaves out what the id and the length of the value already say, so a timer with 100 bytes of
 * data takes 150. Little-endian:
 *
 *	 0 state u8, open u8, retries u8, crashes u8, attempt u32
 *	 8 ver u64
 *	16 due i64
 *	24 claim u64: the fence of the owner that claimed it
 *	32 check u32
 *	36 form u8, topic size u8, crc32c of the record u32
 *	42 form 1: topic, data
 *	   form 2: late_after i64, topic, data
 *	   form 3: the whole record as src/timer/record.h has it; topic size is 0
 *
 * If the form has 16 added, the text of dw_set_why() and then its size (u8) follow at the end.
 *
 * The check covers the header and the crc; the crc covers the record of src/timer/record.h. So a
 * flipped bit never makes another deadline, and a header never goes with another body.
 *
 * Form 3 is for records that the other forms cannot carry: those of later versions. A library that
 * does not know such a version can tell the record from damage. */
#ifndef DW_STORE_REDIS_VALUE_H
#define DW_STORE_REDIS_VALUE_H

#include <stdbool.h>

#include "base/alloc.h"
#include "durawheel/store.h"

#define VALUE_HEAD_SIZE 36u
#define VALUE_BODY_MIN 6u                   /* bytes of form, topic size and crc */
#define VALUE_BODY_MAX(size) ((size) + 14u) /* the largest body of a record of that size */
/* A double represents every integer up to this one exactly. */
#define VALUE_SCORE_MAX INT64_C(9007199254740991)

/* value_pack writes the packed body of a record, and returns its size, at most VALUE_BODY_MAX.
 * Returns 0 if the bytes are not a record. */
size_t value_pack(const void *record, size_t size, unsigned char *ret_packed);

/* value_head_write writes a header. Its check covers the body's crc. `claim` is the fence of the
 * owner that claimed the timer, or 0. */
void value_head_write(unsigned char *ret_head, const dw_head *, uint64_t claim, uint32_t crc);

/* value_add_why adds a text of dw_set_why() after a whole value of `size` bytes. The buffer must
 * have space for text_size + 1 more bytes. It returns the new size. */
size_t value_add_why(unsigned char *value, size_t size, const char *text, size_t text_size);

/* value_head reads a header that a script has sent. Returns false if the bytes are not a header. */
bool value_head(const void *bytes, size_t size, dw_head *ret_head);

/* value_row makes the row of a stored value. bytes is NULL if there is an entry without a value.
 * The row's status says whether the row is undamaged. Returns NULL without memory. */
dw_row *value_row(const struct alloc *, const char *id, size_t id_size, const void *bytes,
		  size_t size);

/* value_score returns the score that a pending timer with this deadline has in the sorted set. The
 * score of a claimed timer is its negative. */
int64_t value_score(dw_usec due);

/* value_check computes the check of a header and a body's crc, as the scripts do. */
uint32_t value_check(const unsigned char *head, uint32_t crc);

#endif
