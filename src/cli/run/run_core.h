/* The state of run, for the files run*.c. They call each other in this order:
 *
 *	run.c          the loop, its beginning and its end
 *	run_reload.c   SIGHUP
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
	struct job_way way; /* of --exec */
	struct recipes recipes;
	const struct options *given;
	const char *config_path; /* --config, or NULL */
	struct config config;    /* its [run], as it was at the start */
	struct line line;
	struct outage outage;
	struct progress loading; /* shown on a terminal until every timer is loaded */
	struct http *http;       /* of --http, or NULL */
	struct service service;
	int signal_fd;
	bool paused;
	bool mute;   /* stdout has failed */
	bool loaded; /* "running" was printed; later loads are printed only if they find timers */
	bool stop;
	bool hurried;          /* the commands were told to end */
	bool over;             /* no command is waited for any longer */
	dw_usec stop_patience; /* how long a stopping run waits for its commands */
	dw_usec stopped;       /* steady: when stop was set */
	uint32_t signal;       /* the signal that stopped us; 0: none */
	dw_usec patient_until;
	int code;
};

#endif
