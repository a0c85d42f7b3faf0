/* Error messages, which are written into DW_MESSAGE_SIZE bytes of the caller. */
#ifndef DW_BASE_MESSAGE_H
#define DW_BASE_MESSAGE_H

/* message_refuse writes the message, and cuts it if it is too long. It returns DW_EINVAL. */
int message_refuse(char *ret_message, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
