#include "cli/doctor/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include "cli/out/text.h"
#include "cli/session.h"
#include "durawheel/durawheel.h"

#define MIB ((uint64_t)1024 * 1024)

/* ---- Clock and limits ---------------------------------------------------------------------- */

void machine_clock(struct findings *findings)
{
	struct timex clock = {.modes = 0};
	int state = adjtimex(&clock);

	if (session_now() < DW_DAYS(18262))
		find(findings, (struct finding){FINDING_SICK, "clock", "timedatectl set-ntp true"},
		     "the clock says a year before 2020");
	else if (state < 0 || state == TIME_ERROR || clock.status & STA_UNSYNC)
		find(findings,
		     (struct finding){FINDING_ADVICE, "clock", "timedatectl set-ntp true"},
		     "nothing synchronizes the clock of this machine");
	else
		find(findings, (struct finding){FINDING_OK, "clock", ""},
		     "synchronized, within %ld ms", clock.maxerror / 1000);
}

void machine_limits(struct findings *findings)
{
	struct rlimit files, size;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || getrlimit(RLIMIT_FSIZE, &size) != 0)
		return; /* never fails for these */
	if (files.rlim_cur < 256)
		find(findings,
		     (struct finding){FINDING_ADVICE, "limits",
				      "ulimit -n 1024; of a service: LimitNOFILE"},
		     "a process may open only %" PRIu64 " files", (uint64_t)files.rlim_cur);
	else
		find(findings, (struct finding){FINDING_OK, "limits", ""},
		     "a process may open %" PRIu64 " files", (uint64_t)files.rlim_cur);
	if (size.rlim_cur != RLIM_INFINITY && size.rlim_cur < 1024 * MIB)
		find(findings,
		     (struct finding){size.rlim_cur < 16 * MIB ? FINDING_SICK : FINDING_ADVICE,
				      "limits",
				      "ulimit -f unlimited; of a service: LimitFSIZE=infinity"},
		     "a file may have only %" PRIu64 " MiB, which counts as a full disk",
		     (uint64_t)size.rlim_cur / MIB);
}

/* ---- Time zones ---------------------------------------------------------------------------- */

/* zones_version reads the version of the time zone data, for example "2026a", or writes "". */
static void zones_version(char *ret_version, size_t size)
{
	const char *folder = getenv("TZDIR");
	char path[4096], line[128] = "";
	FILE *file;

	ret_version[0] = '\0';
	(void)snprintf(path, sizeof path, "%s/tzdata.zi",
		       folder && *folder ? folder : "/usr/share/zoneinfo"); /* cut if long */
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(line, sizeof line, file) && strncmp(line, "# version ", 10) == 0)
		(void)snprintf(ret_version, size, "%.*s", (int)strcspn(line + 10, " \n"),
			       line + 10); /* cut if long */
	(void)fclose(file);                /* it was only read */
}

/* age returns how many years ago the version was made, or 0 if that is unknown. */
static long age(const char *version)
{
	long year = strtol(version, NULL, 10);
	long now = 1970 + (long)(session_now() / DW_HOURS(8766)); /* a year has 8,766 hours */

	return year >= 1990 && now > year ? now - year : 0;
}

void machine_zones(struct findings *findings)
{
	const dw_rule rule = {.size = sizeof rule, .cron = "@daily", .zone = "Europe/London"};
	char version[32], message[DW_MESSAGE_SIZE];
	dw_usec next;

	zones_version(version, sizeof version);
	if (dw_rule_next(&rule, session_now(), &next, 1, message) < 1)
		find(findings, (struct finding){FINDING_ADVICE, "zones", "apt-get install tzdata"},
		     "no time zone data: timers with --zone wait here: %s", message);
	else if (age(version) > 2)
		find(findings,
		     (struct finding){FINDING_ADVICE, "zones",
				      "apt-get install --only-upgrade tzdata"},
		     "the time zone data is that of %s: zones may have changed since", version);
	else
		find(findings, (struct finding){FINDING_OK, "zones", ""}, "time zone data %s",
		     *version ? version : "of an unknown version");
}

/* ---- Disk ---------------------------------------------------------------------------------- */

/* folder_of writes the folder of a path. */
static void folder_of(const char *path, char *ret_folder, size_t size)
{
	char *slash;

	(void)snprintf(ret_folder, size, "%s", path); /* cut if long */
	slash = strrchr(ret_folder, '/');
	if (!slash)
		(void)snprintf(ret_folder, size, ".");
	else if (slash == ret_folder)
		slash[1] = '\0';
	else
		*slash = '\0';
}

/* sync_time writes 4 KiB to a file without a name, and calls fsync(). Returns how many us this
 * takes. Returns -1 with errno if it fails. */
static dw_usec sync_time(const char *folder)
{
	static const char block[4096];
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	dw_usec began = session_steady(), took = -1;
	int error;

	if (fd < 0)
		return -1;
	if (write(fd, block, sizeof block) == (ssize_t)sizeof block && fsync(fd) == 0)
		took = session_steady() - began;
	error = errno;
	(void)close(fd); /* this deletes the file, which nobody needs */
	errno = error;
	return took;
}

static void judge_sync(struct findings *findings, const char *folder)
{
	dw_usec took = sync_time(folder);
	char span[TEXT_SPAN_SIZE];

	if (took < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT))
		return; /* this file system has no files without a name */
	if (took < 0) {
		find(findings,
		     (struct finding){FINDING_SICK, "disk",
				      "free space, or let this user write there"},
		     "%s: nothing can be written: %s", folder, strerror(errno));
		return;
	}
	text_span(took, 1, span);
	if (took > DW_MILLISECONDS(200))
		find(findings,
		     (struct finding){FINDING_ADVICE, "disk", "move the file to a faster disk"},
		     "%s: a write takes %s until the disk has it", folder, span);
	else
		find(findings, (struct finding){FINDING_OK, "disk", ""},
		     "%s: a write is kept after %s", folder, span);
}

static void judge_space(struct findings *findings, const char *folder, const struct statvfs *disk)
{
	uint64_t free_mib = (uint64_t)disk->f_bavail * disk->f_frsize / MIB;
	bool is_full = free_mib < 64 || (disk->f_files > 0 && disk->f_favail < 100);

	if (disk->f_flag & ST_RDONLY)
		find(findings, (struct finding){FINDING_SICK, "disk", "mount -o remount,rw"},
		     "%s: the file system is read-only", folder);
	else if (is_full)
		find(findings,
		     (struct finding){FINDING_SICK, "disk", "free space on that file system"},
		     "%s: the disk is full: %" PRIu64 " MiB and %" PRIu64 " files are left", folder,
		     free_mib, (uint64_t)disk->f_favail);
	else if (free_mib < 1024)
		find(findings,
		     (struct finding){FINDING_ADVICE, "disk", "free space on that file system"},
		     "%s: only %" PRIu64 " MiB are free", folder, free_mib);
	else
		find(findings, (struct finding){FINDING_OK, "disk", ""},
		     "%s: %" PRIu64 " GiB are free", folder, free_mib / 1024);
}

/* judge_wal examines the size of SQLite's write-ahead log. A program that reads for a long time
 * keeps SQLite from emptying the log. */
static void judge_wal(struct findings *findings, const char *path)
{
	char name[4096];
	struct stat wal;

	(void)snprintf(name, sizeof name, "%s-wal", path); /* cut if long */
	if (stat(name, &wal) == 0 && (uint64_t)wal.st_size > 256 * MIB)
		find(findings,
		     (struct finding){FINDING_ADVICE, "disk",
				      "end other programs that read the file"},
		     "%s has %" PRIu64 " MiB: something keeps it from being emptied", name,
		     (uint64_t)wal.st_size / MIB);
}

void machine_disk(struct findings *findings, const char *path)
{
	char folder[4096];
	struct statvfs disk;

	folder_of(path, folder, sizeof folder);
	if (statvfs(folder, &disk) != 0) {
		find(
		    findings,
		    (struct finding){FINDING_SICK, "disk", "make the folder, or name another file"},
		    "%s: %s", folder, strerror(errno));
		return;
	}
	judge_space(findings, folder, &disk);
	if (access(folder, W_OK) != 0)
		find(findings,
		     (struct finding){FINDING_SICK, "disk",
				      "let this user write there: chown or chmod"},
		     "%s: %s", folder, strerror(errno));
	else
		judge_sync(findings, folder);
	judge_wal(findings, path);
}
