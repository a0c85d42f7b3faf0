/* Replaces tls.c in a build without TLS. redis_url_read() refuses rediss://, so only tls_end() is
 * called, with NULL. */
#include "redis/tls.h"

#include <errno.h>

#include "base/message.h"

int tls_new(struct tls **ret_tls, const struct redis_url *url, const struct alloc *alloc, int fd,
	    char *ret_words)
{
	(void)ret_tls;
	(void)url;
	(void)alloc;
	(void)fd;
	return message_refuse(ret_words, "this durawheel was built without TLS");
}

enum tls_verdict tls_shake(struct tls *tls, char *ret_words)
{
	return tls_why(tls, ret_words);
}

const char *tls_hangs(const struct tls *tls, char *ret_words)
{
	(void)tls;
	(void)ret_words;
	return "this durawheel was built without TLS";
}

ssize_t tls_send(struct tls *tls, const struct iovec *vectors, size_t count)
{
	(void)tls;
	(void)vectors;
	(void)count;
	errno = EPROTO;
	return -1;
}

ssize_t tls_receive(struct tls *tls, char *bytes, size_t size)
{
	(void)tls;
	(void)bytes;
	(void)size;
	errno = EPROTO;
	return -1;
}

enum tls_verdict tls_why(const struct tls *tls, char *ret_words)
{
	(void)tls;
	(void)message_refuse(ret_words, "this durawheel was built without TLS");
	return TLS_REFUSED;
}

bool tls_wants_out(const struct tls *tls)
{
	(void)tls;
	return false;
}

bool tls_wants_certificate(const struct tls *tls)
{
	(void)tls;
	return false;
}

void tls_end(struct tls *tls, bool forked)
{
	(void)tls;
	(void)forked;
}
