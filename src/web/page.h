/* Builds the page: five views in HTML. They can be read without JavaScript. With JavaScript the
 * browser fetches the page every 2 s. */
#ifndef DW_WEB_PAGE_H
#define DW_WEB_PAGE_H

#include <jansson.h>

#include "web/html.h"
#include "cli/out/history.h"
#include "cli/out/rates.h"

enum page_view { PAGE_NOW, PAGE_TOPICS, PAGE_TIMERS, PAGE_DEAD, PAGE_SCHEDULES, PAGE_VIEWS };

/* The largest size of a page in bytes. A longer list continues on the next page. */
#define PAGE_SIZE_MAX (60 * 1024)

/* The contents of a page. */
struct web_page {
	enum page_view view;
	const char *name; /* the name of the namespace, or of the file */
	dw_usec now;
	int status;          /* the status of the store's answer */
	const char *away;    /* why the store fails to read or to write; "" if it works */
	const json_t *store; /* the object of `stats --json`; NULL if the store has not answered */
	dw_usec old_since;   /* if the store is away: the time of these numbers; else 0 */
	const struct rates *rates;
	const struct history *history;
	int part_status;
	const json_t *part; /* the topics, a list or a timer; NULL if it failed with part_status */
	const json_t *coming;              /* the object of coming_object(), or NULL */
	bool stands_by;                    /* this process is a standby */
	const char *id;                    /* the id of a timer that was looked up, or "" */
	const char *topic;                 /* the topic of a list, or "" */
	const char *prefix;                /* the beginning of the ids in a list, or "" */
	const char *due_from, *due_before; /* the bounds of a list, as they were written, or "" */
	dw_cursor after;                   /* the position where the list begins */
	size_t skip;                       /* the number of rows after that position to leave out */
	const struct local_zone *zone;     /* the zone of times; NULL: UTC */
	const char *zone_argument;         /* the zone as the user has written it, or "" */
};

/* page_path returns the path of a view, like "/" or "/topics". */
const char *page_path(enum page_view);

/* page_write returns the page, which the caller frees. Returns NULL if out of memory. */
char *page_write(const struct web_page *);

/* These functions write the views. The views have their own files. */
void page_show_now(struct html *, const struct web_page *);
/* page_show_pictures writes what comes due, the times of handlers, and the last hour. */
void page_show_pictures(struct html *, const struct web_page *);
void page_show_topics(struct html *, const struct web_page *);
void page_show_timers(struct html *, const struct web_page *);
void page_show_dead(struct html *, const struct web_page *);
void page_show_schedules(struct html *, const struct web_page *);

/* page_rows writes rows until the page is full, then `end`, then a link to the following rows. */
typedef void page_row_fn(struct html *, const json_t *row, dw_usec now);
#define PAGE_TABLE_END "</tbody></table></div>\n"
void page_rows(struct html *, const struct web_page *, const json_t *rows, page_row_fn *,
	       const char *end);

/* page_integer and page_string return a member of an object. If it is missing, they return 0 and
 * "". */
json_int_t page_integer(const json_t *object, const char *key);
const char *page_string(const json_t *object, const char *key);

/* page_foot_size returns the largest size of the text that follows a view. */
size_t page_foot_size(void);

/* page_input writes a field of a form with its label. page_hidden writes a field that the user does
 * not see, unless its value is "". */
void page_input(struct html *, const char *name, const char *label, const char *value);
void page_hidden(struct html *, const char *name, const char *value);

/* page_refused writes why the store has no answer for this part. */
void page_refused(struct html *, const struct web_page *);

/* The style, the script and the icon, and their hashes for the header Content-Security-Policy. */
extern const char asset_page_css[], asset_page_css_hash[];
extern const char asset_page_js[], asset_page_js_hash[];
extern const char asset_icon_svg[], asset_icon_svg_hash[];

#endif
