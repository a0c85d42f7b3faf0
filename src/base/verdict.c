#include "durawheel/durawheel.h"

const char *dw_verdict_name(dw_verdict verdict)
{
	switch (verdict) {
	case DW_DONE:
		return "DONE";
	case DW_RETRY:
		return "RETRY";
	case DW_HOLD:
		return "HOLD";
	case DW_DEAD:
		return "DEAD";
	case DW_HOLD_UNSTARTED:
		return "HOLD_UNSTARTED";
	}
	return "UNKNOWN";
}
