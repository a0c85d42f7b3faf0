#include "faults/firing.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/out/base64.h"

void firing_write(const dw_firing *firing)
{
	json_t *object = json_pack("{s:s, s:s, s:I, s:I, s:I}", "id", firing->id, "topic",
				   firing->topic, "due", (json_int_t)firing->due, "fired",
				   (json_int_t)firing->now, "attempt", (json_int_t)firing->attempt);
	json_t *text = json_stringn(firing->data_size ? firing->data : "", firing->data_size);
	char *encoded = base64_encode(firing->data, firing->data_size);
	char *line;

	if (text)
		json_object_set_new(object, "data", text);
	else
		json_object_set_new(object, "data_base64", json_string(encoded));
	line = json_dumps(object, JSON_COMPACT);
	if (!line || dprintf(STDOUT_FILENO, "%s\n", line) < 0)
		_exit(EXIT_FAILURE);
	free(line);
	free(encoded);
	json_decref(object);
}
