#include "redis/resolve.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct lookup {
	struct alloc alloc;
	pthread_mutex_t mutex;
	bool done;
	bool left; /* whoever began it has gone */
	int event_fd;
	struct lookup_result result;
	char host[256];
	char port[8];
};

/* find: host NULL: this one. */
static void find(const char *host, const char *port, int flags, struct lookup_result *ret_result)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags};
	struct addrinfo *list = NULL;

	*ret_result = (struct lookup_result){.error = getaddrinfo(host, port, &hints, &list)};
	if (ret_result->error != 0)
		return;
	for (struct addrinfo *one = list; one && ret_result->count < LOOKUP_MAX;
	     one = one->ai_next) {
		struct lookup_address *found = &ret_result->found[ret_result->count];

		if (one->ai_addrlen > sizeof found->address)
			continue;
		memcpy(&found->address, one->ai_addr, one->ai_addrlen);
		found->size = one->ai_addrlen;
		ret_result->count++;
	}
	freeaddrinfo(list);
}

bool lookup_number(const char *host, const char *port, struct lookup_result *ret_result)
{
	find(host, port, AI_NUMERICHOST | AI_NUMERICSERV, ret_result);
	return ret_result->error == 0;
}

static void free_lookup(struct lookup *lookup)
{
	struct alloc alloc = lookup->alloc;

	if (lookup->event_fd >= 0)
		(void)close(lookup->event_fd); /* it holds nothing */
	(void)pthread_mutex_destroy(&lookup->mutex);
	alloc_free(&alloc, lookup);
}

/* is_here: that name is this host's, also where no file and no server of names says so (RFC 6761).
 */
static bool is_here(const char *host)
{
	return strcasecmp(host, "localhost") == 0;
}

static void *look(void *arg)
{
	struct lookup *lookup = arg;
	struct lookup_result result;
	uint64_t one = 1;
	bool left;

	find(is_here(lookup->host) ? NULL : lookup->host, lookup->port, AI_NUMERICSERV, &result);
	pthread_mutex_lock(&lookup->mutex);
	lookup->result = result;
	lookup->done = true;
	left = lookup->left;
	if (!left)
		(void)!write(lookup->event_fd, &one, sizeof one); /* cannot be full */
	pthread_mutex_unlock(&lookup->mutex);
	if (left)
		free_lookup(lookup);
	return NULL;
}

/* start: the thread takes no signals, they are the program's. */
static bool start(struct lookup *lookup)
{
	pthread_attr_t attributes;
	sigset_t all;
	sigset_t before;
	pthread_t thread;
	bool started;

	if (pthread_attr_init(&attributes) != 0)
		return false;
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED); /* cannot fail */
	(void)sigfillset(&all);                                                  /* nor this */
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&thread, &attributes, look, lookup) == 0;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attributes);
	return started;
}

struct lookup *lookup_begin(const struct alloc *alloc, const char *host, const char *port)
{
	struct lookup *lookup = alloc_new(alloc, sizeof *lookup);

	if (!lookup)
		return NULL;
	lookup->alloc = *alloc;
	(void)pthread_mutex_init(&lookup->mutex, NULL); /* cannot fail without attributes */
	memcpy(lookup->host, host, strnlen(host, sizeof lookup->host - 1));
	memcpy(lookup->port, port, strnlen(port, sizeof lookup->port - 1));
	lookup->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (lookup->event_fd < 0 || !start(lookup)) {
		free_lookup(lookup);
		return NULL;
	}
	return lookup;
}

int lookup_descriptor(const struct lookup *lookup)
{
	return lookup->event_fd;
}

bool lookup_take(struct lookup *lookup, struct lookup_result *ret_result)
{
	bool done;

	pthread_mutex_lock(&lookup->mutex);
	done = lookup->done;
	if (done)
		*ret_result = lookup->result;
	pthread_mutex_unlock(&lookup->mutex);
	return done;
}

void lookup_end(struct lookup *lookup)
{
	bool done;

	if (!lookup)
		return;
	pthread_mutex_lock(&lookup->mutex);
	done = lookup->done;
	lookup->left = true;
	pthread_mutex_unlock(&lookup->mutex);
	if (done)
		free_lookup(lookup);
}
