/* The end of a timer as little-endian bytes, in every store. lua/common/end_timer.lua writes the
 * same:
 *
 *	 0 version, u8: 1; end, u8; reason, u8; topic size, u8; size of `by`, u8; zero, u8
 *	 6 result size, u16
 *	 8 generation, u64; due, i64; started, i64; at, i64; until, i64
 *	48 attempt, u32; retries, u32
 *	56 topic, by, result
 *
 * There is no checksum: a flipped bit can change what people read, or when a DW_ONCE is accepted
 * again. A reader accepts no later version. */
#ifndef DW_TIMER_ENDED_H
#define DW_TIMER_ENDED_H

#include <stdbool.h>

#include "timer/transition.h"

#define ENDED_AT_ONCE 64u /* most expired ends that one operation drops */
#define ENDED_BY_MAX 127
#define ENDED_HEADER_SIZE 56u
#define ENDED_SIZE_MAX (ENDED_HEADER_SIZE + DW_TOPIC_MAX + ENDED_BY_MAX + DW_RESULT_MAX)

/* ended_of fills in what the operation and the stored timer say about an end. It does not set
 * topic, until and `by`. */
void ended_of(const dw_op *, dw_end, const dw_head *stored, dw_usec now, dw_ended *ret_ended);

/* ended_keep sets until to the time until which the end is remembered. The duration is the timer's
 * own keep_us, or its topic's if the timer has none. It returns false if the end is not kept. */
bool ended_keep(dw_ended *, dw_usec own, dw_usec of_topic);

/* ended_until returns the time until which an end is remembered. `until` is the time in the store's
 * index. If the clock was far ahead when this time was computed, and was set back since, `until` is
 * too late. Then the end is remembered from now on, for the duration that its bytes say. */
dw_usec ended_until(const void *body, size_t size, dw_usec until, dw_usec now);

/* ended_size returns how many bytes ended_write writes: at most ENDED_SIZE_MAX. */
size_t ended_size(const dw_ended *);
void ended_write(const dw_ended *, unsigned char *ret_bytes);

/* Memory for the strings of an end that was read. */
struct ended_names {
	char topic[DW_TOPIC_MAX + 1];
	char by[ENDED_BY_MAX + 1];
};

/* ended_read reads an end; the result points into the bytes. It returns false if the bytes are not
 * those of an end. */
bool ended_read(const void *bytes, size_t size, dw_ended *ret_ended, struct ended_names *ret_names);

/* ended_by writes the name of an owner, "HOST pid N", from its line "HOST, pid N, durawheel V". A
 * line of another form stays as it is. */
void ended_by(const char *line, char ret_by[ENDED_BY_MAX + 1]);

#endif
