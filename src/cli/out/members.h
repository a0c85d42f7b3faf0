/* The peers that share a namespace, as JSON, and their shards as words. */
#ifndef DW_CLI_OUT_MEMBERS_H
#define DW_CLI_OUT_MEMBERS_H

#include <jansson.h>
#include <stddef.h>

#include "durawheel/members.h"

/* The size of the longest text of shard numbers: "0, 2, 4" and so on to 254. */
#define MEMBERS_SHARDS_SIZE 1024
#define MEMBERS_WHO_SIZE 256
#define MEMBERS_STATE_SIZE 640

/* members_object returns {"members":[...], "shard_count", "unowned":[...]}, or NULL if out of
 * memory. "unowned" has the shards that no member has. */
json_t *members_object(const dw_member_list *);

/* members_note_owner empties "unowned" if one owner has the whole namespace. That is so if no
 * living peer has a shard and `owner`, which comes from dw_store_status, is not "". The peers then
 * wait until that owner ends. */
void members_note_owner(json_t *object, const char *owner);

/* members_shards writes an array of numbers that grow as "0-3, 7". */
void members_shards(const json_t *numbers, char ret_text[MEMBERS_SHARDS_SIZE]);

/* members_state describes the problems of a member. It writes "" if there is no problem. */
void members_state(const json_t *member, json_int_t shard_count, char ret_text[MEMBERS_STATE_SIZE]);

/* members_who writes who a member is, without the version. */
void members_who(const json_t *member, char ret_text[MEMBERS_WHO_SIZE]);

#endif
