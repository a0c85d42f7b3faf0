#include "handle/bulk.h"

#include <string.h>

#include "base/grown.h"
#include "base/scope.h"

#define ALIGNMENT 16u
#define CALLS_FULL "other threads' calls have all of options.posted_max_bytes"
#define NO_MEMORY "no memory for so many calls"

struct bulk_slot {
	struct bulk *bulk;
	size_t index;
};

/* A bulk is one block of memory. Behind the struct stand the results, the slots and the ids, and
 * for a call of another thread the copied requests. */
struct bulk {
	struct alloc alloc;
	dw *d;
	dw_bulk_fn fn;
	void *user;
	enum request_kind kind;
	size_t count;
	size_t left;   /* calls without an answer */
	size_t posted; /* bytes that count as a call of another thread, until fn is called */
	dw_result *results;
	struct bulk_slot *slots;
	/* Copies of the requests that are not refused; NULL: nothing is copied. */
	unsigned char *copies;
};

static size_t aligned(size_t size)
{
	return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static const dw_timer *timer_at(const struct bulk_list *list, size_t i)
{
	return (const dw_timer *)(const void *)((const char *)list->timers +
						i * list->timers->size);
}

/* request_at returns the i-th request, as the caller passed it. */
static struct request request_at(const struct bulk_list *list, size_t i)
{
	struct request request = {.kind = list->kind};

	if (list->kind == REQUEST_PUT)
		request.timer = timer_at(list, i);
	else
		request.id = list->ids[i];
	return request;
}

static const char *id_of(const struct request *request)
{
	return request->timer ? request->timer->id : request->id;
}

/* id_room returns how much memory the request's id needs. A put without an id needs memory for the
 * id that the handle makes. */
static size_t id_room(const struct request *request)
{
	const char *id = id_of(request);

	if (!id)
		return request->timer ? DW_ID_SIZE : 1;
	return strnlen(id, DW_ID_MAX) + 1;
}

/* ---- Making --------------------------------------------------------------------------------- */

/* measure returns the size of the bulk's block. If the arguments of a request are invalid, only its
 * id is copied. */
static size_t measure(const dw *d, const struct bulk_list *list, bool copied)
{
	size_t size = aligned(sizeof(struct bulk)) + aligned(list->count * sizeof(dw_result)) +
		      aligned(list->count * sizeof(struct bulk_slot));
	char message[DW_MESSAGE_SIZE];

	for (size_t i = 0; i < list->count; i++) {
		struct request request = request_at(list, i);

		size += aligned(id_room(&request));
		if (copied && request_check(&request, d->options.data_max_bytes, message) == DW_OK)
			size += aligned(request_size(&request) + id_room(&request));
	}
	return size;
}

/* fill writes the result and the copy of each item into the block, one item behind the other. It
 * checks what is copied, and puts without an id. All others are checked when they are done. */
static void fill(dw *d, struct bulk *bulk, const struct bulk_list *list, unsigned char *at,
		 bool copied)
{
	char message[DW_MESSAGE_SIZE];

	for (size_t i = 0; i < list->count; i++) {
		struct request request = request_at(list, i);
		size_t room = id_room(&request);
		const char *id = id_of(&request);

		bulk->slots[i] = (struct bulk_slot){bulk, i};
		bulk->results[i] = (dw_result){.size = sizeof(dw_result), .id = (char *)at};
		if (copied || !id)
			bulk->results[i].status =
			    request_check(&request, d->options.data_max_bytes, message);
		if (id)
			memcpy(at, id, room - 1);
		else if (request.timer && bulk->results[i].status == DW_OK)
			(void)handle_make_id(d, (char *)at);
		at += aligned(room);
	}
	if (!copied)
		return;
	bulk->copies = at;
	for (size_t i = 0; i < list->count; i++) {
		struct request request = request_at(list, i);

		if (bulk->results[i].status != DW_OK)
			continue;
		request_copy(&request, at);
		at += aligned(request_size(&request) + id_room(&request));
	}
}

static struct bulk *make(dw *d, const struct bulk_list *list, bool copied)
{
	size_t size = measure(d, list, copied);
	unsigned char *at = alloc_new(&d->alloc, size);
	struct bulk *bulk = (struct bulk *)(void *)at;

	if (!bulk)
		return NULL;
	*bulk = (struct bulk){.alloc = d->alloc,
			      .d = d,
			      .kind = list->kind,
			      .count = list->count,
			      .left = list->count,
			      .posted = copied ? size : 0};
	at += aligned(sizeof *bulk);
	bulk->results = (dw_result *)(void *)at;
	at += aligned(list->count * sizeof *bulk->results);
	bulk->slots = (struct bulk_slot *)(void *)at;
	fill(d, bulk, list, at + aligned(list->count * sizeof *bulk->slots), copied);
	return bulk;
}

/* ---- Answering ------------------------------------------------------------------------------ */

static void free_at_end(struct bulk **bulk)
{
	struct alloc alloc = (*bulk)->alloc;

	alloc_free(&alloc, *bulk);
}

static void tell_bulk(dw *d, void *user)
{
	struct bulk *bulk AT_END(free_at_end) = user;

	posts_give_back(d->posts, bulk->posted); /* first: a call of fn may need these bytes */
	bulk->fn(d, bulk->results, bulk->count, bulk->user);
}

static void bulk_answered(dw *d, const dw_result *result, void *user)
{
	const struct bulk_slot *slot = user;
	struct bulk *bulk = slot->bulk;
	const char *id = bulk->results[slot->index].id;

	bulk->results[slot->index] = *result;
	bulk->results[slot->index].id = id;
	if (--bulk->left == 0)
		tell_bulk(d, bulk);
}

/* ---- Asking --------------------------------------------------------------------------------- */

/* begin_one does the call of item i. A put without an id gets the id in its result. */
static void begin_one(struct bulk *bulk, struct request request, size_t i)
{
	dw_result *result = &bulk->results[i];
	dw_timer timer;

	if (request.timer && !request.timer->id) {
		timer = *request.timer;
		timer.size = sizeof timer; /* fill() has checked what is behind it */
		timer.id = result->id;
		request.timer = &timer;
	}
	request.done = (struct done){bulk_answered, &bulk->slots[i]};
	if (result->status == DW_OK) /* a stopped store answers nothing any more */
		result->status =
		    bulk->d->stopped ? DW_ECLOSED : request_do(&request, bulk->d->engine);
	if (result->status != DW_OK)
		bulk->left--;
}

static void begin_copied(dw *d, void *user)
{
	struct bulk *bulk = user;
	const unsigned char *at = bulk->copies;

	for (size_t i = 0; i < bulk->count; i++) {
		struct request request = {0};

		if (bulk->results[i].status == DW_OK) {
			request = *(const struct request *)(const void *)at;
			at += aligned(request_size(&request) + id_room(&request));
		}
		begin_one(bulk, request, i);
	}
	if (bulk->left == 0)
		tell_bulk(d, bulk);
}

/* post lets a later turn call fn with the bulk. */
static int post(dw *d, struct bulk *bulk, dw_post_fn fn)
{
	struct request run = {.kind = REQUEST_RUN, .fn = fn, .arg = bulk, .arg_size = bulk->posted};
	int status = posts_send(d->posts, &run);

	if (status != DW_OK)
		free_at_end(&bulk);
	return status;
}

/* sizes_are_wrong returns true if the timers are not an array of one version of dw_timer. */
static bool sizes_are_wrong(const struct bulk_list *list)
{
	size_t size = list->timers->size;

	if (grown_size_is_wrong(size, sizeof(dw_timer)))
		return true;
	for (size_t i = 1; i < list->count; i++)
		if (timer_at(list, i)->size != size)
			return true;
	return false;
}

static int check(const dw *d, const struct bulk_list *list, dw_bulk_fn fn)
{
	const char *fault = NULL;

	if (!fn)
		fault = "the callback is NULL";
	else if (list->count == 0 || list->count > DW_BULK_MAX)
		fault = "the count is 0, or over DW_BULK_MAX";
	else if (list->kind == REQUEST_PUT ? !list->timers : !list->ids)
		fault = "the array is NULL";
	else if (list->timers && sizes_are_wrong(list))
		fault = "the size of each timer is sizeof(dw_timer)";
	return fault ? handle_refuse(d, DW_EINVAL, fault) : DW_OK;
}

int bulk_ask(dw *d, const struct bulk_list *list, dw_bulk_fn fn, void *user)
{
	int status = handle_admit(d);
	bool elsewhere = status == DW_ETHREAD;
	struct bulk *bulk;

	if (status == DW_OK || elsewhere)
		status = check(d, list, fn);
	if (status != DW_OK)
		return status;
	bulk = make(d, list, elsewhere);
	if (!bulk)
		return handle_refuse(d, DW_ENOMEM, NO_MEMORY);
	bulk->fn = fn;
	bulk->user = user;
	if (elsewhere)
		return post(d, bulk, begin_copied);
	for (size_t i = 0; i < list->count; i++)
		begin_one(bulk, request_at(list, i), i);
	/* A callback never comes before its call returns. If nothing was begun, no answer comes. */
	status = bulk->left == 0 ? post(d, bulk, tell_bulk) : DW_OK;
	if (status != DW_OK)
		return handle_refuse(d, status, status == DW_ELIMIT ? CALLS_FULL : NO_MEMORY);
	return DW_OK;
}
