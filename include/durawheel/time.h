/* Times and durations of durawheel: microseconds in an int64_t. durawheel/durawheel.h includes this
 * header.
 */
#ifndef DURAWHEEL_TIME_H
#define DURAWHEEL_TIME_H

#include <stdint.h>

#ifndef DW_API
#if defined(__GNUC__)
#define DW_API __attribute__((visibility("default")))
#else
#define DW_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef int64_t dw_usec;
#define DW_NEVER INT64_MAX

/* Durations: DW_MINUTES(30), DW_SECONDS(1.5). What is below a microsecond is cut off. */
#ifdef __cplusplus
extern "C++" {
template <class number> constexpr dw_usec dw_whole(number time)
{
	return static_cast<dw_usec>(time); /* in a template no compiler calls it useless */
}
}
#define DW_TIMES(n, unit) (dw_whole((n)*INT64_C(unit)))
#else
#define DW_TIMES(n, unit) ((dw_usec)((n)*INT64_C(unit)))
#endif
#define DW_MILLISECONDS(n) DW_TIMES(n, 1000)
#define DW_SECONDS(n) DW_TIMES(n, 1000000)
#define DW_MINUTES(n) DW_TIMES(n, 60000000)
#define DW_HOURS(n) DW_TIMES(n, 3600000000)
#define DW_DAYS(n) DW_TIMES(n, 86400000000)

/* dw_parse_duration reads "250us", "90s", "1h30m", "2d12h": whole numbers, each with a unit of
 * d h m s ms us, the larger before the smaller, no unit twice. Any thread.
 * DW_EINVAL: not of that form. DW_ELIMIT: of that form, but over 292,000 years. */
DW_API int dw_parse_duration(const char *text, dw_usec *ret_duration);

/* dw_parse_time reads RFC 3339 with its offset, "2026-06-01T09:30:00Z" or
 * "2026-06-01T09:30:00.25+01:00"; a local time without an offset means two moments a year, or
 * none, and is refused. Any thread.
 * DW_EINVAL: not of that form. DW_ELIMIT: of that form, but there is no such day, time or offset,
 * like 30 February or a leap second. */
DW_API int dw_parse_time(const char *text, dw_usec *ret_time);

/* dw_format_time writes time as RFC 3339 in UTC with six decimals into text (DW_TIME_SIZE bytes);
 * "never" for DW_NEVER. Any thread. */
#define DW_TIME_SIZE 40
DW_API void dw_format_time(dw_usec time, char *text);

#ifdef __cplusplus
}
#endif

#endif
