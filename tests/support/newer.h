/* Timers as a later durawheel may store them, with a body of the next version. Also stored timers
 * that no call of this library makes. */
#ifndef DW_TESTS_NEWER_H
#define DW_TESTS_NEWER_H

#include <stddef.h>

#include "durawheel/store.h"

enum { NEWER_BODY_MAX = 1024 };

/* newer_seal sets the size and the checksum of a body. */
void newer_seal(unsigned char *body, size_t size);

/* newer_body writes a body of the next version of at most NEWER_BODY_MAX bytes. Returns its size.
 * */
size_t newer_body(const char *id, const char *topic, unsigned char *ret_body);

#if DW_WITH_REDIS
/* newer_value writes newer_body() with this header as a value of the Redis store. The value has at
 * most NEWER_VALUE_MAX bytes. Returns its size. */
enum { NEWER_VALUE_MAX = 42 + NEWER_BODY_MAX };
size_t newer_value(const dw_head *, const char *id, const char *topic, unsigned char *ret_value);
#endif

/* body_of_topic writes a body of version 1. Its topic is the letter t, topic_size times. */
size_t body_of_topic(const char *id, size_t topic_size, unsigned char *ret_body);

#if DW_WITH_SQLITE
/* plant stores a body as a timer in the SQLite file at path, with a correct seal, as a client
 * would. The head's generation must be a new one. plant_dead stores it as a dead letter. */
void plant(const char *path, const dw_head *head, const void *body, size_t size);
void plant_dead(const char *path, const dw_head *head, const void *body, size_t size);

/* plant_take_away deletes the timer again, as the later durawheel would. */
void plant_take_away(const char *path, const char *id);

/* plant_body reads the stored body of an id. Returns its size, or 0 if there is none. */
size_t plant_body(const char *path, const char *id, unsigned char *ret_body);
#endif

#endif
