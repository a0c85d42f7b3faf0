#include "cli/out/local_time.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/out/clock.h"

/* The library knows the offsets of time zones until this time. */
#define ZONES_MAX (INT64_C(253402128000) * 1000000)

/* In the path of a zone's file, the name of the zone follows this text. */
static const char folder[] = "zoneinfo/";

static dw_rule rule_in(const char *name)
{
	return (dw_rule){.size = sizeof(dw_rule), .cron = "@daily", .zone = name};
}

int local_zone_find(const char *name, struct local_zone *ret_zone, char *ret_fault)
{
	static const char field[] = "zone: ";
	char message[DW_MESSAGE_SIZE] = "out of memory";
	const dw_rule rule = rule_in(name);
	dw_usec next;
	const char *why;
	int status = dw_rule_next(&rule, 0, &next, 1, message);

	if (status >= 0) {
		*ret_zone = (struct local_zone){.kind = LOCAL_NAMED};
		/* The library takes names of at most 64 bytes. */
		(void)snprintf(ret_zone->name, sizeof ret_zone->name, "%s", name);
		return DW_OK;
	}
	why = strncmp(message, field, strlen(field)) == 0 ? message + strlen(field) : message;
	(void)snprintf(ret_fault, LOCAL_FAULT_SIZE, "%s", why); /* a long message is cut */
	return status;
}

/* refuse_machine reports that the machine's zone is unknown. The message says that `source` names
 * the zone. */
static int refuse_machine(const char *source, const char *name, char *ret_fault)
{
	(void)snprintf(ret_fault, LOCAL_FAULT_SIZE,
		       "this machine has no zone \"%.100s\", which %s names: install the package "
		       "tzdata, write --zone, or write the time with its offset",
		       name, source); /* the buffer is large enough */
	return DW_EINVAL;
}

static int take_system(const char *name, struct local_zone *ret_zone)
{
	*ret_zone = (struct local_zone){.kind = LOCAL_SYSTEM};
	(void)snprintf(ret_zone->name, sizeof ret_zone->name, "%s", name); /* cut if long */
	return DW_OK;
}

/* zone_of_path returns the name of a zone in the path of its file, or NULL. */
static const char *zone_of_path(const char *path)
{
	const char *at = strstr(path, folder);

	return at ? at + strlen(folder) : NULL;
}

/* is_description returns true for a TZ that describes a zone instead of naming one, as
 * CET-1CEST,M3.5.0,M10.5.0/3 does. */
static bool is_description(const char *text)
{
	size_t letters = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

	if (*text == '<')
		letters = strcspn(text, ">") + 1;
	return letters >= 3 && strlen(text) > letters &&
	       text[letters + strspn(text + letters, "+-")] >= '0' &&
	       text[letters + strspn(text + letters, "+-")] <= '9';
}

static bool is_zone_file(const char *path)
{
	char magic[4] = "";
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t size = fd < 0 ? 0 : read(fd, magic, sizeof magic);

	if (fd >= 0)
		(void)close(fd); /* the file was only read */
	return size == sizeof magic && memcmp(magic, "TZif", sizeof magic) == 0;
}

/* find_from_path finds the zone of a file. A file outside of tzdata has no name. */
static int find_from_path(const char *source, const char *path, struct local_zone *ret_zone,
			  char *ret_fault)
{
	const char *name = zone_of_path(path);
	int status;

	if (!name)
		return is_zone_file(path) ? take_system(source, ret_zone)
					  : refuse_machine(source, path, ret_fault);
	status = local_zone_find(name, ret_zone, ret_fault);
	/* Without the package tzdata, a machine has UTC. */
	if (status == DW_EINVAL && (strcmp(name, "Etc/UTC") == 0 || strcmp(name, "UCT") == 0))
		return local_zone_find("UTC", ret_zone, ret_fault);
	return status == DW_EINVAL ? refuse_machine(source, name, ret_fault) : status;
}

static int find_from_tz(const char *tz, struct local_zone *ret_zone, char *ret_fault)
{
	int status;

	tz += *tz == ':';
	if (!*tz)
		return local_zone_find("UTC", ret_zone, ret_fault);
	if (*tz == '/')
		return find_from_path("TZ", tz, ret_zone, ret_fault);
	status = local_zone_find(tz, ret_zone, ret_fault);
	if (status != DW_EINVAL)
		return status;
	return is_description(tz) ? take_system(tz, ret_zone) : refuse_machine("TZ", tz, ret_fault);
}

int local_zone_of_machine(struct local_zone *ret_zone, char *ret_fault)
{
	static const char link[] = "/etc/localtime";
	const char *tz = getenv("TZ");
	char path[PATH_MAX];
	ssize_t size;

	if (tz)
		return find_from_tz(tz, ret_zone, ret_fault);
	size = readlink(link, path, sizeof path - 1);
	if (size < 0)
		return access(link, R_OK) == 0 ? take_system(link, ret_zone)
					       : local_zone_find("UTC", ret_zone, ret_fault);
	path[size] = '\0';
	return find_from_path(link, path, ret_zone, ret_fault);
}

struct local_zone local_zone_fixed(dw_usec offset_us)
{
	struct local_zone zone = {.kind = LOCAL_FIXED, .offset_us = offset_us};

	if (offset_us == 0)
		memcpy(zone.name, "UTC", sizeof "UTC");
	return zone;
}

dw_usec local_offset(const struct local_zone *zone, dw_usec time)
{
	dw_local local = {.size = sizeof local};
	dw_usec within = time < 0 ? 0 : time > ZONES_MAX ? ZONES_MAX : time;
	const time_t second = (time_t)(within / DW_SECONDS(1));
	dw_rule rule;
	struct tm parts;

	if (zone->kind == LOCAL_FIXED)
		return zone->offset_us;
	if (zone->kind == LOCAL_SYSTEM)
		return localtime_r(&second, &parts) ? DW_SECONDS(parts.tm_gmtoff) : 0;
	rule = rule_in(zone->name);
	/* If the zone's file has gone meanwhile, the offset stays 0. */
	(void)dw_rule_local(&rule, within, &local, NULL);
	return local.offset_us;
}

int local_moments(const struct local_zone *zone, dw_usec wall, dw_usec ret_moments[2])
{
	/* No zone changes twice within two days. */
	dw_usec before = local_offset(zone, wall - DW_DAYS(1));
	dw_usec after = local_offset(zone, wall + DW_DAYS(1));
	int count = 0;

	if (local_offset(zone, wall - before) == before)
		ret_moments[count++] = wall - before;
	if (before != after && local_offset(zone, wall - after) == after)
		ret_moments[count++] = wall - after;
	if (count == 0)
		ret_moments[0] = wall - before;
	return count;
}

void local_format(const struct local_zone *zone, dw_usec time, char ret_text[LOCAL_TEXT_SIZE])
{
	const dw_local local = {.size = sizeof local, .offset_us = local_offset(zone, time)};

	/* Near the limits of dw_usec the offset cannot be added, so far times are shown in UTC. */
	if (time < -ZONES_MAX || time > ZONES_MAX)
		dw_format_time(time, ret_text);
	else
		clock_local(time, &local, ret_text);
}

void local_show(const struct local_zone *zone, dw_usec time, char ret_text[LOCAL_TEXT_SIZE])
{
	if (zone)
		local_format(zone, time, ret_text);
	else
		dw_format_time(time, ret_text);
}

void local_words(const struct local_zone *zone, dw_usec time, char ret_text[LOCAL_TEXT_SIZE])
{
	char plain[LOCAL_TEXT_SIZE], *day_end;
	const char *offset;

	local_format(zone, time, plain);
	day_end = strchr(plain, 'T');
	if (!day_end) {
		(void)snprintf(ret_text, LOCAL_TEXT_SIZE, "%s", plain); /* it fits */
		return;
	}
	*day_end = ' ';
	offset = day_end + strcspn(day_end, "+-");
	(void)snprintf(ret_text, LOCAL_TEXT_SIZE, "%.*s %s%s%s", (int)(offset - plain), plain,
		       offset, *zone->name ? " " : "", zone->name); /* it fits */
}
