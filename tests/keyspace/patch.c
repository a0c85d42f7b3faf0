#include "keyspace/patch.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void misfit(const struct patch *patch, const char *why)
{
	(void)fprintf(stderr, "the planted mistake in %s %s: \"%s\"\n",
		      patch->script ? patch->script : "the scripts", why, patch->find);
	abort();
}

static char *text_of(enum redis_script_id id, size_t *ret_size)
{
	const struct redis_script *script = &redis_scripts[id];
	char *text = malloc(SCRIPT_TEXT_MAX + 1);

	if (!text)
		abort();
	(void)script_text(script, text);
	text[script->size] = '\0';
	*ret_size = script->size;
	return text;
}

/* place_in returns where the text has the words that the patch replaces, or NULL. */
static char *place_in(char *text, const struct patch *patch)
{
	char *at = strstr(text, patch->find);

	if (at && strstr(at + 1, patch->find))
		misfit(patch, "fits more than once");
	return at;
}

/* replaced returns the text with the patch applied at this place. It frees the old text. */
static char *replaced(char *text, size_t *size, const char *at, const struct patch *patch)
{
	size_t before = (size_t)(at - text);
	size_t more = strlen(patch->replace);
	size_t less = strlen(patch->find);
	char *made = malloc(*size + more + 1);

	if (!made)
		abort();
	memcpy(made, text, before);
	memcpy(made + before, patch->replace, more);
	memcpy(made + before + more, at + less, *size - before - less + 1);
	*size = *size + more - less;
	free(text);
	return made;
}

static bool is_for(const struct patch *patch, enum redis_script_id id)
{
	return !patch->script || strcmp(patch->script, redis_scripts[id].name) == 0;
}

char *patch_text(enum redis_script_id id, const struct patch *patches, size_t count,
		 size_t *ret_size)
{
	char *text = text_of(id, ret_size);
	bool is_patched = false;

	for (size_t i = 0; i < count; i++) {
		const char *at = is_for(&patches[i], id) ? place_in(text, &patches[i]) : NULL;

		if (at)
			text = replaced(text, ret_size, at, &patches[i]);
		is_patched |= at != NULL;
	}
	if (is_patched)
		return text;
	free(text);
	return NULL;
}

void patch_check(const struct patch *patches, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool fits = false;

		for (int id = 0; id < SCRIPT_COUNT && !fits; id++) {
			size_t size;
			char *text = patch_text((enum redis_script_id)id, &patches[i], 1, &size);

			fits = text != NULL;
			free(text);
		}
		if (!fits)
			misfit(&patches[i], "fits nowhere");
	}
}
