/* The findings of `durawheel doctor`. A finding says that something is well, could be better, or is
 * sick. */
#ifndef DW_CLI_FINDINGS_H
#define DW_CLI_FINDINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum finding_level { FINDING_OK, FINDING_ADVICE, FINDING_SICK };

struct finding {
	enum finding_level level;
	const char *about;  /* what was examined, in one word */
	const char *change; /* what helps, often a command; "" if all is well */
};

struct findings {
	bool json;
	json_t *list; /* the findings, for --json */
	size_t counts[FINDING_SICK + 1];
};

/* find counts a finding. With --json it adds the finding to the list, otherwise it prints the
 * finding. */
void find(struct findings *, struct finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* findings_end prints the summary. With --json it prints one line with all findings. Returns
 * EXIT_DONE, or EXIT_FAILED if something is sick. */
int findings_end(struct findings *);

#endif
