/* A timer as bytes.
 *
 * The body contains the parts that never change: id, topic, data. It opens with magic, version,
 * length and checksum, so that a flipped byte is found and never makes another timer. The seal is a
 * checksum over the parts that change (the head) and over the body's own checksum. So a flipped
 * digit in the store never makes another deadline, and a head never gets another body. The body,
 * little-endian:
 *
 *	 0 'D' 'W' 'T' version
 *	 4 size of all, u32
 *	 8 crc32c of all but these four bytes, u32
 *	12 id size, u8; topic size, u8; zero, u16
 *	16 data size, u32
 *	20 late_after, i64
 *	28 id, topic, data
 *
 * Version 2 has blocks between topic and data, each with a growing tag:
 *
 *	tag, u8; flags, u8; size, u16; bytes
 *
 * Flag 1 means that a reader that does not know the tag leaves the timer alone.
 *
 * Tag 1 is the rule of a recurring timer: the occurrence, i64; start, i64; until, i64; computed,
 * i64; missed, u32; and the rule as text, which ends with NUL. Only these five numbers change from
 * one occurrence to the next one.
 *
 * Tag 2 belongs to a debounced timer: the time of the first put of its series, i64.
 *
 * Tag 3 says how long the timer's end is remembered (dw_timer.keep_us), i64. A reader that does not
 * know this tag only forgets the end sooner.
 *
 * A writer uses the oldest version that can carry the timer. A reader accepts all older versions
 * and recognizes a newer one: every version has the first 16 bytes, the id and the topic in the
 * same place, with the same limits and the same seal. A version adds its own parts behind the
 * topic. So a library that was rolled back can list a newer timer, and leave it alone. */
#ifndef DW_TIMER_RECORD_H
#define DW_TIMER_RECORD_H

#include <stdbool.h>

#include "durawheel/store.h"

#define RECORD_HEADER_SIZE 28u
#define RECORD_VERSION 2 /* the newest version that this library understands */
#define RECORD_WORDS_SIZE 64

/* A decoded body. The pointers point into the body; id and topic are not NUL-terminated. */
struct record {
	const char *id;
	const char *topic;
	const void *data;
	dw_usec late_after;
	const void *blocks; /* the blocks in their stored form */
	uint32_t data_size;
	uint16_t blocks_size; /* 0: version 1 can carry the timer */
	uint8_t id_size;
	uint8_t topic_size;
};

/* The rule of a recurring timer, and its present occurrence. */
struct record_rule {
	const char *text;
	dw_usec occurrence; /* the time of the occurrence, without jitter */
	dw_usec start;      /* the start of the rule: set by the caller, or the time of the put */
	dw_usec until;      /* the end of the rule: no occurrence is later */
	dw_usec computed;   /* wall clock when the occurrence was computed; 0: a caller set it */
	uint32_t missed;    /* occurrences before this one that were not delivered */
};

#define RECORD_BLOCKS_MAX 4096u

/* record_size returns how many bytes record_encode writes. */
size_t record_size(const struct record *);
void record_encode(const struct record *, unsigned char *ret_body);

/* record_crc returns the checksum that an encoded body contains. */
uint32_t record_crc(const void *body);

/* record_restore writes the same bytes as record_encode, for a store that keeps only a part of
 * them. The store must keep the four bytes of the checksum, so that decoding verifies the rest. */
void record_restore(const struct record *, const unsigned char *crc, unsigned char *ret_body);

/* record_decode decodes a body, and enforces every limit of the API, so that its callers need not.
 * It returns DW_ECORRUPT if the bytes are not a body, are damaged, or are beyond a limit. It
 * returns DW_ENEWER if the body is intact, but of a newer version. Then only id and topic are set,
 * and they are empty if this version cannot read them. */
int record_decode(const void *body, size_t size, struct record *ret_record);

/* record_is_nameless returns true for a record of a newer version whose id and topic this version
 * cannot read. */
static inline bool record_is_nameless(const struct record *record)
{
	return record->id_size == 0;
}

/* record_breaks_limit returns true if the checksum is right, but the record is beyond a limit of
 * the API. ret_words says which limit, in words to be printed after the timer's id. */
bool record_breaks_limit(const void *body, size_t size, char ret_words[RECORD_WORDS_SIZE]);

/* record_of_row decodes the body of a store's row. It also returns DW_ECORRUPT if the store says
 * that the row is damaged, or if the body has another id than the row. */
int record_of_row(const dw_row *, struct record *ret_record);

/* record_rule_write writes the block of a rule into a buffer of RECORD_BLOCKS_MAX bytes, and
 * returns its size. The text has at most DW_RULE_TEXT_MAX bytes. */
size_t record_rule_write(const struct record_rule *, unsigned char *ret_blocks);

/* record_rule reads the rule of an intact body. It returns false if the body has none. */
bool record_rule(const void *body, struct record_rule *ret_rule);

/* record_renew changes the five numbers of a body's rule, and its checksum. */
void record_renew(unsigned char *body, const struct record_rule *);

/* record_series_write writes the block that says when the series of a debounced timer began
 * (`since`), and returns the size of the block. record_series returns when the series of an intact
 * body began, or 0 if the body has no such block. */
#define RECORD_SERIES_SIZE 12u
size_t record_series_write(dw_usec since, unsigned char *ret_blocks);
dw_usec record_series(const void *body);

/* record_keep_write writes the block of dw_timer.keep_us, and returns its size. record_keep returns
 * the duration in the block of an intact body, or 0 if it has none. */
#define RECORD_KEEP_SIZE 12u
size_t record_keep_write(dw_usec keep, unsigned char *ret_blocks);
dw_usec record_keep(const void *body);

/* record_recurs returns true if both bodies have a rule, and differ at most in the five numbers of
 * that rule. */
bool record_recurs(const void *body, const void *other);

/* record_version returns the version of an intact body. */
unsigned record_version(const void *body);

/* record_seal computes the checksum over a head, the token that claimed it, and its body. The body
 * must have been encoded or decoded with success. */
uint32_t record_seal(const dw_head *, uint64_t token, const void *body);

#endif
