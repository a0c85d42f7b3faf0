/* Says where a Redis server is, and which user we are there: a URL of the forms
 *
 *	redis://[[user]:password@]host[:port][/db]      redis://user:password@[::1]:6379/0
 *	rediss://[[user]:password@]host[:port][/db]     rediss://redis.example.org?ca=/etc/ca.pem
 *	unix://[[user]:password@]SOCKET                 unix:///run/redis/redis.sock?db=1
 *
 *	redis+cluster://[[user]:password@]host[:port],host[:port],...
 *	redis+sentinel://[[user]:password@]host[:port],host[:port],.../master[/db]
 *
 * The hosts of a cluster are some of its nodes, which name the others. The hosts of the last form
 * are Sentinels, on the default port 26379, which name the server. rediss:// has TLS, also with
 * +cluster and +sentinel, on the same default ports. valkey and valkeys mean redis and rediss, and
 * a scheme may have capital letters. After each form, `?` takes options
 * joined by `&`: db=N, password-file=FILE, replicas=N (0 to 8); with TLS also ca=FILE, cert=FILE
 * and key=FILE (all in PEM form), and sni=NAME; with Sentinels also sentinel-user=NAME and
 * sentinel-password-file=FILE, for the Sentinels themselves. User, password, FILE and NAME may be
 * percent-encoded; a user or password with one of % @ / ? : must be.
 *
 * The password comes from the URL, else from the file, else from DURAWHEEL_REDIS_PASSWORD. The
 * password of the Sentinels comes from its file, else from DURAWHEEL_SENTINEL_PASSWORD. Such a file
 * must be a regular file that only its owner may read; a newline at its end is dropped. No message
 * contains a password. */
#ifndef DW_REDIS_URL_H
#define DW_REDIS_URL_H

#include <stdbool.h>

#include "base/alloc.h"
#include "durawheel/durawheel.h"

enum redis_kind { REDIS_SINGLE, REDIS_SENTINEL, REDIS_CLUSTER };

enum { HOSTS_MAX = 16 };

struct redis_host {
	char *host;
	char *port; /* the port in decimal digits */
};

struct redis_url {
	enum redis_kind kind;
	/* The server that is used now. NULL for a unix socket, and until the Sentinels have named a
	 * server. */
	char *host;
	char *port;
	char *path;     /* the path of the unix socket; NULL for TCP */
	char *user;     /* NULL for the default user */
	char *password; /* NULL if there is no password */
	bool tls;
	/* File of the authorities that are trusted; NULL for the system's authorities. */
	char *ca;
	/* Files of the client's certificate and its key; NULL if the client has none. */
	char *cert;
	char *key;
	char *sni; /* the name that is sent as SNI and verified; NULL for the host */
	unsigned db;
	/* A call is answered when this number of replicas has its change. */
	unsigned replicas;
	struct redis_host hosts[HOSTS_MAX]; /* the Sentinels, or nodes of the cluster */
	unsigned host_count;
	char *master; /* the name that the Sentinels use for the server */
	/* User and password for the Sentinels themselves. NULL: the default user, no password. */
	char *sentinel_user;
	char *sentinel_password;
	char name[160];   /* the URL for messages, without user and password */
	char server[160]; /* the URL of the server that is used now, for messages */
};

/* redis_url_read reads a URL. Returns DW_OK, DW_ENOMEM, or DW_EINVAL; then ret_message
 * (DW_MESSAGE_SIZE bytes) says what is wrong and what would be right. */
int redis_url_read(struct redis_url *ret_url, const char *text, const struct alloc *,
		   char *ret_message);

/* redis_url_scheme returns how a URL of this kind begins, for example "rediss+cluster://". */
const char *redis_url_scheme(enum redis_kind, bool tls);

/* redis_url_aim replaces the host and the port: links that use the URL connect to this server from
 * now on. Without memory the URL stays as it is. Returns DW_OK or DW_ENOMEM. */
int redis_url_aim(struct redis_url *, const char *host, const char *port, const struct alloc *);

/* redis_url_free overwrites user and password before it frees them. */
void redis_url_free(struct redis_url *, const struct alloc *);

#endif
