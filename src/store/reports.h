/* Adds up the reports of the peers of a store, so that the sum reads like the report of one owner.
 * A report is JSON that engine/report.c writes. No key occurs a second time in the text, so a
 * search for the key finds it. */
#ifndef DW_STORE_REPORTS_H
#define DW_STORE_REPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "durawheel/store.h"

#define REPORTS_SIZE 6144 /* the size of the text of the sum, with the NUL */
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
	/* Shards of which a peer is the owner and which the server does not refuse to it. */
	uint64_t used[REPORTS_WORDS];
	unsigned refused_count;          /* how many more shards are refused that no report names */
	char refusals[REPORTS_REFUSALS]; /* as JSON, with commas between them */
};

/* reports_add_left adds the report of a peer that has left. Only its counters count. */
void reports_add_left(struct report_sum *, const char *report);

/* reports_add adds the report of a living peer, with the shards that it has. */
void reports_add(struct report_sum *, const char *report,
		 const uint64_t shards[static REPORTS_WORDS]);

/* reports_write writes the sum for a store that has shard_count shards. */
void reports_write(const struct report_sum *, unsigned shard_count, char ret_text[REPORTS_SIZE]);

/* reports_number returns the number of a key in a report, or 0 if the report does not have the key.
 * reports_words returns the text of a key, or "" if the report does not have it. */
int64_t reports_number(const char *report, const char *key);
void reports_words(const char *report, const char *key, char *ret_words, size_t size);

#endif
