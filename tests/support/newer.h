/* Timers as a later durawheel may store them, with a body of version 2, and stored timers that no
 * call of this library makes. */
#ifndef DW_TESTS_NEWER_H
#define DW_TESTS_NEWER_H

#include <stddef.h>

#include "durawheel/store.h"

enum { NEWER_BODY_MAX = 1024 };

/* newer_seal gives a body the size and the checksum that it must have. */
void newer_seal(unsigned char *body, size_t size);

/* newer_body writes a body of version 2 (NEWER_BODY_MAX bytes are enough); its size. */
size_t newer_body(const char *id, const char *topic, unsigned char *ret_body);

#if DW_WITH_REDIS
/* newer_value writes that body as a value of the Redis store, under this header (NEWER_VALUE_MAX
 * bytes are enough); its size. */
enum { NEWER_VALUE_MAX = 42 + NEWER_BODY_MAX };
size_t newer_value(const dw_head *, const char *id, const char *topic, unsigned char *ret_value);
#endif

/* body_of_topic writes a body of version 1 whose topic has topic_size times the letter t. */
size_t body_of_topic(const char *id, size_t topic_size, unsigned char *ret_body);

#if DW_WITH_SQLITE
/* plant stores a body as a timer of the SQLite file at path, with the right seal, as a client would
 * do it. The head's generation must be a new one. plant_dead makes a dead letter of it. */
void plant(const char *path, const dw_head *head, const void *body, size_t size);
void plant_dead(const char *path, const dw_head *head, const void *body, size_t size);

/* plant_take_away deletes the timer again, as its own durawheel would do it. */
void plant_take_away(const char *path, const char *id);

/* plant_body reads the body that is stored under an id; its size, 0: none. */
size_t plant_body(const char *path, const char *id, unsigned char *ret_body);
#endif

#endif
