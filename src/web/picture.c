#include "web/picture.h"

#include <string.h>

/* The heights of bars in thousandths of the picture. Even a small number has a visible bar. */
enum { FULL = 1000, LEAST = 25 };

static json_int_t most_of(const struct picture *picture)
{
	json_int_t most = 0;

	for (size_t i = 0; i < picture->count; i++)
		most = picture->values[i] > most ? picture->values[i] : most;
	return most;
}

static size_t unknown_of(const struct picture *picture)
{
	size_t count = 0;

	for (size_t i = 0; i < picture->count; i++)
		count += picture->values[i] == PICTURE_UNKNOWN;
	return count;
}

/* height_of returns the height of a bar. The largest number has the height FULL. */
static int height_of(json_int_t value, json_int_t most)
{
	int height = most > 0 ? (int)((double)value * FULL / (double)most + 0.5) : 0;

	return value > 0 && height < LEAST ? LEAST : height;
}

/* put_bar writes a bar, which shows its number when the mouse points at it. */
static void put_bar(struct html *html, const struct picture *picture, size_t i, json_int_t most)
{
	int height = height_of(picture->values[i], most);

	if (height == 0)
		return;
	html_format(html, "<rect x=%zu y=%d height=%d><title>", i, FULL - height, height);
	picture->label(html, picture, i);
	html_put(html, ": ");
	html_count(html, (uint64_t)picture->values[i]);
	html_put(html, "</title></rect>");
}

/* put_gap writes a band in place of the unknown bars from i on. Returns the index after these
 * bars. */
static size_t put_gap(struct html *html, const struct picture *picture, size_t i)
{
	size_t end = i;

	while (end < picture->count && picture->values[end] == PICTURE_UNKNOWN)
		end++;
	html_format(html, "<path class=\"gap\" d=\"M%zu 0H%zuV%dH%zu\">", i, end, FULL, i);
	html_put(html, "<title>not known</title></path>");
	return end;
}

static void put_bars(struct html *html, const struct picture *picture, json_int_t most)
{
	size_t i = 0;

	while (i < picture->count) {
		if (picture->values[i] == PICTURE_UNKNOWN) {
			i = put_gap(html, picture, i);
			continue;
		}
		put_bar(html, picture, i, most);
		i++;
	}
}

/* put_description says in words what the bars show, because a screen reader sees no bars. */
static void put_description(struct html *html, const struct picture *picture, json_int_t most)
{
	size_t unknown = unknown_of(picture), at = 0;

	if (most == 0) {
		html_put(html, picture->none);
	} else {
		while (picture->values[at] != most)
			at++;
		html_put(html, "At most ");
		html_count(html, (uint64_t)most);
		html_put(html, ": ");
		picture->label(html, picture, at);
	}
	if (unknown > 0)
		html_format(html, ". Not known: %zu of %zu", unknown, picture->count);
	html_put(html, ". All numbers are in the table below.");
}

static void put_svg(struct html *html, const struct picture *picture, json_int_t most)
{
	const char *key = picture->key;

	html_format(html, "<svg role=\"img\" aria-labelledby=\"%s_t %s_d\" ", key, key);
	html_format(html, "viewBox=\"-.1 0 %zu %d\" preserveAspectRatio=\"none\" ", picture->count,
		    FULL);
	html_format(html, "class=\"%s\"><title id=\"%s_t\">", picture->kind, key);
	html_put(html, picture->title);
	html_format(html, "</title><desc id=\"%s_d\">", key);
	put_description(html, picture, most);
	html_put(html, "</desc>");
	html_format(html, "<path class=\"grid\" d=\"M-1 %dH%zuM-1 0H%zu\"/>", FULL / 2,
		    picture->count, picture->count);
	put_bars(html, picture, most);
	html_put(html, "</svg>");
}

static void put_axis(struct html *html, const struct picture *picture)
{
	html_format(html, "<div class=\"axis%s\" aria-hidden=\"true\">",
		    picture->has_times ? "" : " ends");
	for (size_t i = 0; i < picture->axis_count; i++)
		html_format(html, "<span>%s</span>", picture->axis[i]);
	html_put(html, "</div>");
}

/* put_head writes the names of the columns. Times are named with their zone. */
static void put_head(struct html *html, const struct picture *picture)
{
	html_format(html, "<thead><tr><th scope=\"col\">%s", picture->where);
	if (picture->has_times) {
		html_put(html, ", ");
		html_text(html, html->zone ? html->zone_argument : "UTC");
	}
	html_format(html, "<th scope=\"col\">%s<tbody>", picture->what);
}

/* put_table leaves out end tags and quotes that HTML does not need, because the page is sent
 * often. */
static void put_table(struct html *html, const struct picture *picture)
{
	html_put(html, "<details><summary>Numbers</summary><div class=\"rows\" tabindex=\"0\" ");
	html_format(html, "role=\"region\" aria-label=\"%s, as numbers\">", picture->title);
	html_format(html, "<table><caption class=\"hid\">%s</caption>", picture->title);
	put_head(html, picture);
	for (size_t i = 0; i < picture->count; i++) {
		html_put(html, "<tr><th scope=row>");
		picture->label(html, picture, i);
		html_put(html, "<td>");
		if (picture->values[i] == PICTURE_UNKNOWN)
			html_put(html, "not known");
		else
			html_count(html, (uint64_t)picture->values[i]);
	}
	html_put(html, "</table></div></details>");
}

void picture_begin(struct html *html, const struct picture *picture)
{
	html_format(html, "<figure data-picture=\"%s\"><figcaption><h3>%s</h3>\n", picture->key,
		    picture->title);
}

void picture_end(struct html *html, const struct picture *picture)
{
	json_int_t most = most_of(picture);

	html_put(html, "</figcaption>\n<div class=\"peak\" aria-hidden=\"true\">");
	if (most > 0)
		html_count(html, (uint64_t)most);
	else
		html_put(html, picture->none);
	html_put(html, "</div>");
	put_svg(html, picture, most);
	put_axis(html, picture);
	put_table(html, picture);
	html_put(html, "</figure>\n");
}
