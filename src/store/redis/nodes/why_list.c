#include "store/redis/nodes/why_list.h"

#include <stdio.h>
#include <string.h>

#include "durawheel/durawheel.h"

#define END_SIZE (sizeof "; and 4294967295 more" - 1)

void why_list_begin(struct why_list *list, char *text, const char *subject)
{
	*list = (struct why_list){.text = text};
	(void)snprintf(text, DW_MESSAGE_SIZE - END_SIZE, "%s", subject); /* cut if long */
	list->used = strlen(text);
}

void why_list_add(struct why_list *list, const char *trouble)
{
	size_t room = DW_MESSAGE_SIZE - END_SIZE - list->used;
	size_t size = strlen(trouble) + (list->used > 0 ? 2 : 0);

	if (size >= room && list->count > 0) {
		list->left_out++;
		return;
	}
	(void)snprintf(list->text + list->used, room, "%s%s", list->used > 0 ? "; " : "",
		       trouble); /* cut if long */
	list->used += size < room ? size : room - 1;
	list->count++;
}

void why_list_end(struct why_list *list)
{
	if (list->left_out > 0)
		(void)snprintf(list->text + list->used, DW_MESSAGE_SIZE - list->used,
			       "; and %u more", list->left_out); /* it fits */
}
