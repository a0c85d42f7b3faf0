/* The part of run for --exec: the options, the start of a command, and messages about a failed
 * command. */
#ifndef DW_CLI_RUN_EXEC_H
#define DW_CLI_RUN_EXEC_H

#include "cli/run/jobs.h"
#include "cli/options.h"

/* run_exec_default returns the defaults for commands: no words, and the usual limits. */
struct job_way run_exec_default(void);

/* run_exec_read reads --exec, --exec-output, --jobs and --timeout. The caller frees the words,
 * which are NULL without --exec. run_exec_read_how reads the same options except --exec, and
 * changes only the settings that are given. Both return EXIT_DONE, or complain. */
int run_exec_read(const struct options *, struct job_way *ret_way);
int run_exec_read_how(const struct options *, struct job_way *);

/* run_exec_start starts a command for `count` firings. A batch is passed as lines on the command's
 * stdin. A single firing is passed by its data on stdin. Returns 0 or an errno. */
int run_exec_start(struct jobs *, struct job_way *, const dw_firing *firings, size_t count,
		   bool is_batch);

/* run_exec_start_lines starts a command that gets the lines of the items on its stdin. `input` has
 * all other parameters. If the function returns 0, the job owns the items. Otherwise it returns an
 * errno. */
int run_exec_start_lines(struct jobs *, struct job_way *, const struct shell_input *input,
			 struct job_item *items);

/* run_exec_tell reports on stderr how a command has failed. After a success it prints nothing. */
void run_exec_tell(const struct exec_job *);

/* run_exec_verdict returns the verdict for the exit code of a command. Exit code 100 means that a
 * retry would not help, so the timers become dead letters. */
dw_verdict run_exec_verdict(const struct exec_job *);

/* run_exec_why writes why a command has failed: its exit code, and the last line that it wrote to
 * stderr. run_exec_say passes this text to dw_set_why() for all deliveries of the job. */
#define EXEC_WHY_SIZE (DW_WHY_MAX + 80)
void run_exec_why(const struct exec_job *, char ret_text[EXEC_WHY_SIZE]);
void run_exec_say(const struct exec_job *, dw *);

#endif
