/* An allocator for options.resize that fails on demand. Any thread may use it. */
#ifndef DW_TESTS_SHORTAGE_H
#define DW_TESTS_SHORTAGE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct shortage {
	pthread_mutex_t mutex;
	size_t calls;   /* so far */
	size_t fail_at; /* this call fails; 0: none */
	bool always;    /* and all behind it */
	bool failed;    /* one did */
	size_t blocks;  /* allocated and not freed */
};

#define SHORTAGE_NONE                                                                              \
	{                                                                                          \
		.mutex = PTHREAD_MUTEX_INITIALIZER                                                 \
	}

/* user is a struct shortage. */
void *shortage_resize(void *user, void *block, size_t size);

/* shortage_begin: the nth call from now fails. shortage_end: there is memory again. */
void shortage_begin(struct shortage *, size_t nth, bool always);
void shortage_end(struct shortage *);
bool shortage_failed(struct shortage *);

/* shortage_step: how many allocations a sweep goes on, fewer of them where each costs more. */
size_t shortage_step(void);

#endif
