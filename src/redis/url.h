/* Says where a Redis server is, and which user we are there: a URL of the forms
 *
 *	redis://[[user]:password@]host[:port][/db]      redis://user:password@[::1]:6379/0
 *	unix://[[user]:password@]SOCKET                 unix:///run/redis/redis.sock?db=1
 *
 * valkey:// means redis://, and a scheme may have capital letters. After each form, `?` takes
 * options joined by `&`: db=N, password-file=FILE. User, password and FILE may be percent-encoded;
 * a user or password with one of % @ / ? : must be.
 *
 * The password comes from the URL, else from the file, else from DURAWHEEL_REDIS_PASSWORD. The file
 * must be a regular one that only its owner may read; a newline at its end is dropped. No message
 * contains the password. */
#ifndef DW_REDIS_URL_H
#define DW_REDIS_URL_H

#include "base/alloc.h"
#include "durawheel/durawheel.h"

struct redis_url {
	char *host;     /* NULL: a unix socket */
	char *port;     /* the port in decimal digits */
	char *path;     /* path of the unix socket; NULL: TCP */
	char *user;     /* NULL: the default user */
	char *password; /* NULL: no password */
	unsigned db;
	char name[160]; /* the URL for messages, without user and password */
};

/* redis_url_read: DW_OK; DW_EINVAL: ret_message (DW_MESSAGE_SIZE) says what is wrong and what
 * would be right; DW_ENOMEM. */
int redis_url_read(struct redis_url *ret_url, const char *text, const struct alloc *,
		   char *ret_message);

/* redis_url_free overwrites user and password before it frees them. */
void redis_url_free(struct redis_url *, const struct alloc *);

#endif
