/* Opens the store: connects, learns the number of shards, and acquires the leases. Only opening and
 * stopping block. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "redis/tls.h"
#include "store/identity.h"
#include "store/redis/core.h"
#include "store/redis/wire/replicas.h"
#include "store/redis/wire/rights.h"
#include "store/redis/store.h"

/* ---- Making ---------------------------------------------------------------------------------- */

dw_store *redis_base(struct redis_store *store)
{
	return &store->store;
}

static bool is_name(const char *name)
{
	size_t size = name ? strnlen(name, 64) : 0;

	return size > 0 && size < 64 &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
		   size;
}

static void set_names(struct names *names, const dw_store_env *env)
{
	(void)snprintf(names->name, sizeof names->name, "%s", env->name);
	(void)snprintf(names->nonce, sizeof names->nonce, "%016" PRIx64, env->token);
	if (env->role == DW_PEER)
		(void)snprintf(names->free, sizeof names->free, "{%s}:free", env->name);
	identity_write(names->holder, sizeof names->holder);
}

int redis_new(struct redis_store **ret_store, const dw_store_env *env, struct link *link)
{
	struct alloc alloc = {.resize = env->resize, .user = env->resize_user};
	struct redis_store *store = is_name(env->name) ? alloc_new(&alloc, sizeof *store) : NULL;

	if (!store) {
		link_free(link);
		return is_name(env->name) ? DW_ENOMEM : DW_EINVAL;
	}
	store->store.type = &redis_class;
	store->env = *env;
	store->alloc = alloc;
	store->node.link = link;
	store->node.named =
	    (struct nomination){.since = INT64_MIN, .until = DW_NEVER, .length = DW_NEVER};
	store->draft.words.alloc = alloc;
	store->ownership.role = DW_CLIENT;
	store->ownership.members.room = SHARDS_MAX;
	store->ownership.lease = env->lease ? env->lease : LEASE_DEFAULT;
	store->wake.descriptor = -1;
	(void)nodes_add(store, &store->node); /* cannot fail: the list is empty */
	set_names(&store->names, env);
	*ret_store = store;
	return DW_OK;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static int fail(char *message, int status, const char *words)
{
	(void)snprintf(message, DW_MESSAGE_SIZE, "%s", words); /* long words are cut */
	return status;
}

/* unreachable writes why there is no connection. */
static int unreachable(struct redis_store *store, char *message)
{
	bool fatal;
	char room[DW_MESSAGE_SIZE];
	const char *trouble = store_why(store, room, &fatal);

	if (trouble[0])
		(void)snprintf(message, DW_MESSAGE_SIZE, "%s", trouble); /* long words are cut */
	else
		(void)snprintf(message, DW_MESSAGE_SIZE, "%s: the server does not answer",
			       store->url.name);
	return DW_ESTORE;
}

static int layout_await(struct redis_store *store, dw_usec until)
{
	const struct layout *layout = &store->layout;

	rights_ask(store);
	layout_ask_era(store);
	if (layout_ask(store) != DW_OK)
		return DW_ENOMEM;
	do {
		redis_wire(store);
	} while (layout->is_asked && redis_wait(store, until));
	return layout->is_answered && (!layout->words[0] || layout->is_wrong) ? DW_OK : DW_ESTORE;
}

/* is_reached returns true if the store can be opened. In a cluster, each node that may be used must
 * be connected or away. */
static bool is_reached(const struct redis_store *store)
{
	const struct node *home = store->nodes.home;
	bool fatal;

	if (!store->nodes.cluster || !cut_off_settled(store))
		return !store->nodes.cluster && home->connection;
	return (home->connection || link_trouble(home->link, &fatal)[0]) &&
	       cluster_settling_until(store) <= store->now;
}

/* proof_at returns until when opening waits for a server that was named a moment ago. */
static dw_usec proof_at(const struct redis_store *store)
{
	const struct nomination *named = &store->nodes.home->named;

	if (store->nodes.cluster)
		return usec_add(cluster_settling_until(store), store->env.patience);
	if (!named->server[0] || !node_is_new(store->nodes.home) || store->now >= named->until)
		return INT64_MIN;
	return usec_add(named->since, NAMED_FOR + NAMED_OTHERS + store->env.patience);
}

static int await_connection(struct redis_store *store, dw_usec until, char *message)
{
	char room[DW_MESSAGE_SIZE];
	bool fatal = false;

	do {
		store->now = store->env.steady(store->env.steady_user);
		redis_work(store);
		(void)store_why(store, room, &fatal);
		if (is_reached(store))
			return DW_OK;
		until = usec_max(until, proof_at(store));
	} while (!fatal && redis_wait(store, until));
	return unreachable(store, message);
}

/* rest waits a moment after a refusal that will pass, before the server is asked again. Returns
 * false if no time is left. */
static bool rest(struct redis_store *store, dw_usec until)
{
	dw_usec end = usec_min(until, usec_add(store->now, PAUSE));

	while (redis_wait(store, end))
		redis_wire(store);
	store->now = store->env.steady(store->env.steady_user);
	return store->now < until;
}

/* tell_new logs that the namespace is new, because a mistyped name looks like an empty
 * namespace. */
static void tell_new(struct redis_store *store)
{
	char line[DW_MESSAGE_SIZE];

	(void)snprintf(line, sizeof line, "%s: the namespace %s is new", store->url.name,
		       store->names.name); /* a long name is cut */
	if (store->env.log)
		store->env.log(DW_LOG_INFO, line, store->env.log_user);
}

/* is_refused returns true if the store cannot be opened, because the server refuses our scripts. A
 * store with a journal opens without the right to run scripts, because the right may be granted
 * later. But it does not open if the server does not know the commands. */
static bool is_refused(const struct redis_store *store)
{
	const struct scripts *scripts = &store->nodes.home->scripts;

	return scripts->missing[0] && (scripts->is_unknown || !store->env.may_be_away);
}

static int lay_out(struct redis_store *store, dw_usec until, char *message)
{
	unsigned wanted = store->env.shards;
	const struct layout *layout = &store->layout;
	unsigned found;
	int status;

	do {
		status = layout_await(store, until);
	} while (layout->passes && rest(store, until));
	found = layout->found;
	if (status == DW_ENOMEM)
		return status;
	if (is_refused(store))
		return fail(message, DW_ESTORE, store->nodes.home->scripts.missing);
	if (status != DW_OK && !layout->words[0])
		return unreachable(store, message);
	if (status != DW_OK)
		return fail(message, status, layout->words);
	if (layout->is_wrong)
		return fail(message, DW_ECORRUPT, layout->words);
	if (found && wanted && found != wanted) {
		(void)snprintf(message, DW_MESSAGE_SIZE,
			       "the namespace %s has %u shards, not %u: the number is fixed when "
			       "it is made; leave options.shards 0",
			       store->names.name, found, wanted);
		return DW_EINVAL;
	}
	if (!found)
		tell_new(store);
	status = redis_shards(store, found ? found : wanted ? wanted : SHARDS_DEFAULT);
	store->layout.is_fixed = found > 0;
	return status;
}

/* is_young returns true if the server may have forgotten an owner, so that nobody can acquire its
 * shards yet. */
static bool is_young(const struct acquisition *acquisition)
{
	return acquisition->free_at != 0;
}

/* open_as_owner acquires the lease of every shard, or says why it cannot. If the server may have
 * forgotten an owner, it waits until that lease has ended, and after that as long as for any
 * server. But a store with a journal does not wait, because it must take timers meanwhile. */
static int open_as_owner(struct redis_store *store, dw_usec until, char *message)
{
	do {
		if (await_connection(store, until, message) != DW_OK)
			return DW_ESTORE;
		lease_acquire(store, NULL);
		redis_wire(store);
		while (store->ownership.acquisition.active) {
			if (!redis_wait(store, until))
				return fail(message, DW_ESTORE, "the server does not answer");
			redis_work(store);
		}
		if (store->ownership.acquisition.status == DW_OK)
			return DW_OK;
		while (nodes_have_work(&store->nodes) && redis_wait(store, until))
			redis_wire(store); /* send the commands that give the leases back */
		if (is_young(&store->ownership.acquisition) && store->env.may_be_away)
			return DW_OK; /* as a client, which later asks for the ownership again */
		until = usec_max(
		    until, usec_add(store->ownership.acquisition.free_at, store->env.patience));
	} while ((store->ownership.acquisition.passes || is_young(&store->ownership.acquisition)) &&
		 rest(store, until));
	return fail(message, store->ownership.acquisition.status,
		    store->ownership.acquisition.words);
}

/* check_replicas asks whether the server lets us wait for its replicas. */
static int check_replicas(struct redis_store *store, dw_usec until, char *message)
{
	do {
		store->now = store->env.steady(store->env.steady_user);
		redis_work(store);
	} while (!replicas_are_asked(store, &store->node) && redis_wait(store, until));
	return replicas_permit(store, &store->node, message);
}

/* open_away opens a client's store while the server cannot be reached. The number of shards is a
 * guess, which the store corrects when it reaches the server. */
static int open_away(struct redis_store *store)
{
	int status = redis_shards(store, store->env.shards ? store->env.shards : SHARDS_DEFAULT);

	store->layout.is_fixed = false;
	return status;
}

/* open_descriptors opens the descriptors that the store needs before it has a connection. */
static int open_descriptors(struct redis_store *store, char *message)
{
	bool is_cluster = store->url.kind == REDIS_CLUSTER;
	int status = is_cluster ? DW_OK : link_open(store, &store->url, NULL, &store->node.link);

	if (status == DW_OK) {
		store->wake.descriptor = epoll_create1(EPOLL_CLOEXEC);
		status = store->wake.descriptor < 0 ? DW_ESYS : sentinels_open(store);
	}
	if (status == DW_OK)
		status = cluster_open(store);
	if (status == DW_ESYS)
		(void)snprintf(message, DW_MESSAGE_SIZE, "%s: no descriptor: %s", store->url.name,
			       strerror(errno)); /* long words are cut */
	return status;
}

/* check_files reports at once if a file for TLS cannot be used. Each connection reads the files
 * again. */
static int check_files(struct redis_store *store, char *message)
{
	struct redis_url url = store->url; /* shares the texts of the store's URL */
	struct tls *tls = NULL;
	int status;

	if (!url.host)
		url.host = url.hosts[0].host; /* no server is named yet */
	status = url.tls ? tls_new(&tls, &url, &store->alloc, -1, message) : DW_OK;
	tls_end(tls, true);
	return status;
}

static int open_all(struct redis_store *store, const char *url, char *message)
{
	dw_usec until;
	int status = redis_url_read(&store->url, url, &store->alloc, message);

	if (status == DW_OK)
		status = check_files(store, message);

	if (status == DW_OK)
		status = open_descriptors(store, message);
	if (status != DW_OK)
		return status;
	if (store->node.link)
		wake_channel_watch(&store->wake, link_descriptor(store->node.link));
	store->now = store->env.steady(store->env.steady_user);
	until = usec_add(store->now, store->env.patience);
	status = await_connection(store, until, message);
	if (status == DW_ESTORE && store->env.may_be_away)
		return open_away(store);
	/* Waiting for servers that were named a moment ago may have taken all of the time. */
	until = usec_max(until, usec_add(store->now, store->env.patience));
	if (status == DW_OK)
		status = lay_out(store, until, message);
	if (status == DW_OK && store->url.replicas > 0)
		status = check_replicas(store, until, message);
	if (status == DW_OK && store->env.role == DW_OWNER)
		status = open_as_owner(store, until, message);
	return status;
}

int redis_store_open(dw_store **ret_store, const char *url, const dw_store_env *env,
		     char *ret_message)
{
	struct redis_store *store;
	int status = redis_new(&store, env, NULL);

	if (status == DW_EINVAL)
		return fail(ret_message, DW_EINVAL,
			    env->name ? "options.name is 1 to 63 of A-Z a-z 0-9 . _ -"
				      : "with Redis options.name is needed: the namespace");
	if (status != DW_OK)
		return status;
	status = open_all(store, url, ret_message);
	if (status != DW_OK) {
		redis_free(&store->store);
		return status;
	}
	store->opened = true;
	*ret_store = &store->store;
	return DW_OK;
}
