#include "cli/run/run_loading.h"

static void told_total(dw *d, int status, const dw_store_status *store, void *user)
{
	struct progress *loading = user;

	(void)d;
	if (status == DW_OK)
		loading->total = store->pending + store->claimed;
}

/* run_loading_begin asks for the total only if a terminal will show it. */
void run_loading_begin(struct progress *loading, dw *d)
{
	progress_begin_loading(loading);
	if (loading->wanted)
		(void)dw_get_status(d, told_total, loading); /* if it fails, no total is shown */
}

void run_loading_show(struct progress *loading, const dw *d)
{
	dw_stats stats = {.size = sizeof stats};

	if (loading->wanted && dw_get_stats(d, &stats) == DW_OK && stats.recovering)
		progress_draw(loading, stats.timers, stats.timers);
}

void run_loading_end(struct progress *loading)
{
	progress_clear(loading);
	loading->wanted = false;
}
