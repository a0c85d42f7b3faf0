/* What a function says of a failure, in DW_MESSAGE_SIZE bytes of its caller. */
#ifndef DW_BASE_MESSAGE_H
#define DW_BASE_MESSAGE_H

/* message_refuse writes the message, cut if it is long, and returns DW_EINVAL. */
int message_refuse(char *ret_message, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
