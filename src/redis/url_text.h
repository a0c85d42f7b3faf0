/* The parts of a Redis URL, while it is read. No message repeats a part of the URL, because any
 * part may belong to a password that was not escaped. */
#ifndef DW_REDIS_URL_TEXT_H
#define DW_REDIS_URL_TEXT_H

#include <stddef.h>

#include "redis/url.h"

struct url_reading {
	struct redis_url *url;
	const struct alloc *alloc;
	char *message;
	char *file; /* the name of the password-file; NULL if the URL names none */
	/* The name of the sentinel-password-file; NULL if the URL names none. */
	char *sentinel_file;
	bool db_said;
	bool replicas_said;
};

/* url_copy copies a part of the text. url_escaped also replaces each escape like %41 by its
 * character. Both return DW_OK, DW_ENOMEM, or DW_EINVAL with a message. */
int url_copy(struct url_reading *, const char *text, size_t size, char **ret_copy);
int url_escaped(struct url_reading *, const char *text, size_t size, char **ret_copy);

/* url_number reads decimal digits. Returns false if there are other characters, or if the number is
 * above `max`. */
bool url_number(const char *text, size_t size, unsigned max, unsigned *ret_number);

/* url_is_host returns true if all characters of the text are letters, digits or characters of
 * `more`. */
bool url_is_host(const char *text, size_t size, const char *more);

/* url_wipe overwrites the text before it frees it. NULL is allowed. */
void url_wipe(const struct alloc *, char *text);

/* url_db reads the number of the database, which may appear only once. */
int url_db(struct url_reading *, const char *text, size_t size);

/* url_options reads what follows the `?`. */
int url_options(struct url_reading *, const char *text);

/* url_passwords finds the passwords that are not in the URL itself. */
int url_passwords(struct url_reading *);

/* url_form writes how a URL of this kind looks, for messages. url_refuse_list refuses a list of
 * hosts in a URL that takes one host. */
enum { URL_FORM_SIZE = 64 };
const char *url_form(const struct redis_url *, char ret_form[URL_FORM_SIZE]);
int url_refuse_list(const struct url_reading *);

/* url_refuse_option says which options a URL of this kind may have, or which option was probably
 * meant. */
int url_refuse_option(const struct url_reading *, const char *text, size_t size);

/* url_host reads HOST[:PORT], url_hosts a list of them with commas. */
int url_host(struct url_reading *, const char *text, size_t size, struct redis_host *ret_host,
	     const char *port);
int url_hosts(struct url_reading *, const char *text, size_t size, const char *port);

#endif
