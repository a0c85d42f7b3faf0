/* A small web server that only reads: metrics, health, an API of JSON, and a page. It runs on the
 * caller's loop, over a client handle of its own, so that who looks does not hold up an owner's
 * store. http_peers.h bounds connections and requests; a request has 5 s to come, and 30 s to be
 * answered. */
#ifndef DW_WEB_HTTP_H
#define DW_WEB_HTTP_H

#include "cli/options.h"

struct http;

/* http_open listens at --http. owner: the handle whose health is shown, or NULL: then it is that of
 * the namespace. Returns EXIT_DONE, or complains. */
int http_open(struct http **ret_http, const struct options *, dw *owner);

/* These look at --http, --token-file and --allow-host without listening. EXIT_DONE, or complain. */
int http_check_address(const struct options *);
int http_check_token(const struct options *);
int http_check_host(const struct options *);

/* http_fd is readable when http_turn() has work. http_turn does it, without blocking. */
int http_fd(const struct http *);
void http_turn(struct http *);

/* http_client returns the handle by which it looks. */
dw *http_client(const struct http *);

/* http_close also takes NULL. */
void http_close(struct http *);

#endif
