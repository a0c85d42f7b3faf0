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

void page_input(struct html *html, const char *name, const char *label, const char *value)
{
	html_format(html, "<label>%s <input name=\"%s\" type=\"search\" autocomplete=\"off\" ",
		    label, name);
	html_put(html, "spellcheck=\"false\" value=\"");
	html_text(html, value);
	html_put(html, "\"></label>\n");
}

void page_hidden(struct html *html, const char *name, const char *value)
{
	if (!*value)
		return;
	html_format(html, "<input type=\"hidden\" name=\"%s\" value=\"", name);
	html_text(html, value);
	html_put(html, "\">\n");
}

size_t page_foot_size(void)
{
	return strlen(asset_page_js) +
	       8192; /* a link and a form may each have three names of 255 bytes */
}
