/* The page: five views of HTML, made by the server, so that they can be read without JavaScript.
 * With it the page is fetched again every 2 s. */
#ifndef DW_WEB_PAGE_H
#define DW_WEB_PAGE_H

#include <jansson.h>

#include "web/html.h"
#include "cli/out/rates.h"

enum page_view { PAGE_NOW, PAGE_TOPICS, PAGE_TIMERS, PAGE_DEAD, PAGE_SCHEDULES, PAGE_VIEWS };

/* A page has at most so many bytes: longer lists go on at the next page. */
#define PAGE_SIZE_MAX (60 * 1024)

/* What a view shows. */
struct web_page {
	enum page_view view;
	const char *name; /* of the namespace, or the file */
	dw_usec now;
	int status;          /* of the store */
	const char *away;    /* why it fails, to read or to write; "": it does not */
	const json_t *store; /* as stats --json; NULL: the store did not answer */
	const struct rates *rates;
	int part_status;
	const json_t *part;   /* the topics, a list, or a timer; NULL: see part_status */
	const json_t *coming; /* how many timers come due; or NULL */
	bool stands_by;       /* this process is a standby */
	const char *id;       /* a timer that was looked for, or "" */
	const char *topic;    /* of a list, or "" */
	const char *prefix;   /* of the ids of a list, or "" */
	dw_cursor after;      /* where the list begins */
	size_t skip;          /* so many rows behind that place are left out */
};

/* page_path: "/", "/topics" ... */
const char *page_path(enum page_view);

/* page_write returns the page, to be freed. Returns NULL if out of memory. */
char *page_write(const struct web_page *);

/* The views, in files of their own. */
void page_show_now(struct html *, const struct web_page *);
void page_show_topics(struct html *, const struct web_page *);
void page_show_timers(struct html *, const struct web_page *);
void page_show_dead(struct html *, const struct web_page *);
void page_show_schedules(struct html *, const struct web_page *);

/* page_rows shows rows until the page is full, writes `end`, and links to those that follow. */
typedef void page_row_fn(struct html *, const json_t *row, dw_usec now);
#define PAGE_TABLE_END "</tbody></table></div>\n"
void page_rows(struct html *, const struct web_page *, const json_t *rows, page_row_fn *,
	       const char *end);

/* page_integer and page_string read a member of an object; 0 and "" if there is none. */
json_int_t page_integer(const json_t *object, const char *key);
const char *page_string(const json_t *object, const char *key);

/* page_foot_size: what comes behind a view has at most so many bytes. */
size_t page_foot_size(void);

/* page_refused says why the store has no answer for a part. */
void page_refused(struct html *, const struct web_page *);

/* The style, the script, the icon, and how the Content-Security-Policy names the first two. */
extern const char asset_page_css[], asset_page_css_hash[];
extern const char asset_page_js[], asset_page_js_hash[];
extern const char asset_icon_svg[], asset_icon_svg_hash[];

#endif
