/* The record of a peer in the list of members, as text. lua/README.md describes its form. */
#ifndef DW_STORE_REDIS_MEMBER_H
#define DW_STORE_REDIS_MEMBER_H

#include <stdbool.h>
#include <stddef.h>

#include "durawheel/store.h"

#define MEMBER_SIZE 512

/* member_write writes the record; the text always ends with a NUL. member_read reads a record;
 * ret_holder then points into the text. member_read returns false if the text is not a record. The
 * record does not have `until` and `is_self`. */
void member_write(const dw_member_row *, const char *holder, char ret_text[MEMBER_SIZE]);
bool member_read(const char *text, dw_member_row *ret_row, const char **ret_holder);

/* member_has returns true if the peer has the shard. member_count returns how many shards the peer
 * has. */
bool member_has(const dw_member_row *, unsigned shard);
unsigned member_count(const dw_member_row *);

#endif
