/* The buckets in which durawheel counts how late handlers started and how long they ran. */
#ifndef DW_CLI_BUCKETS_H
#define DW_CLI_BUCKETS_H

#include <jansson.h>

#include "cli/out/text.h"

#define BUCKETS 20 /* the last bucket counts all longer durations */

/* buckets_of reads the counts of one key of an owner's report, for example "lateness_buckets".
 * Returns the sum of the counts, or 0 if the report has no such key. */
json_int_t buckets_of(const json_t *report, const char *key, json_int_t ret_counts[BUCKETS]);

/* bucket_end returns the longest duration of a bucket, or DW_NEVER for the last one. */
dw_usec bucket_end(size_t bucket);

/* bucket_words describes a bucket, for example "up to 50us", "50us to 100us" or "above 1m". */
#define BUCKET_WORDS_SIZE (2 * TEXT_SPAN_SIZE + 8)
void bucket_words(size_t bucket, char ret_words[BUCKET_WORDS_SIZE]);

#endif
