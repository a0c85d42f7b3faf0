/* Replaces the web server in a build without one: every function complains. */
#include "cli/out/errors.h"
#include "web/http.h"

static int refuse(void)
{
	return complain(EXIT_USAGE, "--http: this durawheel is built without HTTP (DW_WITH_HTTP)");
}

int http_check_address(const struct options *options)
{
	(void)options;
	return refuse();
}

int http_check_token(const struct options *options)
{
	(void)options;
	return EXIT_DONE;
}

int http_check_host(const struct options *options)
{
	(void)options;
	return EXIT_DONE;
}

int http_open(struct http **ret_http, const struct options *options, dw *owner)
{
	(void)ret_http;
	(void)options;
	(void)owner;
	return refuse();
}

dw *http_client(const struct http *http)
{
	(void)http;
	return NULL;
}

int http_fd(const struct http *http)
{
	(void)http;
	return -1;
}

void http_turn(struct http *http)
{
	(void)http;
}

void http_close(struct http *http)
{
	(void)http;
}
