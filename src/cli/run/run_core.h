/* The state of `run`, which the files run*.c share. Each file may call only those below it:
 *
 *	run.c          the loop, and what is before and after it
 *	run_reload.c   reading the file of --config, also after SIGHUP
 *	run_fire.c     what happens when a timer is due, and when its command has ended
 *	run_stop.c     stopping */
#ifndef DW_CLI_RUN_CORE_H
#define DW_CLI_RUN_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "web/http.h"
#include "cli/run/jobs.h"
#include "cli/out/line.h"
#include "cli/run/outage.h"
#include "cli/run/outbox.h"
#include "cli/run/progress.h"
#include "cli/run/recipes.h"
#include "cli/run/run_idle.h"
#include "cli/run/service.h"
#include "durawheel/durawheel.h"

struct runner {
	dw *d;
	struct run_idle idle;
	bool until_idle;
	struct outbox outbox;
	struct jobs jobs;
	struct job_way way; /* how to run the command of --exec */
	struct recipes recipes;
	const struct options *given;
	const char *config_path; /* the path of --config, or NULL */
	struct config config;    /* the section [run], as it was at the start */
	struct line line;
	struct outage outage;
	struct progress loading; /* shown on a terminal until all timers are loaded */
	struct http *http;       /* the web server of --http, or NULL */
	struct service service;
	int signal_fd;
	bool paused;
	bool mute;   /* stdout has failed */
	bool loaded; /* "running" was printed; later loads are printed only if they find timers */
	bool stop;
	bool hurried;          /* the commands were told to end */
	bool over;             /* run does not wait for commands any more */
	dw_usec stop_patience; /* how long run waits for its commands when it stops */
	dw_usec stopped;       /* the steady time when `stop` was set */
	uint32_t signal;       /* the signal that has stopped run; 0 if none has */
	dw_usec patient_until;
	int code;
};

#endif
