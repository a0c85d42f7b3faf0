#include "cli/out/buckets.h"

#define MS(count) DW_MILLISECONDS(count)

/* The metrics of the library use the same bounds. A test compares them. */
static const dw_usec ends[BUCKETS - 1] = {
    50,
    100,
    250,
    500,
    MS(1),
    2500,
    MS(5),
    MS(10),
    MS(25),
    MS(50),
    MS(100),
    MS(250),
    MS(500),
    DW_SECONDS(1),
    MS(2500),
    DW_SECONDS(5),
    DW_SECONDS(10),
    DW_SECONDS(30),
    DW_SECONDS(60),
};

json_int_t buckets_of(const json_t *report, const char *key, json_int_t ret_counts[BUCKETS])
{
	const json_t *counts = json_object_get(report, key);
	json_int_t sum = 0;

	for (size_t i = 0; i < BUCKETS; i++) {
		ret_counts[i] = json_integer_value(json_array_get(counts, i));
		ret_counts[i] = ret_counts[i] > 0 ? ret_counts[i] : 0;
		sum += ret_counts[i];
	}
	return sum;
}

dw_usec bucket_end(size_t bucket)
{
	return bucket < BUCKETS - 1 ? ends[bucket] : DW_NEVER;
}

void bucket_words(size_t bucket, char ret_words[BUCKET_WORDS_SIZE])
{
	char begin[TEXT_SPAN_SIZE] = "", end[TEXT_SPAN_SIZE] = "";

	if (bucket > 0)
		text_span(bucket_end(bucket - 1), 2, begin);
	if (bucket < BUCKETS - 1)
		text_span(bucket_end(bucket), 2, end);
	/* The text always fits. */
	if (bucket == 0)
		(void)snprintf(ret_words, BUCKET_WORDS_SIZE, "up to %s", end);
	else if (bucket < BUCKETS - 1)
		(void)snprintf(ret_words, BUCKET_WORDS_SIZE, "%s to %s", begin, end);
	else
		(void)snprintf(ret_words, BUCKET_WORDS_SIZE, "above %s", begin);
}
