#include "sim/fleet/planted_scripts.h"

#define OTHER_TOKEN "'9007199254740991:other:1'"

/* The patches of one bug stand together. */
static const struct {
	enum bug bug;
	struct patch patch;
} all[] = {
    {BUG_NO_HELLO,
     {NULL, "\tif call('GET', LEASE) ~= ARGV[2] then", "\tif not call('GET', LEASE) then"}},
    {BUG_NO_HELLO, {NULL, "if tonumber(meta[2]) ~= ARGV[4] - 1 then", "if false then"}},
    {BUG_NO_HELLO, {NULL, "if session[1] ~= ARGV[2] or", "if not session[1] or"}},
    {BUG_NO_HELLO, {NULL, "if tonumber(session[2]) ~= ARGV[4] - 1 then", "if false then"}},
    {BUG_CLAIM_UNSEEN,
     {"claim", "elseif ver ~= tonumber(ARGV[3 * k + 5]) then", "elseif false then"}},
    {BUG_CLAIM_UNSEEN, {"claim", "elseif asked ~= attempt then", "elseif false then"}},
    {BUG_NEVER_OPEN,
     {"cancel", "\tif item == 0 and not owner then\n",
      "\topen = false\n\tif item == 0 and not owner then\n"}},
    {BUG_ACK_UNSEEN,
     {"ack", " and math.abs(tonumber(scores[k])) <= tonumber(ARGV[2 * k + 6])", ""}},
    {BUG_ATTEMPT_KEPT,
     {"claim", "\t\t\tif not claimed then\n",
      "\t\t\tattempt = claimed and not mine and attempt - 1 or attempt\n"
      "\t\t\tif not claimed then\n"}},
    {BUG_PUSH_LOST,
     {"repush", "store_timer(id, header .. body, state == 1 and -rank or rank)", ""}},
    {BUG_PUSH_FRESH, {"repush", "math.max(attempt, tonumber(ARGV[at + 2]))", "0"}},
    {BUG_DELETE_LOST, {"redelete", "remove_timer(ids[k])", ""}},
    {BUG_LOWER_FENCE,
     {"acquire", "{'HELD', lease or '',", "{'HELD', lease and " OTHER_TOKEN " or '',"}},
    {BUG_LOWER_FENCE, {"renew", "{'HELD', lease,", "{'HELD', " OTHER_TOKEN ","}},
    {BUG_LOWER_FENCE, {"renew", "meta[4] or 0,", "meta[4] and " OTHER_TOKEN " or 0,"}},
    {BUG_OWN_NONCE,
     {"acquire", "if is_other or (lease and lease ~= ARGV[8]) then",
      "local own = lease and string.match(lease, ':([^:]*):') == ARGV[1]\n"
      "if is_other or (lease and lease ~= ARGV[8] and not own) then"}},
    {BUG_OWN_NONCE,
     {"acquire", "if meta[1] and run ~= ''", "if meta[1] and not own and run ~= ''"}},
    {BUG_OVER_RENEWED, {"acquire", "and run ~= meta[11] and", "and"}}, /* see connection.c */
    {BUG_END_UNKEPT, {NULL, "if keep == 0 or #topic > 63 then", "if true then"}},
    {BUG_END_UNDUE,
     {"settle", "item = {STALE, value}",
      "item = {STALE, value}\n"
      "\t\t\tend_timer(id, value, DONE, 0, ARGV[5 * k + 5], ARGV[5 * k + 6])"}},
    {BUG_ONCE_TWICE, {"put", "elseif once and is_remembered(id) then", "elseif false then"}},
    {BUG_TWO_OWNERS,
     {"acquire", "if is_other or (lease and lease ~= ARGV[8]) then", "if false then"}},
    {BUG_FENCE_EXACT, {"replay", "claim <= (owner and fence or writer)", "claim == writer"}},
    {BUG_ROW_AGAIN,
     {"replay", "local done = tonumber(call('HGET', META, FIELD)) or 0", "local done = 0"}},
    {BUG_NO_JUMP, {"acquire", "if meta[7] and meta[7] ~= ARGV[1] then", "if false then"}},
    {BUG_START_LOST, {"replay", "store_claim(rest_of())", ""}},
    {BUG_CANCEL_SURE,
     {NULL, "local meta = not owner and call('HMGET', META, 'fire', 'fence')",
      "local meta = false"}},
    {BUG_LATE_UNSAID, {"confirm", "if late[ARGV[3 * k - 1] .. ids[k]] then", "if false then"}},
    {BUG_HIDE_IGNORED,
     {"take", "source.order, '-inf', digits(", "source.order, '-inf', digits(3600000000 + "}},
    {BUG_BOUND_LATE, {"push", "math.min(length + #order - most,", "math.min(length - most,"}},
    {BUG_BOUND_LATE, {"push", "length + #order + count_new(at, size) > most", "length > most"}},
    {BUG_PAUSE_IGNORED, {"take", "if setting(text, 'paused', 0) % 2 == 1 then", "if false then"}},
    {BUG_TAKE_DELETES,
     {"take", "elseif not is_once or size_of(value) > shown_left then", "elseif false then"}},
    {BUG_ANSWER_ANY, {"answer", "local is_held = score and", "local is_held ="}},
    {BUG_MESSAGE_LOST, {"push", "\tif not order[1] then", "\tif true then"}},
    {BUG_RETRY_NOW,
     {"answer", "digits(back > 0 and returns_at(back, false) or", "digits(back >= 0 and 1 or"}},
    {BUG_DROP_UNCOUNTED, {"push", "count('dropped', dropped)", ""}},
    {BUG_REFUSAL_LOST, {"put", "'refused', ARGV[4])", "'refused', '0')"}},
};

enum { ALL_COUNT = sizeof all / sizeof *all };

void planted_scripts(struct keyspace *keyspace, enum bug bug, bool is_late)
{
	static struct patch patches[ALL_COUNT];
	size_t first = 0;
	size_t count = 0;

	while (first < ALL_COUNT && all[first].bug != bug)
		first++;
	while (first + count < ALL_COUNT && all[first + count].bug == bug) {
		patches[first + count] = all[first + count].patch;
		count++;
	}
	if (bug == BUG_NO_HELLO && !is_late)
		count = 0;
	keyspace_plant(keyspace, count > 0 ? &patches[first] : NULL, count);
}
