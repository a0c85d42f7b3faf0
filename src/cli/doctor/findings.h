/* What `durawheel doctor` has found: each finding is well, a piece of advice, or sick. */
#ifndef DW_CLI_FINDINGS_H
#define DW_CLI_FINDINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum finding_level { FINDING_OK, FINDING_ADVICE, FINDING_SICK };

struct finding {
	enum finding_level level;
	const char *about;  /* one word */
	const char *change; /* the command or the line that would mend it; "": it is well */
};

struct findings {
	bool json;
	json_t *list; /* with --json */
	size_t counts[FINDING_SICK + 1];
};

/* find notes a finding, and prints it unless there is --json. */
void find(struct findings *, struct finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* findings_end prints the sum, or the line of --json. Returns EXIT_DONE, or EXIT_FAILED if
 * something is sick. */
int findings_end(struct findings *);

#endif
