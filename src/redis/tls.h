/* TLS over a connected socket, by OpenSSL 3: TLS 1.2 or newer, and the name in the server's
 * certificate is always verified. Nothing blocks, nothing raises SIGPIPE, and the server cannot
 * renegotiate. The files of the URL are read by tls_new(), so each connection has them as they are
 * then. OpenSSL allocates its own memory, not by the handle's allocator. Its list of errors of this
 * thread is empty after each call.
 *
 * Without DW_WITH_TLS, tls_none.c stands in for it, and no URL asks for TLS. */
#ifndef DW_REDIS_TLS_H
#define DW_REDIS_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/alloc.h"
#include "redis/url.h"

struct tls;

/* TLS_REFUSED: as TLS_FAILED, and a person must change something before it works. */
enum tls_verdict { TLS_GOES_ON, TLS_DONE, TLS_FAILED, TLS_REFUSED };

/* tls_new reads the files; the URL must outlive it. fd -1: only to see whether they are good.
 * DW_EINVAL: ret_words (DW_MESSAGE_SIZE bytes) say what is wrong, without secrets. DW_ENOMEM. */
int tls_new(struct tls **ret_tls, const struct redis_url *, const struct alloc *, int fd,
	    char *ret_words);

/* tls_shake continues the handshake. After TLS_FAILED and TLS_REFUSED ret_words say why.
 * tls_hangs says why it has not ended yet, in words that may need ret_words. */
enum tls_verdict tls_shake(struct tls *, char *ret_words);
const char *tls_hangs(const struct tls *, char *ret_words);

/* tls_send and tls_receive are like sendmsg() and recv(): they return -1 and set errno. EPROTO: the
 * connection cannot be used any more. A record that could not be sent completely is kept; the next
 * tls_send sends it first, so it must be given the same bytes again, or more. */
ssize_t tls_send(struct tls *, const struct iovec *, size_t count);
ssize_t tls_receive(struct tls *, char *bytes, size_t size);

/* tls_why says why tls_receive() returned EPROTO, as tls_shake() does. */
enum tls_verdict tls_why(const struct tls *, char *ret_words);

/* tls_wants_out returns true if something of TLS itself waits for room in the socket.
 * tls_wants_certificate: the server has asked for a client's certificate, and got none. */
bool tls_wants_out(const struct tls *);
bool tls_wants_certificate(const struct tls *);

/* tls_end tells the server that no more bytes follow, without waiting, unless this is a forked
 * child, whose parent still uses the connection. Then it frees everything but the socket. NULL is
 * allowed. */
void tls_end(struct tls *, bool forked);

#endif
