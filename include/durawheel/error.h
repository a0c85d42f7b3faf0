/* Errors of durawheel: 0 is success, every error is negative, dw_strerror() says it in words. */
#ifndef DURAWHEEL_ERROR_H
#define DURAWHEEL_ERROR_H

enum dw_error {
	DW_OK = 0,
	DW_EINVAL = -1,    /* an argument is wrong; dw_last_error() says which and why */
	DW_ENOMEM = -2,    /* no memory; nothing was changed */
	DW_ENOENT = -3,    /* no such timer (any more) */
	DW_ELIMIT = -4,    /* a limit of the options or of the store is reached */
	DW_EEXIST = -5,    /* the id has a timer, and the call said DW_NEW */
	DW_ELATE = -6,     /* too late: the timer is claimed by its owner, fires or has fired */
	DW_ESTALE = -7,    /* the token is of an earlier delivery; nothing was changed */
	DW_ESTORE = -8,    /* the store cannot be reached or refused; the operation was not done */
	DW_EUNKNOWN = -9,  /* the store has not answered: the operation may be done or not */
	DW_EOWNED = -10,   /* another process or handle owns the store */
	DW_ECORRUPT = -11, /* stored bytes do not match their checksum */
	DW_EBUSY = -12,    /* this call may not be made inside a callback */
	DW_ETHREAD = -13,  /* this call may not be made on this thread */
	DW_EFORK = -14,    /* no call may be made in a forked child */
	DW_ECLOSED = -15,  /* the handle was closed before the operation was sent */
	DW_EROLE = -16,    /* only the owner of the store can do that */
	DW_ETIMEOUT = -17, /* the call's patience is over; the work goes on */
	DW_ESYS = -18,     /* the operating system refused; dw_last_error() has its words */
	DW_EFULL = -19,    /* the disk, or Redis' memory, is full; the operation was not done */
	DW_EGONE = -20,    /* the store's file is not where it was: bring it back. Not done */
	DW_EFENCED = -21,  /* another process owns the store now; the operation was not done */
	DW_ENEWER = -22, /* a newer durawheel has written it; this one leaves it alone. Not done */
	DW_EPAUSED = -23 /* the topic is paused and takes nothing new: dw_topic_pause() */
};

/* The size of a buffer for a message that says in words what was wrong, with its NUL. */
#define DW_MESSAGE_SIZE 256

#endif
