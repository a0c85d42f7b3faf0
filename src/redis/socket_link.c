#include "redis/socket_link.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static void set_defaults(struct socket_options *options)
{
	if (options->connect_patience == 0)
		options->connect_patience = DW_SECONDS(2);
	if (options->reply_patience == 0)
		options->reply_patience = DW_SECONDS(1);
	if (options->probe_every == 0)
		options->probe_every = DW_MILLISECONDS(400);
	if (options->queue_max == 0)
		options->queue_max = (size_t)64 << 20;
}

/* copy_words copies the caller's strings, which need not outlive the call. */
static void copy_words(struct socket_link *link)
{
	struct socket_options *options = &link->options;

	if (options->name)
		(void)snprintf(link->name, sizeof link->name, "%s", options->name);
	if (options->probe_key)
		(void)snprintf(link->probe_key, sizeof link->probe_key, "%s", options->probe_key);
	options->probe_key = options->probe_key ? link->probe_key : NULL;
	link->probe.key = options->probe_key;
	options->name = options->name ? link->name : NULL;
	if (options->channels) /* `channels` of the link was allocated large enough */
		options->channels =
		    memcpy(link->channels, options->channels, strlen(options->channels) + 1);
	link->hello = (struct hello){.url = options->url,
				     .name = options->name,
				     .channels = options->channels,
				     .probe = options->probe_key,
				     .to_sentinel = options->to_sentinel,
				     .log = options->log,
				     .log_user = options->log_user};
}

int socket_link_new(struct link **ret_link, const struct socket_options *options)
{
	size_t size = options->channels ? strlen(options->channels) + 1 : 0;
	struct socket_link *link = alloc_new(&options->alloc, sizeof *link + size);

	assert(!options->probe_key || strlen(options->probe_key) < sizeof link->probe_key);
	if (!link)
		return DW_ENOMEM;
	link->transport.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (link->transport.epoll_fd < 0) {
		alloc_free(&options->alloc, link);
		return DW_ESYS;
	}
	link->link.type = &socket_link_class;
	link->options = *options;
	set_defaults(&link->options);
	copy_words(link);
	link->maker = getpid();
	link->transport.fd = -1;
	if (!options->url->host && !options->url->path)
		link->deadline = DW_NEVER; /* Sentinels have to name the server first */
	link->reconnect = (struct reconnect){.server = options->url->server,
					     .listener = options->channels != NULL,
					     .log = options->log,
					     .log_user = options->log_user,
					     .rng.state = options->seed,
					     .out_since = DW_NEVER};
	link->heart.patience = link->options.reply_patience;
	link->heart.probe_every = link->options.probe_every;
	link->output.alloc = options->alloc;
	link->careful.output = &link->output;
	link->careful.heart = &link->heart;
	dial_init(&link->dial, &options->alloc, options->url, link->transport.epoll_fd);
	*ret_link = &link->link;
	return DW_OK;
}
