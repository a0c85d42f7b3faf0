/* Adds up the reports of the peers of a store, so that all of them read like that of one owner. A
 * report is JSON which engine/report.c writes. Its keys stand nowhere else in the text. */
#ifndef DW_STORE_REPORTS_H
#define DW_STORE_REPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "durawheel/store.h"

#define REPORTS_SIZE 6144 /* of the sum, with the NUL */
#define REPORTS_REFUSALS (REPORTS_SIZE / 2)

enum { REPORTS_NUMBERS = 40, REPORTS_LISTS = 4, REPORTS_LIST_MAX = 32 };

/* A set of shards, as in dw_member_row. */
enum { REPORTS_WORDS = DW_SHARDS_MAX / 64 };

struct report_sum {
	int64_t numbers[REPORTS_NUMBERS];
	uint64_t lists[REPORTS_LISTS][REPORTS_LIST_MAX];
	unsigned list_counts[REPORTS_LISTS];
	int64_t error, error_at;
	char error_text[160]; /* as JSON */
	unsigned peers, owners;
	uint64_t owned[REPORTS_WORDS], refused[REPORTS_WORDS];
	uint64_t used[REPORTS_WORDS];    /* owned by a peer to which they are not refused */
	unsigned refused_count;          /* those that are not in the set, too */
	char refusals[REPORTS_REFUSALS]; /* as JSON, with commas between them */
};

/* reports_add_left adds only the counters: the peer has left. */
void reports_add_left(struct report_sum *, const char *report);

/* reports_add adds a peer that lives, with the shards that it has. */
void reports_add(struct report_sum *, const char *report,
		 const uint64_t shards[static REPORTS_WORDS]);

/* reports_write writes the sum for a store with so many shards. */
void reports_write(const struct report_sum *, unsigned shard_count, char ret_text[REPORTS_SIZE]);

/* reports_number reads a number of a report; 0: it has no such key. reports_words reads a text;
 * "": it has none. */
int64_t reports_number(const char *report, const char *key);
void reports_words(const char *report, const char *key, char *ret_words, size_t size);

#endif
