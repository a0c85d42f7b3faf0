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
	char *host;     /* NULL for a unix socket */
	char *port;     /* the port in decimal digits */
	char *path;     /* the path of the unix socket; NULL for TCP */
	char *user;     /* NULL for the default user */
	char *password; /* NULL if there is no password */
	unsigned db;
	char name[160]; /* the URL for messages, without user and password */
};

/* redis_url_read reads a URL. Returns DW_OK, DW_ENOMEM, or DW_EINVAL; then ret_message
 * (DW_MESSAGE_SIZE bytes) says what is wrong and what would be right. */
int redis_url_read(struct redis_url *ret_url, const char *text, const struct alloc *,
		   char *ret_message);

/* redis_url_free overwrites user and password before it frees them. */
void redis_url_free(struct redis_url *, const struct alloc *);

#endif
