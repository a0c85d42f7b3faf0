/* An allocator for options.resize that fails on demand. Any thread may use it. */
#ifndef DW_TESTS_SHORTAGE_H
#define DW_TESTS_SHORTAGE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct shortage {
	pthread_mutex_t mutex;
	size_t calls;   /* the number of calls so far */
	size_t fail_at; /* the number of the call that fails; 0: none */
	bool always;    /* all later calls fail too */
	bool failed;    /* a call has failed */
	size_t blocks;  /* the number of blocks that are not freed yet */
};

#define SHORTAGE_NONE                                                                              \
	{                                                                                          \
		.mutex = PTHREAD_MUTEX_INITIALIZER                                                 \
	}

/* shortage_resize is for options.resize. user is a struct shortage. */
void *shortage_resize(void *user, void *block, size_t size);

/* shortage_begin makes the nth call from now fail. shortage_end makes no call fail any more. */
void shortage_begin(struct shortage *, size_t nth, bool always);
void shortage_end(struct shortage *);
bool shortage_failed(struct shortage *);

/* shortage_step returns the step of a sweep over all allocations. It is 1, or more if DW_TEST_SCALE
 * is below 100. */
size_t shortage_step(void);

#endif
