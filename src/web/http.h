/* A small web server that only reads. It serves metrics, health checks, a JSON API and a page.
 *
 * It runs in the caller's loop and uses its own client handles, so readers do not slow down an
 * owner. http_peers.h limits connections and requests. A request must arrive within 5 s and is
 * answered within 30 s. */
#ifndef DW_WEB_HTTP_H
#define DW_WEB_HTTP_H

#include "cli/options.h"

struct http;

/* http_open listens at the address of --http. `owner` is the handle whose health is shown. If it is
 * NULL, the health of the namespace is shown. The caller closes *ret_http with http_close().
 * Returns EXIT_DONE, or complains. */
int http_open(struct http **ret_http, const struct options *, dw *owner);

/* These functions check --http, --token-file and --allow-host without listening. They return
 * EXIT_DONE, or complain. */
int http_check_address(const struct options *);
int http_check_token(const struct options *);
int http_check_host(const struct options *);

/* http_fd returns a descriptor that is readable when http_turn() has work. http_turn does the work
 * without blocking. */
int http_fd(const struct http *);
void http_turn(struct http *);

/* http_client returns the client handle that reads the store. */
dw *http_client(const struct http *);

/* http_close stops the server and frees it. It accepts NULL. */
void http_close(struct http *);

#endif
