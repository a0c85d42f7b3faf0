/* durawheel: durable timers for C programs. */
#ifndef DURAWHEEL_H
#define DURAWHEEL_H

#define DW_VERSION "0.1.0"

#endif
