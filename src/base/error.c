#include "durawheel/durawheel.h"

const char *dw_strerror(int error)
{
	switch (error) {
	case DW_OK:
		return "ok";
	case DW_EINVAL:
		return "invalid argument";
	case DW_ENOMEM:
		return "out of memory";
	case DW_ENOENT:
		return "no such timer";
	case DW_ELIMIT:
		return "a limit is reached";
	case DW_EEXIST:
		return "the id has a timer already";
	case DW_ELATE:
		return "too late: the timer is being delivered";
	case DW_ESTALE:
		return "the delivery is over";
	case DW_ESTORE:
		return "the store failed";
	case DW_EUNKNOWN:
		return "no answer: done or not";
	case DW_EOWNED:
		return "another process owns the store";
	case DW_ECORRUPT:
		return "stored bytes do not match their checksum";
	case DW_EBUSY:
		return "not from inside a callback";
	case DW_ETHREAD:
		return "not from this thread";
	case DW_EFORK:
		return "not from a forked child";
	case DW_ECLOSED:
		return "closed before it was sent";
	case DW_EROLE:
		return "only the owner can do that";
	case DW_ETIMEOUT:
		return "patience is over";
	case DW_ESYS:
		return "the operating system refused";
	case DW_EFULL:
		return "the store is full";
	case DW_EGONE:
		return "the store's file was deleted, moved or replaced";
	case DW_EFENCED:
		return "another process owns the store now";
	case DW_ENEWER:
		return "written by a newer durawheel: this version leaves it alone";
	case DW_EPAUSED:
		return "the topic is paused: it takes nothing new";
	default:
		return "unknown error";
	}
}

const char *dw_version(void)
{
	return DW_VERSION;
}
