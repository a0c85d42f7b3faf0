/* Decides which operations one command carries, and writes the words of the command. */
#ifndef DW_STORE_REDIS_BATCH_H
#define DW_STORE_REDIS_BATCH_H

#include <stdbool.h>

#include "port/op.h"

struct redis_store;
struct shard;

#define BATCH_MAX 512u             /* most operations in one command */
#define BATCH_COST_MAX 2000u       /* about how long one command may keep the server busy, in us */
#define BATCH_GOOD 256u            /* a queue with this number of operations is sent at once */
#define GATHER_MAX (2 * BATCH_MAX) /* batch_gather looks this far into the queue */
/* If a command carries several operations, their bodies have at most this many bytes together. With
 * the operations' heads the command is smaller than 1 MiB, the lowest client-query-buffer-limit. */
#define BATCH_BYTES_MAX ((size_t)1 << 19)

struct batch {
	unsigned char *packed; /* buffer for the bodies of one command */
	size_t packed_size;
	char flags[BATCH_MAX]; /* one digit for each put of a command */
};

/* batch_gather moves operations of the same kind as the first one forward, so that they follow it.
 * Operations on the same id keep their order. */
void batch_gather(struct op_queue *);

/* batch_take_back puts operations that were sent but not applied back into the queue. The queue
 * stays in the order of submission. */
void batch_take_back(struct op_queue *, struct op_queue *ops);

/* batch_cost returns how long this operation keeps the server busy, in us, as measured on a slow
 * machine. While a command runs, the server serves nobody else. batch_is_good returns true if the
 * queue has enough operations for a command. */
unsigned batch_cost(const dw_op *);
bool batch_is_good(const struct op_queue *);

/* batch_run returns how many operations at the head of the queue make one command, and how many
 * bytes their bodies need. batch_room provides a buffer of that size. batch_add adds the words of
 * the operations; it returns false if one of them cannot be stored. */
size_t batch_run(const struct op_queue *, size_t *ret_bytes);
int batch_room(struct redis_store *, size_t bytes);
bool batch_add(struct redis_store *, const struct shard *, const struct op_queue *, size_t count);

/* batch_is_known returns true if the script may claim, settle or renew the timer without reading it
 * first. The script still reads the timer if the inbox has its id, because a client has changed it
 * then. batch_forget takes this permission back. */
bool batch_is_known(const dw_op *);
void batch_forget(struct op_queue *);

/* batch_add_forget adds the words that say how many dead letters the shard may keep, and how old
 * they may be. */
void batch_add_forget(struct redis_store *, const struct shard *);

#endif
