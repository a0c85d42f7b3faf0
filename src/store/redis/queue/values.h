/* Reads the values of messages that were not in the reply of a script, for the rows of a TAKE or an
 * ANSWER.
 *
 * They are read in pages. If a reply is lost, its page is read again. If the server closes the
 * connection because of a page, the next pages are smaller, as suspect.h says. If it does so three
 * times because of one message alone, the program is told, and for a moment messages of at least
 * this size are not asked for. */
#ifndef DW_STORE_REDIS_VALUES_H
#define DW_STORE_REDIS_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "port/op.h"
#include "store/redis/wire/node.h"

struct redis_store;

/* values_left returns true if the value of this row was not read yet. The value has row->body_size
 * bytes. values_first_left returns the first such row, or NULL. values_left_row makes such a row;
 * it returns NULL without memory. */
static inline bool values_left(const dw_row *row)
{
	return !row->body && row->body_size > 0;
}
dw_row *values_first_left(const dw_op *);
dw_row *values_left_row(struct alloc *, const char *token, uint64_t size);

/* values_fail sets this status in the row, because its value cannot be read. */
void values_fail(dw_row *, int status);

/* values_refused returns true if the server does not send the value of this row. values_judge
 * returns how often the server has closed the connection because of the last command of the
 * operation. It returns 0 if the server has not done so, or if the program was told of it. */
bool values_refused(const struct redis_store *, const dw_row *);
unsigned values_judge(struct redis_store *, dw_op *);

/* values_read sends the request for the next page. If its reply is lost, the operation waits to be
 * sent again. values_answered takes the values, and frees the request; the operation is in
 * request->context. It sets the status of a row to DW_ESTALE if the message is gone, and to
 * DW_ECORRUPT if the message is damaged. If values_answered does not return DW_OK, the operation
 * cannot go on. */
int values_read(struct redis_store *, dw_op *, request_answered *answered);
int values_answered(struct redis_store *, struct redis_request *, const struct reply *);

#endif
