#include "settings.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static int read_date(const char *text, dw_usec *ret_midnight)
{
	char time[DW_TIME_SIZE];

	if (strlen(text) != strlen("2028-03-06"))
		return -1;
	snprintf(time, sizeof time, "%sT00:00:00Z", text);
	return dw_parse_time(time, ret_midnight) == DW_OK ? 0 : -1;
}

static int read_option(int option, const char *text, struct settings *s)
{
	char rest;

	switch (option) {
	case 's':
		s->store = text;
		return 0;
	case 'm':
		s->name = text;
		return 0;
	case 'r':
		return dw_parse_duration(text, &s->remind) == DW_OK &&
			       s->remind % DW_MINUTES(1) == 0
			   ? 0
			   : -1;
	case 'n':
		return sscanf(text, "%9d%c", &s->speed, &rest) == 1 && s->speed > 0 ? 0 : -1;
	case 'f':
		return dw_parse_time(text, &s->from) == DW_OK ? 0 : -1;
	case 'u':
		s->until_idle = 1;
		return 0;
	case 'p':
		s->peer = 1;
		return 0;
	case 'd':
		s->daily = 1;
		return 0;
	case 't':
		return dw_parse_time(text, &s->until) == DW_OK ? 0 : -1;
	case 'b':
		return read_date(text, &s->begins);
	default:
		return -1;
	}
}

static int read_arguments(int argc, char **argv, struct settings *s)
{
	static const struct option options[] = {{"store", required_argument, NULL, 's'},
						{"remind", required_argument, NULL, 'r'},
						{"speed", required_argument, NULL, 'n'},
						{"from", required_argument, NULL, 'f'},
						{"until-idle", no_argument, NULL, 'u'},
						{"name", required_argument, NULL, 'm'},
						{"daily", no_argument, NULL, 'd'},
						{"until", required_argument, NULL, 't'},
						{"begins", required_argument, NULL, 'b'},
						{"peer", no_argument, NULL, 'p'},
						{NULL, 0, NULL, 0}};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (read_option(option, optarg, s) < 0)
			return -1;
	if (argc - optind != 1)
		return -1;
	s->file = argv[optind];
	/* A peer does not know when the others are idle. */
	if (s->peer && (s->daily || s->until_idle))
		return -1;
	if (s->daily)
		return (s->speed == 0) == (s->from == DW_NEVER) && !s->until_idle ? 0 : -1;
	return s->until == DW_NEVER && s->begins == DW_NEVER ? 0 : -1;
}

int settings_read(int argc, char **argv, struct settings *ret_settings)
{
	*ret_settings = (struct settings){.store = "sqlite:exams.db",
					  .name = "exams",
					  .remind = DW_MINUTES(30),
					  .from = DW_NEVER,
					  .until = DW_NEVER,
					  .begins = DW_NEVER};
	if (read_arguments(argc, argv, ret_settings) == 0)
		return 0;
	fprintf(stderr, "usage: exam_reminders [--store URL] [--name NS] [--remind 30m] "
			"[--speed N] [--from TIME] [--until-idle | --peer] FILE.csv\n"
			"       exam_reminders --daily [--store URL] [--name NS] "
			"[--speed N --from TIME] [--until TIME] [--begins DATE] FILE.csv\n"
			"--remind in whole minutes; TIME as 2023-05-15T08:00:00+01:00; --begins: "
			"as if the term began then\n");
	return -1;
}
