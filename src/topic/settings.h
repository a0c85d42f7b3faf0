/* The settings and numbers of a topic as text: "queue=1 max=5000 hide=30000000". A reader leaves
 * out words that it does not know, so a newer durawheel may add some. Redis' scripts read the same
 * text. */
#ifndef DW_TOPIC_SETTINGS_H
#define DW_TOPIC_SETTINGS_H

#include <stdbool.h>

#include "durawheel/topic.h"
#include "base/rng.h"
#include "durawheel/store.h"

#define SETTINGS_TEXT_SIZE 1024 /* size of a buffer for any text of this file */

/* settings_check checks the values of all settings. It returns DW_OK or DW_EINVAL. With DW_EINVAL
 * message (DW_MESSAGE_SIZE bytes) says what is wrong. settings_check_form only checks that the
 * struct is one that this version knows. */
int settings_check(const dw_topic_settings *, char *message);
int settings_check_form(const dw_topic_settings *, char *message);

/* settings_write writes the settings that differ from the defaults. numbers_write writes the
 * numbers of timers that are not 0. Both return the size of the text. */
size_t settings_write(const dw_topic_settings *, char ret_text[SETTINGS_TEXT_SIZE]);
size_t numbers_write(const dw_topic_info *, char ret_text[SETTINGS_TEXT_SIZE]);

/* settings_write_changes writes the settings that differ between the two, even if a value in `to`
 * is the default. */
size_t settings_write_changes(const dw_topic_settings *from, const dw_topic_settings *to,
			      char ret_text[SETTINGS_TEXT_SIZE]);

/* settings_read sets the fields that the text names. Other fields stay, and so do fields whose
 * words are not NAME=NUMBER. info_read also reads the numbers. */
void settings_read(dw_topic_settings *, const char *text, size_t size);
void info_read(dw_topic_info *, const char *text, size_t size);

/* numbers_add adds the numbers of timers in the text of one more owner. */
void numbers_add(dw_topic_info *, const char *text, size_t size);

/* settings_version returns the version in a stored text. It returns 0 if the text has no version,
 * or is damaged, which means that one of its words is not NAME=NUMBER. version_of() in
 * lua/common/settings.lua does the same. */
uint64_t settings_version(const char *text, size_t size);

/* settings_check_text returns DW_OK, or DW_EINVAL if this stored text is damaged. Then message
 * (DW_MESSAGE_SIZE bytes) says how. */
int settings_check_text(const char *text, size_t size, char *message);

/* These functions return the value of a setting, or its default if it is 0. */
uint32_t settings_retries_max(const dw_topic_settings *);
uint32_t settings_queue_max(const dw_topic_settings *);
dw_usec settings_hide(const dw_topic_settings *);

/* settings_retry_delay returns the delay before the next retry, after `retries` retries. */
dw_usec settings_retry_delay(const dw_topic_settings *, uint32_t retries, struct rng *);

/* settings_retry_first returns the delay before the first retry, without jitter. */
dw_usec settings_retry_first(const dw_topic_settings *);

/* settings_retry_delay_max returns an upper limit: no delay of this retry policy is longer. */
dw_usec settings_retry_delay_max(const dw_topic_settings *);

#endif
