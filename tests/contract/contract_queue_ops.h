/* Operations on topics and queues, for the cases of the contract. The topic of messages is "q". */
#ifndef DW_TESTS_CONTRACT_CONTRACT_QUEUE_OPS_H
#define DW_TESTS_CONTRACT_CONTRACT_QUEUE_OPS_H

#include "contract/contract.h"
#include "topic/message.h"
#include "topic/settings.h"

#define HIDE DW_MILLISECONDS(300)
#define SETTINGS "queue=1 hide=300000 "

/* What was taken. */
struct taken {
	size_t count;
	char ids[64];
	char tokens[64][MESSAGE_TOKEN_SIZE];
	uint32_t attempts[64];
};

/* contract_op: bytes are copied. contract_set sends a TOPIC_SET; the status. */
dw_op *contract_op(dw_op_kind, const char *topic, const void *bytes, size_t size);
int contract_set(struct ask *, const char *topic, const char *text, unsigned flags);

/* contract_encode writes a record whose data is its id; its size. */
size_t contract_encode(unsigned char *room, const char *id, const char *topic);

/* contract_now: the store's time; contract_pass lets it go on. */
dw_usec contract_now(const struct contract *);
void contract_pass(struct contract *, dw_usec time);

/* contract_set_clock: somebody sets the store's clock. */
void contract_set_clock(struct contract *, dw_usec step);

/* contract_push_op makes a PUSH with one message for each letter. */
dw_op *contract_push_op(const char *topic, const char *letters, dw_head);

/* contract_push_due pushes one message for each letter, in one operation; contract_push now, by
 * the owner; contract_push_timers: these are of timers that are due. */
int contract_push_due(struct ask *, const char *topic, const char *letters, dw_usec due);
int contract_push(struct contract *, const char *letters);
int contract_push_timers(struct contract *, const char *letters);

int contract_take_some(struct ask *, size_t limit, struct taken *ret_taken);

/* contract_answer_one gives one verdict; the status of the message. */
int contract_answer_one(struct ask *, const char *token, dw_verdict, dw_usec due);

/* contract_info: size 0: the topic has no settings. */
dw_topic_info contract_info(struct ask *, const char *topic);
uint64_t contract_length(struct contract *);

#endif
