/* What glibc's libev.a and GCC's unwinder want, and musl does not have. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

void *__memcpy_chk(void *to, const void *from, size_t size, size_t room);
int __fprintf_chk(FILE *, int flag, const char *format, ...);
int _dl_find_object(void *address, void *ret_object);

void *__memcpy_chk(void *to, const void *from, size_t size, size_t room)
{
	(void)room;
	return memcpy(to, from, size);
}

int __fprintf_chk(FILE *file, int flag, const char *format, ...)
{
	va_list words;
	int written;

	(void)flag;
	va_start(words, format);
	written = vfprintf(file, format, words);
	va_end(words);
	return written;
}

/* The unwinder then looks for its tables as it did before glibc 2.35. */
int _dl_find_object(void *address, void *ret_object)
{
	(void)address;
	(void)ret_object;
	return -1;
}
