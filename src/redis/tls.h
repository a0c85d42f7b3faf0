/* TLS over a connected socket, by OpenSSL 3: TLS 1.2 or newer. The name in the server's certificate
 * is always verified. Nothing blocks, nothing raises SIGPIPE, and the server cannot renegotiate.
 * tls_new() reads the files of the URL, so each new connection uses their present content. OpenSSL
 * allocates its own memory, not with the handle's allocator. After each call, OpenSSL's list of
 * errors of this thread is empty.
 *
 * Without DW_WITH_TLS, tls_none.c replaces this module, and no URL asks for TLS. */
#ifndef DW_REDIS_TLS_H
#define DW_REDIS_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/alloc.h"
#include "redis/url.h"

struct tls;

/* TLS_REFUSED: TLS has failed, and a person must change something before it works. */
enum tls_verdict { TLS_GOES_ON, TLS_DONE, TLS_FAILED, TLS_REFUSED };

/* tls_new reads the files of the URL. The URL must outlive the result. With fd -1 it only checks
 * the files. DW_EINVAL: ret_words (DW_MESSAGE_SIZE bytes) say what is wrong, without secrets.
 * DW_ENOMEM. */
int tls_new(struct tls **ret_tls, const struct redis_url *, const struct alloc *, int fd,
	    char *ret_words);

/* tls_shake continues the handshake. After TLS_FAILED and TLS_REFUSED ret_words say why. tls_hangs
 * returns why the handshake has not ended yet; the text may be in ret_words. */
enum tls_verdict tls_shake(struct tls *, char *ret_words);
const char *tls_hangs(const struct tls *, char *ret_words);

/* tls_send and tls_receive are like sendmsg() and recv(): they return -1 and set errno. EPROTO: the
 * connection cannot be used any more. A record that was only partly sent is kept, and the next
 * tls_send sends it first. So the caller must pass the same bytes again, or more. */
ssize_t tls_send(struct tls *, const struct iovec *, size_t count);
ssize_t tls_receive(struct tls *, char *bytes, size_t size);

/* tls_why returns why tls_receive() has failed with EPROTO, with the verdicts and words of
 * tls_shake(). */
enum tls_verdict tls_why(const struct tls *, char *ret_words);

/* tls_wants_out returns true if TLS itself has something to send and waits until the socket takes
 * more. tls_wants_certificate returns true if the server has asked for a client's certificate and
 * got none. */
bool tls_wants_out(const struct tls *);
bool tls_wants_certificate(const struct tls *);

/* tls_end tells the server that no more bytes follow, without waiting, and frees everything but the
 * socket. In a forked child, whose parent still uses the connection, it only frees. NULL is
 * allowed. */
void tls_end(struct tls *, bool forked);

#endif
