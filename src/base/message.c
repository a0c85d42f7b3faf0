#include "base/message.h"

#include <stdarg.h>
#include <stdio.h>

#include "durawheel/durawheel.h"

int message_refuse(char *ret_message, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(ret_message, DW_MESSAGE_SIZE, format, arguments);
	va_end(arguments);
	return DW_EINVAL;
}
