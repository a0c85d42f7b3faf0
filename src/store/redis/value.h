/* A timer as Redis keeps it: a header that the scripts of lua/ read and write, and the body,
 * without what its id and its length say already: a timer with 100 bytes of data takes 150.
 *
 *	0 state u8   1 open u8   2 retries u8   3 crashes u8   4 attempt u32   8 ver u64   16 due
 *	i64
 *	24 claim u64 (the fence of the claimer)   32 check u32
 *	36 form u8   37 topic size u8   38 crc32c of the record u32   [42 late_after i64, in form
 *	2]
 *	topic, data; in form 3 all of the record as src/timer/record.h has it, topic size 0
 *
 * Little-endian. The check covers header and crc, the crc the record as src/timer/record.h has it:
 * so no flipped bit becomes another deadline, and no header gets another body.
 *
 * Form 3 is for records that the other forms cannot carry, those of later versions: so a library
 * that does not know the version can tell it from damage. */
#ifndef DW_STORE_REDIS_VALUE_H
#define DW_STORE_REDIS_VALUE_H

#include <stdbool.h>

#include "base/alloc.h"
#include "durawheel/store.h"

#define VALUE_HEAD_SIZE 36u
#define VALUE_BODY_MIN 6u                         /* form, topic size, crc */
#define VALUE_BODY_MAX(size) ((size) + 14u)       /* of a record of that size, at most */
#define VALUE_SCORE_MAX INT64_C(9007199254740991) /* what a double counts exactly */

/* value_pack writes the packed body of a record; its size, at most VALUE_BODY_MAX. 0: that is no
 * record. */
size_t value_pack(const void *record, size_t size, unsigned char *ret_packed);

/* value_head_write writes a header over the body's crc; claim: the fence of its claimer, or 0. */
void value_head_write(unsigned char *ret_head, const dw_head *, uint64_t claim, uint32_t crc);

/* value_head reads a header that the scripts answered with. False: it is not one. */
bool value_head(const void *bytes, size_t size, dw_head *ret_head);

/* value_row: the row of a stored value; bytes NULL: nothing is stored where something should be.
 * Its status says whether it can be trusted. NULL: no memory. */
dw_row *value_row(const struct alloc *, const char *id, size_t id_size, const void *bytes,
		  size_t size);

/* value_score: where a deadline stands in the sorted set, without its sign. */
int64_t value_score(dw_usec due);

/* value_check: the check of a header over a body's crc, as the scripts count it. */
uint32_t value_check(const unsigned char *head, uint32_t crc);

#endif
