/* Who may ask the web server, and where it listens. */
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
	char path[108];             /* of the socket, to be removed */
	ino_t number;               /* of its file: another process may have replaced it */
	char host[64];              /* the address as the Host header has it, with its port */
	char port[8];               /* ":8990" */
	const char *const *allowed; /* each --allow-host: names with blanks between them */
	size_t allowed_count;
	const char *allow_host;          /* the last one, or that of the file, or NULL */
	char token[GUARD_TOKEN_MAX + 2]; /* "": none is needed */
};

/* guard_open reads the options and listens. Returns EXIT_DONE, or complains. */
int guard_open(struct guard *, const struct options *);
void guard_close(struct guard *);

/* guard_check_address looks at --http, and guard_check_token and guard_check_host at --token-file
 * and --allow-host if they are given. EXIT_DONE, or complain. */
int guard_check_address(const struct options *);
int guard_check_token(const struct options *);
int guard_check_host(const struct options *);

/* A request that is refused: its status, and why. status 0: it is not. */
struct refusal {
	unsigned status;
	const char *words;
};

/* What a path is: a probe needs no token and no Host that we know, and a page may be linked to from
 * other sites. */
enum path_kind { PATH_PLAIN, PATH_PROBE, PATH_PAGE };

/* guard_check looks at the method, the Host, the page that asks, and the token. */
struct refusal guard_check(const struct guard *, struct MHD_Connection *, const char *method,
			   enum path_kind);

#endif
