/* An allocator for options.resize that fails on demand. Any thread may use it. */
#ifndef DW_TESTS_SHORTAGE_H
#define DW_TESTS_SHORTAGE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct shortage {
	pthread_mutex_t mutex;
	size_t calls;   /* calls so far */
	size_t fail_at; /* the call that fails; 0: none */
	bool always;    /* all later calls fail too */
	bool failed;    /* a call has failed */
	size_t blocks;  /* blocks not freed yet */
};

#define SHORTAGE_NONE                                                                              \
	{                                                                                          \
		.mutex = PTHREAD_MUTEX_INITIALIZER                                                 \
	}

/* shortage_resize: user is a struct shortage. */
void *shortage_resize(void *user, void *block, size_t size);

/* shortage_begin: the nth call from now fails. shortage_end: no call fails any more. */
void shortage_begin(struct shortage *, size_t nth, bool always);
void shortage_end(struct shortage *);
bool shortage_failed(struct shortage *);

/* shortage_step: the step of a sweep over all allocations: 1, or more if DW_TEST_SCALE is below
 * 100. */
size_t shortage_step(void);

#endif
