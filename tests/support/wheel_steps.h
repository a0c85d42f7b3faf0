/* wheel_steps.h: the steps that tests of the wheel share. Each step checks its result. */
#ifndef SUPPORT_WHEEL_STEPS_H
#define SUPPORT_WHEEL_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <durawheel/wheel.h>

#include <stdlib.h>

#define NOW INT64_C(1763670000000000)
#define SECOND INT64_C(1000000)
#define DAY (86400 * SECOND)

/* An allocator that counts its blocks, and fails from the `left`-th request on. */
struct memory {
	size_t left;
	size_t blocks;
	size_t bytes;
};

/* This stands before each block and holds its size. */
union memory_head {
	size_t size;
	max_align_t align;
};

static inline void *memory_resize(void *user, void *block, size_t size)
{
	struct memory *memory = user;
	union memory_head *head = block ? (union memory_head *)block - 1 : NULL;

	if (size && !memory->left)
		return NULL;
	memory->bytes -= head ? head->size : 0;
	memory->blocks -= head != NULL;
	if (!size) {
		free(head);
		return NULL;
	}
	memory->left--;
	memory->bytes += size;
	memory->blocks++;
	head = realloc(head, sizeof(*head) + size);
	assert_non_null(head);
	head->size = size;
	return head + 1;
}

static inline dw_wheel *wheel_at(int64_t now)
{
	dw_wheel *wheel = NULL;

	assert_int_equal(dw_wheel_new(&wheel, now, NULL), DW_OK);
	assert_non_null(wheel);
	return wheel;
}

static inline dw_wheel_handle add(dw_wheel *wheel, int64_t deadline)
{
	dw_wheel_handle handle = 0;

	assert_int_equal(dw_wheel_add(wheel, deadline, &handle), DW_OK);
	assert_true(handle >> 32 != 0);
	return handle;
}

/* expect checks that exactly this timer comes out next. */
static inline void expect(dw_wheel *wheel, int64_t now, dw_wheel_handle handle)
{
	dw_wheel_due due = {0, 0};

	assert_int_equal(dw_wheel_advance(wheel, now, &due, 1), 1);
	assert_true(due.handle == handle);
}

static inline void expect_none(dw_wheel *wheel, int64_t now)
{
	dw_wheel_due due[4];

	assert_int_equal(dw_wheel_advance(wheel, now, due, 4), 0);
}

#endif
