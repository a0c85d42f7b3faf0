/* Text of HTML that grows. Whatever was not written by us goes through html_text(), which escapes
 * it, also inside quoted attributes. */
#ifndef DW_WEB_HTML_H
#define DW_WEB_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "durawheel/durawheel.h"

struct html {
	char *bytes; /* NUL-terminated, or NULL */
	size_t size, room;
	bool failed; /* no memory: the text is not whole */
};

/* html_put adds our own text, html_text anybody's; html_url escapes it as a part of a URL.
 * html_name is html_text for a name between tags: what is not seen, or turns the direction of text,
 * is shown as \u202e or \U000e0041, so that no name looks like another one. Bytes that are invalid
 * UTF-8 become \xff there, and U+FFFD in html_text(). */
void html_put(struct html *, const char *);
void html_text(struct html *, const char *);
void html_name(struct html *, const char *);
void html_url(struct html *, const char *);

/* html_count adds 1,204,331; html_span a duration, in whole seconds from 10 s on, "-" for 0;
 * html_clock a time in UTC, html_time also how far it is from now. */
void html_count(struct html *, uint64_t);
void html_span(struct html *, dw_usec);
void html_clock(struct html *, dw_usec time);
void html_time(struct html *, dw_usec time, dw_usec now);

/* html_cut takes back what came after the first `size` bytes. */
void html_cut(struct html *, size_t size);

/* html_format adds numbers and our own text: at most 127 bytes. */
void html_format(struct html *, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
