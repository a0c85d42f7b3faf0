/* The part of run for --exec: its options, what a command gets, and messages about failed
 * commands. */
#ifndef DW_CLI_RUN_EXEC_H
#define DW_CLI_RUN_EXEC_H

#include "cli/run/jobs.h"
#include "cli/options.h"

/* run_exec_default: how commands run unless more is said; without a command. */
struct job_way run_exec_default(void);

/* run_exec_read reads --exec, --exec-output, --jobs and --timeout. Returns EXIT_DONE, or complains.
 * The words are for free(), and NULL without --exec. run_exec_read_how reads only the others, and
 * leaves alone what is not given. */
int run_exec_read(const struct options *, struct job_way *ret_way);
int run_exec_read_how(const struct options *, struct job_way *);

/* run_exec_start starts a command for count firings. A batch gets their lines on its stdin; else
 * there is one firing, and its data. 0, or an errno. */
int run_exec_start(struct jobs *, struct job_way *, const dw_firing *firings, size_t count,
		   bool is_batch);

/* run_exec_start_lines starts a command that gets the lines of the items on its stdin; input has
 * the rest. 0: the job owns the items; or an errno. */
int run_exec_start_lines(struct jobs *, struct job_way *, const struct shell_input *input,
			 struct job_item *items);

/* run_exec_tell reports on stderr how a command has failed. It prints nothing for a success. */
void run_exec_tell(const struct exec_job *);

/* run_exec_verdict: a command that exits with 100 says that no retry would help. */
dw_verdict run_exec_verdict(const struct exec_job *);

/* run_exec_why writes why a command has failed: its status, and the last line that it has written
 * to stderr. run_exec_say calls dw_set_why() with it for all its deliveries. */
#define EXEC_WHY_SIZE (DW_WHY_MAX + 80)
void run_exec_why(const struct exec_job *, char ret_text[EXEC_WHY_SIZE]);
void run_exec_say(const struct exec_job *, dw *);

#endif
