/* Asks how many timers come due. */
#include "web/asks_inside.h"

#include "cli/out/coming.h"
#include "cli/session.h"

static void coming_told(dw *d, int status, const dw_due_counts *counts, void *user)
{
	(void)d;
	asks_answer(user, status, status == DW_OK ? coming_object(counts) : NULL);
}

int asks_coming(dw *d, struct ask *ask)
{
	return coming_ask(d, session_now(), coming_told, ask);
}
