#include "base/ascii.h"
#include "redis/resolve.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct resolver {
	struct alloc alloc;
	pthread_mutex_t mutex;
	bool done;
	bool left; /* resolve_end was called, so the thread frees this struct */
	int event_fd;
	struct resolve_result result;
	char host[256];
	char port[8];
};

/* find looks the name up. If host is NULL, it returns the addresses of this machine. */
static void find(const char *host, const char *port, int flags, struct resolve_result *ret_result)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags};
	struct addrinfo *list = NULL;

	*ret_result = (struct resolve_result){.error = getaddrinfo(host, port, &hints, &list)};
	if (ret_result->error != 0)
		return;
	for (struct addrinfo *one = list; one && ret_result->count < RESOLVE_MAX;
	     one = one->ai_next) {
		struct resolve_address *found = &ret_result->found[ret_result->count];

		if (one->ai_addrlen > sizeof found->address)
			continue;
		memcpy(&found->address, one->ai_addr, one->ai_addrlen);
		found->size = one->ai_addrlen;
		ret_result->count++;
	}
	freeaddrinfo(list);
}

bool resolve_number(const char *host, const char *port, struct resolve_result *ret_result)
{
	find(host, port, AI_NUMERICHOST | AI_NUMERICSERV, ret_result);
	return ret_result->error == 0;
}

static void free_resolver(struct resolver *resolver)
{
	struct alloc alloc = resolver->alloc;

	if (resolver->event_fd >= 0)
		(void)close(resolver->event_fd); /* nothing can be lost */
	(void)pthread_mutex_destroy(&resolver->mutex);
	alloc_free(&alloc, resolver);
}

/* is_here returns true for "localhost". This name means this machine even if neither /etc/hosts nor
 * a name server says so (RFC 6761). */
static bool is_here(const char *host)
{
	return ascii_is(host, "localhost");
}

static void *resolve_in_thread(void *arg)
{
	struct resolver *resolver = arg;
	struct resolve_result result;
	uint64_t one = 1;
	bool left;

	find(is_here(resolver->host) ? NULL : resolver->host, resolver->port, AI_NUMERICSERV,
	     &result);
	pthread_mutex_lock(&resolver->mutex);
	resolver->result = result;
	resolver->done = true;
	left = resolver->left;
	if (!left)
		(void)!write(resolver->event_fd, &one, sizeof one); /* the counter cannot be full */
	pthread_mutex_unlock(&resolver->mutex);
	if (left)
		free_resolver(resolver);
	return NULL;
}

/* start starts the thread. The thread blocks all signals, because they belong to the program. */
static bool start(struct resolver *resolver)
{
	pthread_attr_t attributes;
	sigset_t all;
	sigset_t before;
	pthread_t thread;
	bool started;

	if (pthread_attr_init(&attributes) != 0)
		return false;
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED); /* cannot fail */
	(void)sigfillset(&all);                                                  /* cannot fail */
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&thread, &attributes, resolve_in_thread, resolver) == 0;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attributes);
	return started;
}

struct resolver *resolve_begin(const struct alloc *alloc, const char *host, const char *port)
{
	struct resolver *resolver = alloc_new(alloc, sizeof *resolver);

	if (!resolver)
		return NULL;
	resolver->alloc = *alloc;
	(void)pthread_mutex_init(&resolver->mutex, NULL); /* cannot fail without attributes */
	memcpy(resolver->host, host, strnlen(host, sizeof resolver->host - 1));
	memcpy(resolver->port, port, strnlen(port, sizeof resolver->port - 1));
	resolver->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (resolver->event_fd < 0 || !start(resolver)) {
		free_resolver(resolver);
		return NULL;
	}
	return resolver;
}

int resolve_descriptor(const struct resolver *resolver)
{
	return resolver->event_fd;
}

bool resolve_take(struct resolver *resolver, struct resolve_result *ret_result)
{
	bool done;

	pthread_mutex_lock(&resolver->mutex);
	done = resolver->done;
	if (done)
		*ret_result = resolver->result;
	pthread_mutex_unlock(&resolver->mutex);
	return done;
}

void resolve_end(struct resolver *resolver)
{
	bool done;

	if (!resolver)
		return;
	pthread_mutex_lock(&resolver->mutex);
	done = resolver->done;
	resolver->left = true;
	pthread_mutex_unlock(&resolver->mutex);
	if (done)
		free_resolver(resolver);
}
