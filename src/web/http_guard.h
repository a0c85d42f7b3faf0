/* Decides where the web server listens and which requests it accepts. */
#ifndef DW_WEB_HTTP_GUARD_H
#define DW_WEB_HTTP_GUARD_H

#include <microhttpd.h>
#include <stdbool.h>
#include <sys/types.h>

#include "cli/options.h"

enum { GUARD_TOKEN_MAX = 512 };

struct guard {
	int listen_fd;
	bool is_unix;
	char path[108]; /* the path of the socket, which guard_close() removes */
	ino_t number;   /* the inode number of the socket; another process may have replaced it */
	char host[64];  /* the address with its port, in the form of the Host header */
	char port[8];   /* the port, like ":8990" */
	/* The values of --allow-host; each has names separated by blanks. */
	const char *const *allowed;
	size_t allowed_count;
	/* The last --allow-host, or the value in the file of --config, or NULL. */
	const char *allow_host;
	char token[GUARD_TOKEN_MAX + 2]; /* the token that requests need; "" if they need none */
};

/* guard_open reads the options and listens. It returns EXIT_DONE, or complains. guard_close stops
 * listening. */
int guard_open(struct guard *, const struct options *);
void guard_close(struct guard *);

/* These functions check --http, --token-file and --allow-host. guard_check_token and
 * guard_check_host accept a missing option. They return EXIT_DONE, or complain. */
int guard_check_address(const struct options *);
int guard_check_token(const struct options *);
int guard_check_host(const struct options *);

/* Why a request is refused, with its HTTP status. The status is 0 if the request is accepted. */
struct refusal {
	unsigned status;
	const char *words;
};

/* What the guard must know about a path. A probe needs no token and may have any Host. Other sites
 * may link to a page. */
enum path_kind { PATH_PLAIN, PATH_PROBE, PATH_PAGE };

/* guard_check checks the method, the Host, the site that sends the request, and the token. */
struct refusal guard_check(const struct guard *, struct MHD_Connection *, const char *method,
			   enum path_kind);

#endif
