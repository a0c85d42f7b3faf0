/* Examines the machine: its clock, its limits, its time zones, and the disk of a file. */
#ifndef DW_CLI_MACHINE_H
#define DW_CLI_MACHINE_H

#include "cli/doctor/findings.h"

void machine_clock(struct findings *);
void machine_limits(struct findings *);
void machine_zones(struct findings *);

/* machine_disk examines the folder and the disk of a file, which is a store or a journal. */
void machine_disk(struct findings *, const char *path);

#endif
