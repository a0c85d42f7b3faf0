#include "web/http_guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/out/errors.h"

enum { TOKEN_MIN = 32, BACKLOG = 64 };

/* ---- The token ------------------------------------------------------------------------------- */

static int read_token(struct guard *guard, const char *path)
{
	struct stat file;
	const char *fault = NULL;
	ssize_t size = -1;
	/* O_NONBLOCK, because opening a FIFO would wait. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &file) != 0)
		fault = strerror(errno);
	else if (!S_ISREG(file.st_mode))
		fault = "this is no file: write the path of one";
	else if (file.st_mode & (S_IRWXG | S_IRWXO))
		fault = "others may read it; chmod 600";
	else
		size = read(fd, guard->token, sizeof guard->token - 1);
	if (fd >= 0)
		(void)close(fd); /* the file was only read */
	if (fault)
		return complain(EXIT_USAGE, "--token-file %.300s: %s", path, fault);
	guard->token[size > 0 ? size : 0] = '\0';
	size = (ssize_t)strcspn(guard->token, "\r\n");
	guard->token[size] = '\0';
	if (size < TOKEN_MIN)
		return complain(EXIT_USAGE, "--token-file %.300s: write at least %d characters",
				path, TOKEN_MIN);
	if (size > GUARD_TOKEN_MAX)
		return complain(EXIT_USAGE, "--token-file %.300s: write at most %d characters",
				path, GUARD_TOKEN_MAX);
	return EXIT_DONE;
}

/* is_token compares two tokens. Its time does not depend on the number of equal characters. */
static bool is_token(const char *token, const char *given)
{
	size_t size = strlen(token);
	size_t given_size = strlen(given);
	unsigned char differs = size != given_size;

	for (size_t i = 0; i < size; i++)
		differs |= (unsigned char)(token[i] ^ given[given_size ? i % given_size : 0]);
	return differs == 0;
}

/* ---- Listening ------------------------------------------------------------------------------- */

static int cannot_listen(const char *address)
{
	return complain(EXIT_FAILED, "--http %.300s: %s", address, strerror(errno));
}

/* is_left returns true if the file is a socket and no process listens on it any more. */
static bool is_left(const struct sockaddr_un *name)
{
	struct stat file;
	bool refused;
	int fd;

	if (lstat(name->sun_path, &file) != 0 || !S_ISSOCK(file.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	refused = fd >= 0 && connect(fd, (const struct sockaddr *)name, sizeof *name) != 0 &&
		  errno == ECONNREFUSED;
	if (fd >= 0)
		(void)close(fd);
	return refused;
}

static int listen_on(struct guard *guard, const struct sockaddr *name, socklen_t size,
		     const char *address)
{
	const int on = 1;
	int fd = socket(name->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return cannot_listen(address);
	guard->listen_fd = fd;
	if (name->sa_family != AF_UNIX)
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, name, size) != 0 || listen(fd, BACKLOG) != 0)
		return cannot_listen(address);
	return EXIT_DONE;
}

static const char unix_scheme[] = "unix:";

static bool is_unix(const char *address)
{
	return strncmp(address, unix_scheme, strlen(unix_scheme)) == 0;
}

/* number_of returns the inode number of a file, or 0. */
static ino_t number_of(const char *path)
{
	struct stat file;

	return lstat(path, &file) == 0 ? file.st_ino : 0;
}

/* open_unix listens on a socket in the file system. Only this user may connect. Returns EXIT_DONE,
 * or complains. */
static int open_unix(struct guard *guard, const char *address)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	const char *path = address + strlen(unix_scheme);
	mode_t mask;
	int code;

	memcpy(name.sun_path, path, strlen(path) + 1);
	if (is_left(&name))
		(void)unlink(path);
	mask = umask(S_IRWXG | S_IRWXO);
	code = listen_on(guard, (struct sockaddr *)&name, sizeof name, address);
	(void)umask(mask);
	if (code == EXIT_DONE) {
		memcpy(guard->path, path, strlen(path) + 1);
		guard->number = number_of(path);
	}
	guard->is_unix = true;
	(void)snprintf(guard->host, sizeof guard->host, "localhost"); /* the text always fits */
	return code;
}

/* A socket address with a port. */
union place {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* parse reads an address like 127.0.0.1:80, localhost:80 or [::1]:80. Returns false if it is
 * invalid. */
static bool parse(const char *address, union place *place, socklen_t *ret_size)
{
	const char *colon = strrchr(address, ':');
	char host[64] = "";
	char *end = NULL;
	unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 0;
	size_t size = colon ? (size_t)(colon - address) : 0;

	*place = (union place){.any = {0}};
	if (size == 0 || size >= sizeof host || colon[1] < '0' || colon[1] > '9' || *end ||
	    port > 65535)
		return false;
	memcpy(host, address, size);
	if (strcmp(host, "localhost") == 0)
		(void)snprintf(host, sizeof host, "127.0.0.1"); /* the text always fits */
	*ret_size = sizeof place->v4;
	place->v4.sin_family = AF_INET;
	place->v4.sin_port = htons((uint16_t)port);
	if (inet_pton(AF_INET, host, &place->v4.sin_addr) == 1)
		return true;
	if (host[0] != '[' || host[strlen(host) - 1] != ']')
		return false;
	host[strlen(host) - 1] = '\0';
	*ret_size = sizeof place->v6;
	place->v6 =
	    (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
	return inet_pton(AF_INET6, host + 1, &place->v6.sin6_addr) == 1;
}

static bool is_local(const union place *place)
{
	if (place->any.sa_family == AF_INET)
		return ntohl(place->v4.sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&place->v6.sin6_addr);
}

/* An address in the form of the Host header, without a port. */
struct address {
	char text[INET6_ADDRSTRLEN + 2];
};

/* address_of returns the address as text. If an IPv6 socket is connected by IPv4, the address is
 * the IPv4 one. */
static struct address address_of(const union place *place)
{
	const struct in6_addr *v6 = &place->v6.sin6_addr;
	struct address address = {.text = "["};

	if (place->any.sa_family == AF_INET) {
		(void)inet_ntop(AF_INET, &place->v4.sin_addr, address.text, INET6_ADDRSTRLEN);
	} else if (IN6_IS_ADDR_V4MAPPED(v6)) {
		(void)inet_ntop(AF_INET, v6->s6_addr + 12, address.text, INET6_ADDRSTRLEN);
	} else {
		(void)inet_ntop(AF_INET6, v6, address.text + 1, INET6_ADDRSTRLEN);
		address.text[strlen(address.text)] = ']'; /* there is room, and zeros follow */
	}
	return address;
}

/* note_host stores the address that the socket has got, because port 0 means any free port. */
static void note_host(struct guard *guard)
{
	union place place = {.any = {0}};
	socklen_t size = sizeof place;
	struct address address;

	(void)getsockname(guard->listen_fd, &place.any, &size); /* cannot fail on a bound socket */
	address = address_of(&place);
	(void)snprintf(guard->port, sizeof guard->port, ":%u",
		       ntohs(place.any.sa_family == AF_INET ? place.v4.sin_port
							    /* The text always fits. */
							    : place.v6.sin6_port));
	(void)snprintf(guard->host, sizeof guard->host, "%s%s", address.text,
		       guard->port); /* the text always fits */
}

static int check_unix(const char *address)
{
	size_t size = strlen(address) - strlen(unix_scheme);

	if (size == 0 || size >= sizeof((struct sockaddr_un *)NULL)->sun_path)
		return complain(EXIT_USAGE, "--http %.300s: the path is empty or too long",
				address);
	return EXIT_DONE;
}

int guard_check_address(const struct options *options)
{
	const char *address = options->value[OPT_HTTP];
	union place place;
	socklen_t size;

	if (is_unix(address))
		return check_unix(address);
	if (!parse(address, &place, &size))
		return complain(EXIT_USAGE,
				"--http %.300s: write 127.0.0.1:PORT, [::1]:PORT or unix:PATH, "
				"and a PORT of at most 65535",
				address);
	if (!is_local(&place) && !options->value[OPT_TOKEN_FILE])
		return complain(EXIT_USAGE,
				"--http %.300s: other machines reach this address: write "
				"--token-file FILE, too, or 127.0.0.1",
				address);
	return EXIT_DONE;
}

int guard_check_token(const struct options *options)
{
	struct guard guard;

	return options->value[OPT_TOKEN_FILE] ? read_token(&guard, options->value[OPT_TOKEN_FILE])
					      : EXIT_DONE;
}

static const char blanks[] = " \t";

static int check_hosts(const char *hosts)
{
	if (hosts[strspn(hosts, blanks)] && !hosts[strcspn(hosts, "/@?#\\\"'")])
		return EXIT_DONE;
	return complain(EXIT_USAGE,
			"--allow-host \"%.300s\": write the name in Host, as timers.example or "
			"timers.example:8990",
			hosts);
}

int guard_check_host(const struct options *options)
{
	const char *hosts = options->value[OPT_ALLOW_HOST];
	int code = hosts ? check_hosts(hosts) : EXIT_DONE;

	for (size_t i = 0; i < options->host_count && code == EXIT_DONE; i++)
		code = check_hosts(options->hosts[i]);
	return code;
}

/* open_tcp listens on the address, which guard_check_address() has checked. Returns EXIT_DONE, or
 * complains. */
static int open_tcp(struct guard *guard, const char *address)
{
	union place place;
	socklen_t size;
	int code = EXIT_FAILED;

	if (parse(address, &place, &size))
		code = listen_on(guard, &place.any, size, address);
	if (code == EXIT_DONE)
		note_host(guard);
	return code;
}

int guard_open(struct guard *guard, const struct options *options)
{
	const char *address = options->value[OPT_HTTP];
	const char *token_file = options->value[OPT_TOKEN_FILE];
	int code = EXIT_DONE;

	*guard = (struct guard){.listen_fd = -1,
				.allowed = options->hosts,
				.allowed_count = options->host_count,
				.allow_host = options->value[OPT_ALLOW_HOST]};
	if (token_file)
		code = read_token(guard, token_file);
	if (code == EXIT_DONE)
		code = guard_check_host(options);
	if (code == EXIT_DONE)
		code = guard_check_address(options);
	if (code == EXIT_DONE)
		code = is_unix(address) ? open_unix(guard, address) : open_tcp(guard, address);
	if (code != EXIT_DONE)
		guard_close(guard);
	return code;
}

void guard_close(struct guard *guard)
{
	if (guard->path[0] && number_of(guard->path) == guard->number)
		(void)unlink(guard->path);
	if (guard->listen_fd >= 0)
		(void)close(guard->listen_fd);
	guard->listen_fd = -1;
	guard->path[0] = '\0';
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* All values of one header. */
struct header {
	const char *name;
	const char *value; /* the last of the values */
	unsigned count;
};

static enum MHD_Result find_header(void *user, enum MHD_ValueKind kind, const char *name,
				   const char *value)
{
	struct header *header = user;

	(void)kind;
	if (strcasecmp(name, header->name) != 0)
		return MHD_YES;
	header->value = value;
	header->count++;
	return MHD_YES;
}

static struct header header_of(struct MHD_Connection *connection, const char *name)
{
	struct header header = {.name = name};

	(void)MHD_get_connection_values(connection, MHD_HEADER_KIND, find_header, &header);
	return header;
}

/* is_part returns true if the first `size` bytes of `name` are the host, with or without our
 * port. */
static bool is_part(const struct guard *guard, const char *host, const char *name, size_t size)
{
	return strncasecmp(host, name, size) == 0 &&
	       (host[size] == '\0' || strcmp(host + size, guard->port) == 0);
}

static bool is_name(const struct guard *guard, const char *host, const char *name)
{
	return is_part(guard, host, name, strlen(name));
}

/* is_among returns true if the host is one of the names, which are separated by blanks. */
static bool is_among(const struct guard *guard, const char *host, const char *names)
{
	for (names += strspn(names, blanks); *names; names += strspn(names, blanks)) {
		size_t size = strcspn(names, blanks);

		if (is_part(guard, host, names, size))
			return true;
		names += size;
	}
	return false;
}

static bool is_allowed(const struct guard *guard, const char *host)
{
	for (size_t i = 0; i < guard->allowed_count; i++)
		if (is_among(guard, host, guard->allowed[i]))
			return true;
	return guard->allow_host && is_among(guard, host, guard->allow_host);
}

/* is_address returns true if the host is the address to which the client has connected. */
static bool is_address(const struct guard *guard, const char *host,
		       struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	union place place = {.any = {0}};
	socklen_t size = sizeof place;
	struct address address;

	if (getsockname(info->connect_fd, &place.any, &size) != 0)
		return false;
	address = address_of(&place);
	return is_name(guard, host, address.text);
}

/* is_our_host returns true if the host belongs to this server. An attacker can make any name lead
 * to our address (DNS rebinding), so an unknown name may belong to another page. An address cannot
 * lead elsewhere. A socket in the file system has no host name, so any Host is accepted there. */
static bool is_our_host(const struct guard *guard, const char *host,
			struct MHD_Connection *connection)
{
	if (guard->is_unix || strcasecmp(host, guard->host) == 0)
		return true;
	return is_name(guard, host, "localhost") || is_name(guard, host, "127.0.0.1") ||
	       is_name(guard, host, "[::1]") || is_allowed(guard, host) ||
	       is_address(guard, host, connection);
}

/* is_our_origin returns true if the origin is a page of this server. */
static bool is_our_origin(const char *origin, const char *host)
{
	static const char *const schemes[] = {"http://", "https://"};

	for (size_t i = 0; i < 2; i++) {
		size_t size = strlen(schemes[i]);

		if (strncmp(origin, schemes[i], size) == 0 && strcasecmp(origin + size, host) == 0)
			return true;
	}
	return false;
}

static bool has_value(struct MHD_Connection *connection, const char *name, const char *value)
{
	struct header header = header_of(connection, name);

	return header.count == 1 && header.value && strcmp(header.value, value) == 0;
}

/* is_foreign_fetch returns true if a page of another site makes the browser send the request.
 * Browsers say so in the headers Sec-Fetch-*. A link to our page is allowed. Other programs do not
 * send these headers. */
static bool is_foreign_fetch(struct MHD_Connection *connection, enum path_kind kind)
{
	if (header_of(connection, "Sec-Fetch-Site").count == 0 ||
	    has_value(connection, "Sec-Fetch-Site", "same-origin") ||
	    has_value(connection, "Sec-Fetch-Site", "none"))
		return false;
	return kind != PATH_PAGE || !has_value(connection, "Sec-Fetch-Mode", "navigate") ||
	       !has_value(connection, "Sec-Fetch-Dest", "document");
}

struct refusal guard_check(const struct guard *guard, struct MHD_Connection *connection,
			   const char *method, enum path_kind kind)
{
	struct header host = header_of(connection, "Host");
	struct header origin = header_of(connection, "Origin");
	struct header token = header_of(connection, "Authorization");
	struct header length = header_of(connection, "Content-Length");
	struct header coding = header_of(connection, "Transfer-Encoding");

	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return (struct refusal){405, "only GET and HEAD: this server changes nothing"};
	if (host.count > 1 || origin.count > 1 || token.count > 1)
		return (struct refusal){400, "a header is given twice"};
	if (kind != PATH_PROBE &&
	    (host.count == 0 || !host.value || !is_our_host(guard, host.value, connection)))
		return (struct refusal){421, "this server does not answer for this Host; see "
					     "--allow-host"};
	if (origin.count > 0 &&
	    (!origin.value || !host.value || !is_our_origin(origin.value, host.value)))
		return (struct refusal){403, "the page of another origin may not ask"};
	if (is_foreign_fetch(connection, kind))
		return (struct refusal){403, "the page of another site may not ask"};
	if (coding.count > 0 || (length.value && strcmp(length.value, "0") != 0))
		return (struct refusal){400, "a request has no body here"};
	if (guard->token[0] && kind != PATH_PROBE &&
	    (!token.value || strncasecmp(token.value, "Bearer ", 7) != 0 ||
	     !is_token(guard->token, token.value + 7)))
		return (struct refusal){401, "write Authorization: Bearer TOKEN"};
	return (struct refusal){0, NULL};
}
