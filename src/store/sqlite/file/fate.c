#include "store/sqlite/file/fate.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "store/sqlite/file/denied.h"

void sqlite_fate_tell(struct sqlite_batch *batch, const char *format, ...)
{
	char fate[SQLITE_FATE_SIZE];
	va_list words;

	va_start(words, format);
	(void)vsnprintf(fate, sizeof fate, format, words); /* a long path is cut */
	va_end(words);
	if (!batch->gone || strcmp(fate, batch->fate) != 0)
		sqlite_hooks_log(batch->session.hooks, DW_LOG_ERROR, "%s", fate);
	(void)snprintf(batch->fate, sizeof batch->fate, "%s", fate); /* the text always fits */
	batch->gone = true;
}

/* hide refuses all operations while this process may not look at the file. */
static int hide(struct sqlite_batch *batch, enum sqlite_file which, int error)
{
	char message[DW_MESSAGE_SIZE];

	if (error == EACCES)
		sqlite_denied(batch->files.path[which], message);
	else
		(void)snprintf(message, sizeof message, "%.120s cannot be looked at: %s",
			       batch->files.path[which], strerror(error));
	sqlite_fate_tell(batch, "%s: nothing is stored until then", message);
	return SQLITE_CANTOPEN;
}

int sqlite_fate_lose(struct sqlite_batch *batch, enum sqlite_file which)
{
	enum sqlite_file_state state = sqlite_files_look(&batch->files, which);

	if (state == FILE_IS_HIDDEN)
		return hide(batch, which, errno);
	sqlite_fate_tell(
	    batch,
	    "%s %s while it was open: nothing is stored until it is back, or the program "
	    "restarts",
	    batch->files.path[which],
	    state == FILE_IS_ANOTHER ? "was replaced by another file"
				     : "was deleted or moved away");
	return SQLITE_READONLY_DBMOVED;
}
