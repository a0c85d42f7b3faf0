#include "cli/doctor/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/out/errors.h"
#include "cli/out/line.h"
#include "cli/out/text.h"

enum { FOUND_SIZE = 1024 };

static const char *const levels[] = {
    [FINDING_OK] = "ok", [FINDING_ADVICE] = "advice", [FINDING_SICK] = "sick"};

/* note adds the finding to the list for --json. If out of memory, the list lacks the finding, but
 * the counts include it. */
static void note(struct findings *findings, const struct finding *finding, const char *found)
{
	json_t *object = json_pack("{s:s, s:s, s:o}", "level", levels[finding->level], "about",
				   finding->about, "found", line_name(found));

	if (object && *finding->change)
		(void)json_object_set_new(object, "change", line_name(finding->change));
	if (!findings->list)
		findings->list = json_array();
	(void)json_array_append_new(findings->list, object);
}

void find(struct findings *findings, struct finding finding, const char *format, ...)
{
	char found[FOUND_SIZE];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(found, sizeof found, format, arguments); /* cut if long */
	va_end(arguments);
	mask_passwords(found);
	findings->counts[finding.level]++;
	if (findings->json) {
		note(findings, &finding, found);
		return;
	}
	(void)printf("%-7s %-8s ", levels[finding.level], finding.about);
	text_print(stdout, found, strlen(found), 0);
	(void)putchar('\n'); /* session_flush() reports a failed write */
	if (*finding.change) {
		(void)printf("%-7s %-8s ", "", "change:");
		text_print(stdout, finding.change, strlen(finding.change), 0);
		(void)putchar('\n');
	}
}

static void print_json(struct findings *findings)
{
	struct line line = {0};
	json_t *object =
	    json_pack("{s:b, s:I, s:I, s:O}", "healthy", findings->counts[FINDING_SICK] == 0,
		      "sick", (json_int_t)findings->counts[FINDING_SICK], "advice",
		      (json_int_t)findings->counts[FINDING_ADVICE], "findings", findings->list);

	if (line_of(&line, object))
		(void)fwrite(line.bytes, 1, line.size, stdout); /* session_flush() checks this */
	else
		(void)complain(EXIT_FAILED, "out of memory");
	line_free(&line);
}

int findings_end(struct findings *findings)
{
	const size_t *counts = findings->counts;

	if (findings->json)
		print_json(findings);
	else if (counts[FINDING_SICK] + counts[FINDING_ADVICE] == 0)
		(void)printf("healthy: %zu findings, all well\n", counts[FINDING_OK]);
	else
		(void)printf("%s: %zu sick, %zu to improve, %zu well\n",
			     counts[FINDING_SICK] > 0 ? "sick" : "healthy", counts[FINDING_SICK],
			     counts[FINDING_ADVICE], counts[FINDING_OK]);
	json_decref(findings->list);
	findings->list = NULL;
	return counts[FINDING_SICK] > 0 ? EXIT_FAILED : EXIT_DONE;
}
