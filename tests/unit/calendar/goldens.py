#!/usr/bin/env python3
"""Makes the golden lists: occurrences of hand-picked schedules, as other programs compute them.

    tests/unit/calendar/goldens.py zoneinfo | clang-format >tests/unit/calendar/zoneinfo_goldens.h
    tests/unit/calendar/goldens.py systemd | clang-format >tests/unit/calendar/systemd_goldens.h

zoneinfo: Python's zones, and the rules of durawheel/rule.h, minute by minute. systemd: what
`systemd-analyze calendar` prints, which knows both zones and calendars. Run it again only to add a
schedule: the lists are data, and do not change with tzdata.
"""
import datetime
import os
import re
import subprocess
import sys
import zoneinfo

UTC = datetime.timezone.utc
MINUTE = datetime.timedelta(minutes=1)
COUNT = 4

# cron, zone, from
SCHEDULES = [
    ("30 1 * * *", "Europe/London", "2027-03-27T00:00:00Z"),
    ("30 1 * * *", "Europe/London", "2027-10-30T00:00:00Z"),
    ("0 1 * * *", "Europe/London", "2027-03-27T12:00:00Z"),
    ("0 2 * * *", "Europe/London", "2027-10-30T12:00:00Z"),
    ("59 0,1 * * *", "Europe/London", "2027-03-27T22:00:00Z"),
    ("0 1,2 * * *", "Europe/London", "2027-03-27T22:00:00Z"),
    ("*/30 * * * *", "Europe/London", "2027-10-30T23:30:00Z"),
    ("30 * * * *", "Europe/London", "2027-03-27T23:45:00Z"),
    ("0 8 * * mon-fri", "Europe/London", "2028-03-24T00:00:00Z"),
    ("0 8 * * mon-fri", "Europe/London", "2027-10-29T00:00:00Z"),
    ("15 2 * * sun", "Europe/Berlin", "2027-03-20T00:00:00Z"),
    ("15 2 * * sun", "Europe/Berlin", "2027-10-23T00:00:00Z"),
    ("30 2 * * *", "America/New_York", "2027-03-13T00:00:00Z"),
    ("30 1 * * *", "America/New_York", "2027-11-06T00:00:00Z"),
    ("*/20 1 * * *", "America/New_York", "2027-11-07T04:00:00Z"),
    ("0 0 1 * *", "America/New_York", "2027-02-15T00:00:00Z"),
    ("45 2 * * *", "America/Chicago", "2027-03-13T12:00:00Z"),
    ("5 1 * * *", "America/Los_Angeles", "2027-11-06T12:00:00Z"),
    ("0 2 * * *", "America/St_Johns", "2027-03-13T00:00:00Z"),
    ("1 0 * * *", "America/St_Johns", "2006-10-28T00:00:00Z"),
    ("15 2 * * *", "Australia/Lord_Howe", "2027-10-02T00:00:00Z"),
    ("45 1 * * *", "Australia/Lord_Howe", "2027-04-02T12:00:00Z"),
    ("*/10 * * * *", "Australia/Lord_Howe", "2027-04-03T14:45:00Z"),
    ("30 2 * * *", "Australia/Sydney", "2027-10-02T00:00:00Z"),
    ("30 2 * * *", "Australia/Sydney", "2027-04-02T00:00:00Z"),
    ("0 9 * * *", "Australia/Adelaide", "2027-10-01T00:00:00Z"),
    ("0 0 * * *", "Africa/Cairo", "2027-04-28T00:00:00Z"),
    ("30 0 * * *", "Africa/Cairo", "2027-04-28T00:00:00Z"),
    ("30 23 * * *", "Africa/Cairo", "2027-10-27T00:00:00Z"),
    ("0 3 * * *", "Africa/Casablanca", "2027-02-05T00:00:00Z"),
    ("30 2 * * *", "Africa/Casablanca", "2027-03-12T00:00:00Z"),
    ("0 12 * * *", "Asia/Kolkata", "2027-06-01T00:00:00Z"),
    ("45 23 * * *", "Asia/Kathmandu", "2027-06-01T00:00:00Z"),
    ("0 0 * * *", "Asia/Tehran", "2022-03-20T00:00:00Z"),
    ("30 23 * * *", "Asia/Tehran", "2022-09-19T00:00:00Z"),
    ("0 0 * * *", "Asia/Beirut", "2027-03-26T00:00:00Z"),
    ("30 0 * * *", "Asia/Beirut", "2027-03-26T00:00:00Z"),
    ("0 6 * * fri", "Asia/Gaza", "2027-03-01T00:00:00Z"),
    ("0 12 * * *", "Pacific/Apia", "2011-12-28T00:00:00Z"),
    ("45 3 * * *", "Pacific/Chatham", "2027-09-24T00:00:00Z"),
    ("0 3 * * *", "Pacific/Chatham", "2027-04-02T00:00:00Z"),
    ("0 0 * * *", "America/Sao_Paulo", "2017-10-13T00:00:00Z"),
    ("30 23 * * *", "America/Sao_Paulo", "2018-02-16T00:00:00Z"),
    ("0 0 * * *", "America/Santiago", "2027-09-03T00:00:00Z"),
    ("30 23 * * *", "America/Santiago", "2027-04-02T00:00:00Z"),
    ("30 1 * * *", "Europe/Dublin", "2027-03-27T00:00:00Z"),
    ("30 1 * * *", "Antarctica/Troll", "2027-03-26T00:00:00Z"),
    ("*/30 1-3 * * *", "Antarctica/Troll", "2027-10-31T00:00:00Z"),
    ("0 4 * * *", "America/Godthab", "2027-03-26T00:00:00Z"),
    ("30 0 * * *", "Atlantic/Azores", "2027-03-26T00:00:00Z"),
    ("30 0 * * *", "Atlantic/Azores", "2027-10-29T00:00:00Z"),
    ("0 7 15 * fri", "Europe/Helsinki", "2027-03-01T00:00:00Z"),
]

# cron, the same for systemd, zone, from. systemd passes over local times that do not exist.
CALENDARS = [
    ("* * * * *", "*-*-* *:*:00", "UTC", "2027-05-04T10:00:30Z"),
    ("*/5 * * * *", "*-*-* *:00/5:00", "UTC", "2027-05-04T10:58:00Z"),
    ("*/15 9-17 * * mon-fri", "Mon..Fri *-*-* 09..17:00/15:00", "Europe/London", "2027-05-07T16:20:00Z"),
    ("0 8 * * mon-fri", "Mon..Fri *-*-* 08:00:00", "Europe/London", "2028-03-24T00:00:00Z"),
    ("0 8 * * mon-fri", "Mon..Fri *-*-* 08:00:00", "Europe/London", "2027-10-29T00:00:00Z"),
    ("30 1 * * *", "*-*-* 01:30:00", "Europe/London", "2027-10-30T00:00:00Z"),
    ("30 1 * * *", "*-*-* 01:30:00", "Europe/London", "2027-03-26T12:00:00Z"),
    ("0 2 * * *", "*-*-* 02:00:00", "Europe/London", "2027-10-30T12:00:00Z"),
    ("59 0 * * *", "*-*-* 00:59:00", "Europe/London", "2027-03-27T22:00:00Z"),
    ("15 2 * * sun", "Sun *-*-* 02:15:00", "Europe/Berlin", "2027-10-23T00:00:00Z"),
    ("15 2 * * sun", "Sun *-*-* 02:15:00", "Europe/Berlin", "2027-03-20T00:00:00Z"),
    ("15 3 * * sun", "Sun *-*-* 03:15:00", "Europe/Berlin", "2027-03-20T00:00:00Z"),
    ("30 2 * * *", "*-*-* 02:30:00", "America/New_York", "2027-03-13T00:00:00Z"),
    ("30 1 * * *", "*-*-* 01:30:00", "America/New_York", "2027-11-06T00:00:00Z"),
    ("0 0 * * *", "*-*-* 00:00:00", "America/New_York", "2027-11-06T00:00:00Z"),
    ("45 2 * * *", "*-*-* 02:45:00", "America/Chicago", "2027-03-12T12:00:00Z"),
    ("5 1 * * *", "*-*-* 01:05:00", "America/Los_Angeles", "2027-11-06T12:00:00Z"),
    ("0 6 * * *", "*-*-* 06:00:00", "America/St_Johns", "2027-03-13T00:00:00Z"),
    ("1 1 * * *", "*-*-* 01:01:00", "America/St_Johns", "2027-11-06T00:00:00Z"),
    ("0 0 1 * *", "*-*-01 00:00:00", "America/New_York", "2027-02-15T00:00:00Z"),
    ("0 18 L * *", "*-*~01 18:00:00", "UTC", "2028-01-31T18:00:00Z"),
    ("0 18 L-2 * *", "*-*~03 18:00:00", "Europe/Paris", "2027-01-15T00:00:00Z"),
    ("0 0 29 2 *", "*-02-29 00:00:00", "UTC", "2027-01-01T00:00:00Z"),
    ("0 12 29 2 *", "*-02-29 12:00:00", "Asia/Tokyo", "2028-02-29T12:00:00Z"),
    ("0 0 31 * *", "*-*-31 00:00:00", "UTC", "2027-01-31T00:00:00Z"),
    ("0 0 30 * *", "*-*-30 00:00:00", "Asia/Kolkata", "2027-01-29T00:00:00Z"),
    ("0 9 1-7 * *", "*-*-01..07 09:00:00", "Europe/Madrid", "2027-03-05T12:00:00Z"),
    ("0 9 1,15 * *", "*-*-01,15 09:00:00", "Europe/Rome", "2027-03-14T12:00:00Z"),
    ("0 0 1 1,7 *", "*-01,07-01 00:00:00", "UTC", "2027-06-04T00:00:00Z"),
    ("0 0 1 */3 *", "*-01/3-01 00:00:00", "UTC", "2027-02-01T00:00:00Z"),
    ("30 23 31 12 *", "*-12-31 23:30:00", "Pacific/Auckland", "2027-06-01T00:00:00Z"),
    ("0 0 * * mon", "Mon *-*-* 00:00:00", "UTC", "2027-12-28T00:00:00Z"),
    ("0 22 * * fri-sun", "Fri..Sun *-*-* 22:00:00", "Europe/Lisbon", "2027-10-29T00:00:00Z"),
    ("0 7 * * sat,sun", "Sat,Sun *-*-* 07:00:00", "Europe/Helsinki", "2027-03-26T00:00:00Z"),
    ("0 7 * 6-8 mon-fri", "Mon..Fri *-06..08-* 07:00:00", "Europe/Athens", "2027-08-30T00:00:00Z"),
    ("0 7 13 * *", "*-*-13 07:00:00", "Europe/Athens", "2027-02-28T00:00:00Z"),
    ("10,20,40 4 * * *", "*-*-* 04:10,20,40:00", "Asia/Kathmandu", "2027-06-01T00:00:00Z"),
    ("0 */6 * * *", "*-*-* 00/6:00:00", "Asia/Dubai", "2027-06-01T00:00:00Z"),
    ("0 1-23/7 * * *", "*-*-* 01,08,15,22:00:00", "Asia/Singapore", "2027-06-01T00:00:00Z"),
    ("7 0-4/2 * * *", "*-*-* 00,02,04:07:00", "Asia/Dhaka", "2027-06-01T00:00:00Z"),
    ("15 30 12 * * *", "*-*-* 12:30:15", "UTC", "2027-06-01T12:30:15Z"),
    ("*/20 * * * * *", "*-*-* *:*:00/20", "UTC", "2027-06-01T23:59:30Z"),
    ("5-8 59 23 * * *", "*-*-* 23:59:05..08", "UTC", "2027-06-01T23:59:06Z"),
    ("0 12 * * *", "*-*-* 12:00:00", "Pacific/Apia", "2027-06-01T00:00:00Z"),
    ("45 3 * * *", "*-*-* 03:45:00", "Pacific/Chatham", "2027-04-02T00:00:00Z"),
    ("30 2 * * *", "*-*-* 02:30:00", "Australia/Sydney", "2027-10-01T00:00:00Z"),
    ("30 2 * * *", "*-*-* 02:30:00", "Australia/Sydney", "2027-04-02T00:00:00Z"),
    ("45 1 * * *", "*-*-* 01:45:00", "Australia/Lord_Howe", "2027-04-02T12:00:00Z"),
    ("0 12 * * *", "*-*-* 12:00:00", "Africa/Casablanca", "2027-02-05T00:00:00Z"),
    ("0 6 * * fri", "Fri *-*-* 06:00:00", "Asia/Gaza", "2027-03-01T00:00:00Z"),
    ("0 9 * * *", "*-*-* 09:00:00", "America/Sao_Paulo", "2018-02-16T00:00:00Z"),
    ("30 23 * * *", "*-*-* 23:30:00", "America/Santiago", "2027-04-02T00:00:00Z"),
]


def parse(text):
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


def form(times):
    return " ".join(time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for time in times)


def values(field, least, most):
    """The numbers that a field names. Names and L are not used in SCHEDULES but for weekdays."""
    found = set()
    field = field.replace("-sun", "-7")
    for name, number in zip("sun mon tue wed thu fri sat".split(), range(7)):
        field = field.replace(name, str(number))
    for item in field.split(","):
        span, _, step = item.partition("/")
        first, _, last = ("%d-%d" % (least, most) if span == "*" else span).partition("-")
        found |= set(range(int(first), int(last or first) + 1, int(step or 1)))
    return found


class Cron:
    def __init__(self, text):
        fields = text.split()
        limits = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)]
        self.minutes, self.hours, self.days, self.months, weekdays = (
            values(field, *limit) for field, limit in zip(fields, limits))
        self.weekdays = {day % 7 for day in weekdays}
        self.either = fields[2][0] != "*" and fields[4][0] != "*"
        self.interval = fields[0][0] == "*" or fields[1][0] == "*"

    def names(self, clock):
        day = clock.day in self.days
        weekday = clock.isoweekday() % 7 in self.weekdays
        return (clock.minute in self.minutes and clock.hour in self.hours
                and clock.month in self.months
                and (day or weekday if self.either else day and weekday))


def by_zoneinfo(cron, zone, after):
    """An interval walks through real minutes. Other rules walk through the clock on the wall: fold
    0 reads a time that exists twice as the first, and one that does not by the offset before."""
    rule, zone = Cron(cron), zoneinfo.ZoneInfo(zone)
    found = []
    if rule.interval:
        moment = after.replace(second=0)
        while len(found) < COUNT:
            moment += MINUTE
            if rule.names(moment.astimezone(zone)):
                found.append(moment)
        return found
    clock = after.astimezone(zone).replace(tzinfo=None) - datetime.timedelta(days=2)
    while len(found) < COUNT + 4:
        clock += MINUTE
        moment = clock.replace(tzinfo=zone).astimezone(UTC)
        if rule.names(clock) and moment > after and moment not in found:
            found.append(moment)
    return sorted(found)[:COUNT]


def by_systemd(calendar, zone, after):
    text = subprocess.run(
        ["systemd-analyze", "calendar", "--iterations=%d" % COUNT,
         "--base-time=" + after.strftime("%Y-%m-%d %H:%M:%S UTC"), calendar + " " + zone],
        check=True, text=True, capture_output=True, env={**os.environ, "TZ": "UTC"}).stdout
    times = re.findall(r"(?:Next elapse|Iter. #\d+): \w+ (\S+) (\S+) UTC", text)
    return [parse("%sT%sZ" % time) for time in times]


def version(command, pattern):
    text = subprocess.run(command, check=True, text=True, capture_output=True).stdout
    return re.search(pattern, text).group(1)


def zoneinfo_goldens():
    print("/* Occurrences that Python computes with zoneinfo (tzdata %s), made by goldens.py. They were"
          % version(["head", "-1", "/usr/share/zoneinfo/tzdata.zi"], r"version (\S+)"))
    print(" * chosen by hand: days on which a clock is moved, of all kinds. */")
    print("#ifndef DW_TESTS_ZONEINFO_GOLDENS_H\n#define DW_TESTS_ZONEINFO_GOLDENS_H\n")
    print("static const struct golden {\n\tconst char *cron, *zone, *from, *times;\n} goldens[] = {")
    for cron, zone, after in SCHEDULES:
        print('    {"%s", "%s", "%s",\n     "%s"},'
              % (cron, zone, after, form(by_zoneinfo(cron, zone, parse(after)))))
    print("};\n\n#endif")


def systemd_goldens():
    print("/* Occurrences that systemd %s computes, made by goldens.py. in_gap: where local time"
          % version(["systemd-analyze", "--version"], r"systemd (\S+)"))
    print(" * skips an occurrence, systemd has none. */")
    print("#ifndef DW_TESTS_SYSTEMD_GOLDENS_H\n#define DW_TESTS_SYSTEMD_GOLDENS_H\n")
    print("static const struct systemd_golden {")
    print("\tconst char *cron, *zone, *from, *times, *in_gap;\n} systemd_goldens[] = {")
    for cron, calendar, zone, after in CALENDARS:
        times, gaps = by_systemd(calendar, zone, parse(after)), []
        if len(cron.split()) == 5 and times[-1] < parse(after) + datetime.timedelta(days=40):
            gaps = [time for time in by_zoneinfo(cron, zone, parse(after))
                    if time not in times and time < times[-1]]
        print('    {"%s", "%s", "%s",\n     "%s", "%s"},'
              % (cron, zone, after, form(times), form(gaps)))
    print("};\n\n#endif")


if len(sys.argv) != 2 or sys.argv[1] not in ("zoneinfo", "systemd"):
    sys.exit("usage: goldens.py zoneinfo | systemd")
zoneinfo_goldens() if sys.argv[1] == "zoneinfo" else systemd_goldens()
