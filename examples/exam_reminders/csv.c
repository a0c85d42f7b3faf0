#include "csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (4 * 1024 * 1024)

char *csv_read(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *text = malloc(FILE_MAX + 1);
	size_t size;

	if (!file || !text) {
		perror(path);
		goto fail;
	}
	size = fread(text, 1, FILE_MAX, file);
	text[size] = '\0';
	if (ferror(file) || size == FILE_MAX || strlen(text) != size) {
		fprintf(stderr, "%s: not a text file of less than 4 MiB\n", path);
		goto fail;
	}
	fclose(file);
	return text;
fail:
	if (file)
		fclose(file);
	free(text);
	return NULL;
}

/* unquote moves the text between quotes to out, each doubled quote as one, and returns what follows
 * the closing quote, or NULL if there is none. */
static char *unquote(char *in, char **out)
{
	for (; *in != '\0'; *(*out)++ = *in++)
		if (*in == '"' && *++in != '"')
			return in;
	return NULL;
}

/* cut_field cuts the field at *at out of the text, in place, and moves *at behind it. *ret_end is
 * what ended it: ',', '\n', or 0 at the end of the text. NULL: not CSV. */
static char *cut_field(char **at, char *ret_end)
{
	char *field = *at;
	char *out = field;
	int quoted = *field == '"';
	char *in = quoted ? unquote(field + 1, &out) : field + strcspn(field, ",\r\n");

	if (!quoted)
		out = in;
	if (in && in[0] == '\r' && in[1] == '\n')
		in++;
	if (!in || !strchr(",\n", *in))
		return NULL;
	*ret_end = *in;
	*at = *in == '\0' ? in : in + 1;
	*out = '\0';
	return field;
}

int csv_cut(char **at, char *field[CSV_FIELDS_MAX])
{
	char end = ',';
	int count = 0;

	if (**at == '\0')
		return 0;
	while (end == ',') {
		if (count == CSV_FIELDS_MAX)
			return -1;
		field[count] = cut_field(at, &end);
		if (!field[count++])
			return -1;
	}
	return count;
}
