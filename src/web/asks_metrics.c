/* Writes the metrics for Prometheus. */
#include <stdlib.h>

#include "web/asks.h"
#include "durawheel/metrics.h"

dw *asks_metrics_handle(const struct asks *asks)
{
	dw_stats stats = {.size = sizeof stats};
	bool owns = asks->owner && dw_get_stats(asks->owner, &stats) == DW_OK && stats.is_owner;

	/* `d` is NULL if the store has never been open. */
	return owns || !asks->d ? asks->owner : asks->d;
}

/* asks_metrics calls dw_metrics() twice, because the first call returns the size. */
int asks_metrics(struct asks *asks, json_t **ret_text)
{
	dw *d = asks_metrics_handle(asks);
	char *text = NULL;
	size_t size = 0;
	int status = dw_metrics(d, NULL, 0, &size);

	if (status == DW_OK && !(text = malloc(size + 1)))
		status = DW_ENOMEM;
	if (status == DW_OK)
		status = dw_metrics(d, text, size + 1, NULL);
	if (status == DW_OK && !(*ret_text = json_string(text)))
		status = DW_ENOMEM;
	free(text);
	return status;
}
