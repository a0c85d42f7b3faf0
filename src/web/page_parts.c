/* The parts that all views of the page share. */
#include <string.h>

#include "web/page.h"
#include "durawheel/error.h"

static const char *const paths[PAGE_VIEWS] = {
    [PAGE_NOW] = "/",      [PAGE_TOPICS] = "/topics",       [PAGE_TIMERS] = "/timers",
    [PAGE_DEAD] = "/dead", [PAGE_SCHEDULES] = "/schedules",
};

const char *page_path(enum page_view view)
{
	return paths[view];
}

json_int_t page_integer(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

const char *page_string(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

void page_refused(struct html *html, const struct web_page *page)
{
	html_put(html, "<p class=\"none\">The store did not answer: ");
	html_text(html, dw_strerror(page->part_status));
	html_put(html, "</p>\n");
}

size_t page_foot_size(void)
{
	return strlen(asset_page_js) + 4096; /* a link may contain three names of 255 bytes */
}
