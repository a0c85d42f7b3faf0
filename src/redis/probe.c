#include "redis/probe.h"

#include <stdio.h>
#include <string.h>

#define POLICY_EVERY 4u /* every fourth probe asks for the policy, so every 1.6 s */

void probe_begin(struct probe *probe)
{
	*probe = (struct probe){.key = probe->key};
}

int probe_send(struct probe *probe, struct output *output)
{
	const char *change[] = {"EVAL", HELLO_PROBE_SCRIPT, "1", probe->key, NULL};
	static const char *const ping[] = {"PING", NULL};
	static const char *const policy[] = {"INFO", "memory", NULL};
	const char *const *words = probe->key ? change : ping;
	size_t sizes[4] = {0};
	int count = 0;

	probe->asks_policy = probe->key && ++probe->count % POLICY_EVERY == 0;
	if (probe->asks_policy)
		words = policy;
	for (; words[count]; count++)
		sizes[count] = strlen(words[count]);
	return output_add(output, count, words, sizes);
}

/* take_policy reads the maxmemory-policy. A person may have changed it since the hello. */
static enum probe_news take_policy(struct probe *probe, const struct reply *reply, char *ret_words)
{
	bool evicted = probe->evicts;

	probe->evicts = hello_evicts(reply, ret_words);
	if (probe->evicts)
		return PROBE_TROUBLE;
	if (!evicted)
		return PROBE_NOTHING;
	(void)snprintf(
	    ret_words, DW_MESSAGE_SIZE,
	    "the server's maxmemory-policy does not throw timers or leases away any more");
	return PROBE_TROUBLE_OVER;
}

/* is_of_slot returns true if the error is about one slot of a cluster's node. Such an error says
 * nothing of the other slots. */
static bool is_of_slot(const struct reply *reply)
{
	return reply_fails(reply, "MOVED") || reply_fails(reply, "ASK") ||
	       reply_fails(reply, "TRYAGAIN") ||
	       reply_fails(reply, "CLUSTERDOWN Hash slot not served");
}

/* is_of_key returns true if the user has no right to this key. The user may have a right to all
 * others. */
static bool is_of_key(const struct reply *reply)
{
	return reply_fails(reply, "NOPERM") && strstr(reply->bytes, "key") != NULL;
}

/* take_change reads whether the server accepts changes. A server that answers may still refuse
 * every change. */
static enum probe_news take_change(struct probe *probe, const struct hello *hello,
				   const struct reply *reply, char *ret_words)
{
	bool refused = probe->refuses;
	char text[160];

	probe->refuses =
	    probe->key ? reply->kind == REPLY_ERROR && !is_of_slot(reply) : reply_passes(reply);
	if (probe->refuses && is_of_key(reply))
		(void)snprintf(ret_words, DW_MESSAGE_SIZE,
			       "the user may not write %.70s: give it ~%.70s; without it nobody "
			       "notices that the server refuses every change",
			       probe->key, probe->key); /* cut if long */
	else if (probe->refuses)
		(void)snprintf(ret_words, DW_MESSAGE_SIZE, "the server refuses every change: %s",
			       hello_quote(hello, reply, text, sizeof text));
	else if (refused)
		(void)snprintf(ret_words, DW_MESSAGE_SIZE, "the server takes changes again");
	else
		return PROBE_NOTHING;
	return probe->refuses ? PROBE_TROUBLE : PROBE_TROUBLE_OVER;
}

enum probe_news probe_take(struct probe *probe, const struct hello *hello,
			   const struct reply *reply, char *ret_words)
{
	bool policy = probe->asks_policy;

	probe->asks_policy = false;
	return policy ? take_policy(probe, reply, ret_words)
		      : take_change(probe, hello, reply, ret_words);
}
