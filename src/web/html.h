/* Builds a text of HTML. Text that we have not written ourselves must go through html_text(), which
 * escapes it. This is also safe inside quoted attributes. */
#ifndef DW_WEB_HTML_H
#define DW_WEB_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/out/local_time.h"
#include "durawheel/durawheel.h"

struct html {
	const struct local_zone *zone; /* the zone of times; NULL: UTC */
	const char *zone_argument;     /* the argument of a URL that asks for this zone, or "" */
	char *bytes;                   /* ends with a NUL; or NULL */
	size_t size, room;
	bool failed; /* out of memory, so the text is incomplete */
};

/* html_put adds our own text, without escaping. html_text escapes any text. html_url escapes a text
 * as a part of a URL. html_name escapes a name between tags. It also shows invisible characters as
 * \u202e or \U000e0041, so that two names never look alike. An invalid byte becomes \xff in
 * html_name() and U+FFFD in html_text(). */
void html_put(struct html *, const char *);
void html_text(struct html *, const char *);
void html_name(struct html *, const char *);
void html_url(struct html *, const char *);

/* html_count adds a number like 1,204,331. html_span adds a duration; from 10 s on it is in whole
 * seconds, and 0 is "-". html_clock adds a time in its zone. html_time adds the time and its
 * distance from now. html_zone adds the argument of a URL that asks for the same zone, if one was
 * asked for; `before` is '?' or "&amp;". */
void html_count(struct html *, uint64_t);
void html_span(struct html *, dw_usec);
void html_clock(struct html *, dw_usec time);
void html_time(struct html *, dw_usec time, dw_usec now);
void html_zone(struct html *, const char *before);

/* html_cut removes everything after the first `size` bytes. */
void html_cut(struct html *, size_t size);

/* html_format adds our own text with numbers. It adds at most 127 bytes. */
void html_format(struct html *, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
