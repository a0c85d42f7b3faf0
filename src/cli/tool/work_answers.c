#include "cli/tool/work_answers.h"

#include <string.h>
#include <unistd.h>

#include "cli/out/errors.h"
#include "cli/out/reader.h"
#include "cli/out/durations.h"

static struct job_item *item_of(struct exec_job *job, const char *token)
{
	for (size_t i = 0; token && i < job->count; i++)
		if (!job->items[i].is_answered && strcmp(job->items[i].token.id, token) == 0)
			return &job->items[i];
	return NULL;
}

/* text_of reads a string: NULL if it is missing or null. Returns false for another type. */
static bool text_of(const json_t *object, const char *key, const char **ret_text)
{
	const json_t *value = json_object_get(object, key);

	*ret_text = json_string_value(value);
	return *ret_text || !value || json_is_null(value);
}

/* read_answer reads the object of a line. Returns false if it is invalid. */
static bool read_answer(const json_t *object, struct work_answer *ret_answer)
{
	const char *verdict, *in;

	*ret_answer = (struct work_answer){.verdict = DW_DONE};
	if (!text_of(object, "verdict", &verdict) || !text_of(object, "in", &in) ||
	    !text_of(object, "why", &ret_answer->why) || !verdict)
		return false;
	if (strcmp(verdict, "retry") == 0)
		ret_answer->verdict = DW_RETRY;
	else if (strcmp(verdict, "dead") == 0)
		ret_answer->verdict = DW_DEAD;
	else if (strcmp(verdict, "done") != 0)
		return false;
	if (in &&
	    (ret_answer->verdict != DW_RETRY || duration_of(in, &ret_answer->retry_in) != DW_OK))
		return false;
	if (in && ret_answer->retry_in == 0)
		ret_answer->retry_in = 1; /* 0 would mean the topic's own delay */
	return true;
}

void work_answers_read(struct exec_job *job,
		       void (*fn)(struct job_item *, const struct work_answer *, void *user),
		       void *user)
{
	enum reader_state state = READER_MORE;
	struct reader reader;
	const char *text;
	size_t size;

	if (job->answers <= 0 || lseek(job->answers, 0, SEEK_END) <= 0 ||
	    lseek(job->answers, 0, SEEK_SET) != 0 || !reader_open(&reader, job->answers))
		return;
	while (state != READER_END) {
		struct work_answer answer;
		struct job_item *item;
		json_t *object;

		state = reader_next(&reader, &text, &size);
		if (state == READER_MORE && !reader_fill(&reader))
			break;
		if (state != READER_LINE)
			continue;
		object = json_loadb(text, size, 0, NULL);
		item = item_of(job, json_string_value(json_object_get(object, "token")));
		if (!item || !read_answer(object, &answer)) {
			answer = (struct work_answer){.verdict = DW_RETRY, .why = "a wrong answer"};
			warn("descriptor 3: %s: %.*s; write {\"token\":T,\"verdict\":\"done\", "
			     "\"dead\", or \"retry\" with \"in\":\"1m\"}",
			     item ? "not an answer, so the message is tried again"
				  : "not an answer to a message of this batch",
			     (int)(size < 200 ? size : 200), text);
		}
		if (item)
			fn(item, &answer, user);
		json_decref(object);
	}
	reader_close(&reader);
}
