#include "engine/report_shards.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/call/numbers.h"
#include "engine/core.h"

#define TOLD_MAX 16   /* at most this many refused shards are described; all are counted */
#define WORDS_MAX 200 /* bytes of the words, with the NUL */
#define END_SIZE 3    /* "]}" and the NUL */

/* escape writes a text as the inside of a JSON string. */
static void escape(const char *text, char ret_text[2 * WORDS_MAX])
{
	char line[WORDS_MAX];
	size_t size = utf8_clean(text, line, sizeof line);

	for (size_t i = 0; i < size; i++) {
		if (line[i] == '"' || line[i] == '\\')
			*ret_text++ = '\\';
		*ret_text++ = line[i];
	}
	*ret_text = '\0';
}

/* add_refused adds the refusal of a shard if the report has space for it. It returns the size of
 * the whole text. */
static size_t add_refused(const struct shards *shards, unsigned number, char *text, size_t used)
{
	const struct engine_shard *shard = &shards->all[number];
	char words[2 * WORDS_MAX], entry[2 * WORDS_MAX + 96];
	size_t size;

	escape(shard->why ? shard->why : "", words);
	size = (size_t)snprintf(
	    entry, sizeof entry, "%s{\"shard\":%u,\"since\":%" PRId64 ",\"why\":\"%s\"}",
	    text[used - 1] == '[' ? "" : ",", number, shard->refused_at, words); /* always fits */
	if (used + size + END_SIZE > REPORT_SIZE)
		return used;
	memcpy(text + used, entry, size + 1);
	return used + size;
}

/* add_sharing adds what a peer knows about all peers, why the peer gives no shard away, and for
 * which topics it has no handler. */
static size_t add_sharing(struct engine *engine, char *text, size_t used)
{
	const dw_sharing *sharing = &engine->ownership.sharing.last;
	char topics[SHARING_WORDS], runs[2 * WORDS_MAX], lacks[2 * WORDS_MAX];
	unsigned busy = sharing_busy(engine, topics);
	uint64_t unhandled;

	escape(topics, runs);
	unhandled = sharing_lacks(engine, topics);
	escape(topics, lacks);
	return used + (size_t)snprintf(text + used, REPORT_SIZE - used,
				       ",\"share\":%u,\"unowned\":%u,\"busy_shards\":%u"
				       ",\"busy_topics\":\"%s\",\"lacks\":%" PRIu64
				       ",\"lacks_topics\":\"%s\"",
				       sharing->share, sharing->unowned, busy, runs, unhandled,
				       lacks); /* always fits */
}

size_t report_shards(struct engine *engine, char *text, size_t used)
{
	const struct shards *shards = &engine->shards;
	unsigned owned = 0, told = 0;

	for (unsigned i = 0; i < shards->count; i++)
		owned += shards->all[i].owned && !shards->all[i].refused;
	if (engine->env.is_peer)
		used = add_sharing(engine, text, used);
	used += (size_t)snprintf(text + used, REPORT_SIZE - used,
				 ",\"peer\":%u,\"shards\":%u,\"shards_owned\":%u"
				 ",\"shards_refused\":%u,\"refused\":[",
				 (unsigned)engine->env.is_peer, shards->count, owned,
				 shards->refused); /* always fits */
	for (unsigned i = 0; i < shards->count && told < TOLD_MAX; i++) {
		if (!shards->all[i].refused)
			continue;
		used = add_refused(&engine->shards, i, text, used);
		told++;
	}
	return used + (size_t)snprintf(text + used, REPORT_SIZE - used, "]"); /* always fits */
}

/* unescape reads the inside of a JSON string as escape() writes it. */
static void unescape(const char *text, char *ret_words, size_t size)
{
	size_t used = 0;

	for (; *text && *text != '"' && used + 1 < size; text++) {
		if (*text == '\\' && text[1])
			text++;
		ret_words[used++] = *text;
	}
	ret_words[used] = '\0';
}

bool report_refuses(const char *report, unsigned shard, char *ret_words, size_t size)
{
	static const char list[] = ",\"refused\":[", words[] = ",\"why\":\"";
	char entry[32];
	const char *at = strstr(report, list);

	/* Texts in a report have escaped quotes, so they have neither the list nor an entry. */
	(void)snprintf(entry, sizeof entry, "{\"shard\":%u,", shard); /* it fits */
	at = at ? strstr(at, entry) : NULL;
	if (!at)
		return false;
	at = strstr(at, words);
	unescape(at ? at + strlen(words) : "", ret_words, size);
	return true;
}
