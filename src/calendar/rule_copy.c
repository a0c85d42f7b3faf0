#include "calendar/rule_copy.h"

#include <string.h>

static size_t text_size(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

size_t rule_copy_size(const dw_rule *rule)
{
	size_t size = sizeof *rule + text_size(rule->cron) + text_size(rule->zone);

	for (size_t i = 0; i < rule->except_count; i++)
		size += sizeof(char *) + text_size(rule->except[i]);
	return size;
}

/* copy_text copies a text to *end, and moves *end behind it. NULL stays NULL. */
static const char *copy_text(char **end, const char *text)
{
	char *begin = *end;
	size_t size = text_size(text);

	if (!text)
		return NULL;
	*end = begin + size;
	return memcpy(begin, text, size);
}

dw_rule *rule_copy(const dw_rule *rule, void *ret_block)
{
	dw_rule *copy = ret_block;
	const char **except = (const char **)(copy + 1);
	char *end = (char *)(except + rule->except_count);

	*copy = *rule;
	copy->size = sizeof *copy;
	copy->cron = copy_text(&end, rule->cron);
	copy->zone = copy_text(&end, rule->zone);
	for (size_t i = 0; i < rule->except_count; i++)
		except[i] = copy_text(&end, rule->except[i]);
	copy->except = except;
	return copy;
}
