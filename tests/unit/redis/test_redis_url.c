/* Redis URLs: what they mean, what is wrong with others, and that no message has a password. */
#include "redis/url.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/cmocka.h"
#include "support/seed.h"
#include "support/shortage.h"
#include "support/temp.h"

#define SECRET "hunter2"

struct redis_case {
	const char *url;
	const char *host;
	const char *port;
	const char *path;
	const char *user;
	const char *password;
	unsigned db;
	const char *name;
};

static void same(const char *found, const char *wanted)
{
	if (!wanted)
		assert_null(found);
	else
		assert_string_equal(found, wanted);
}

static void check_case(const struct redis_case *wanted)
{
	struct alloc alloc = alloc_default();
	char message[DW_MESSAGE_SIZE] = "";
	struct redis_url parsed;
	int status = redis_url_read(&parsed, wanted->url, &alloc, message);

	if (status != DW_OK)
		fail_msg("%s: %s", wanted->url, message);
	same(parsed.host, wanted->host);
	same(parsed.port, wanted->port);
	same(parsed.path, wanted->path);
	same(parsed.user, wanted->user);
	same(parsed.password, wanted->password);
	assert_int_equal(parsed.db, wanted->db);
	assert_string_equal(parsed.name, wanted->name);
	redis_url_free(&parsed, &alloc);
}

static void read_of_good_urls_gives_their_parts(void **state)
{
	static const struct redis_case cases[] = {
	    {"redis://localhost", "localhost", "6379", NULL, NULL, NULL, 0,
	     "redis://localhost:6379/0"},
	    {"redis://127.0.0.1:6380/", "127.0.0.1", "6380", NULL, NULL, NULL, 0,
	     "redis://127.0.0.1:6380/0"},
	    {"redis://h:1/12", "h", "1", NULL, NULL, NULL, 12, "redis://h:1/12"},
	    {"redis://h?db=3", "h", "6379", NULL, NULL, NULL, 3, "redis://h:6379/3"},
	    {"redis://:pw@h", "h", "6379", NULL, NULL, "pw", 0, "redis://h:6379/0"},
	    {"redis://me:p%40%2f:%25@[::1]:99/2", "::1", "99", NULL, "me", "p@/:%", 2,
	     "redis://[::1]:99/2"},
	    {"redis://me:a@b@[fe80::1%eth0]", "fe80::1%eth0", "6379", NULL, "me", "a@b", 0,
	     "redis://[fe80::1%eth0]:6379/0"},
	    {"redis://:@h", "h", "6379", NULL, NULL, NULL, 0, "redis://h:6379/0"},
	    {"unix:///run/r.sock", NULL, NULL, "/run/r.sock", NULL, NULL, 0,
	     "unix:///run/r.sock?db=0"},
	    {"unix:///run/r@home.sock?db=7", NULL, NULL, "/run/r@home.sock", NULL, NULL, 7,
	     "unix://***@home.sock?db=7"},
	    {"Redis://:pw@h", "h", "6379", NULL, NULL, "pw", 0, "redis://h:6379/0"},
	    {"valkey://:pw@h:1/2", "h", "1", NULL, NULL, "pw", 2, "redis://h:1/2"},
	    {"VALKEY://h", "h", "6379", NULL, NULL, NULL, 0, "redis://h:6379/0"},
	    {"UNIX:///run/r.sock", NULL, NULL, "/run/r.sock", NULL, NULL, 0,
	     "unix:///run/r.sock?db=0"},
	    /* An @ in a path may end a password that stands at the wrong place. */
	    {"unix:///u:" SECRET "@run/r.sock", NULL, NULL, "/u:" SECRET "@run/r.sock", NULL, NULL,
	     0, "unix://***@run/r.sock?db=0"},
	    {"unix://u:p@/run/r.sock?", NULL, NULL, "/run/r.sock", "u", "p", 0,
	     "unix:///run/r.sock?db=0"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check_case(&cases[i]);
}

static void refuse_url(const char *url, const char *words)
{
	struct alloc alloc = alloc_default();
	char message[DW_MESSAGE_SIZE] = "";
	struct redis_url parsed = {.db = 77};

	assert_int_equal(redis_url_read(&parsed, url, &alloc, message), DW_EINVAL);
	if (!strstr(message, words))
		fail_msg("%s: \"%s\" does not say \"%s\"", url, message, words);
	assert_null(strstr(message, SECRET));
	assert_true(strlen(message) + 1 < DW_MESSAGE_SIZE); /* none is cut */
	assert_int_equal(parsed.db, 77);                    /* untouched */
}

static void read_of_bad_urls_says_what_is_wrong(void **state)
{
	(void)state;
	refuse_url("redis://h?ca=" SECRET, "are for TLS: rediss://HOST");
	refuse_url("redis://h?sni=" SECRET, "are for TLS: rediss://HOST");
	refuse_url("unix:///s?cert=" SECRET "&key=k", "are for TLS: rediss://HOST");
	refuse_url("redis://h?password-file=" SECRET, "cannot be opened");
	refuse_url("http://h", "begins with redis://, rediss://, valkey://");
	refuse_url("redis:h", "begins with");
	refuse_url("redis://", "names no host: redis://HOST[:PORT][/DB], with @ / ? : in a");
	refuse_url("redis://:6379", "names no host: redis://HOST[:PORT][/DB]");
	refuse_url("unix:", "begins with");
	refuse_url("redis:///3", "no host");
	refuse_url("redis://:" SECRET "@", "no host");
	refuse_url("redis://[::1", "host is no name or address: redis://HOST[:PORT][/DB], with an");
	refuse_url("redis://a b", "is no name or address");
	refuse_url("redis://u:" SECRET "/x@h", "port");
	refuse_url("redis://u:" SECRET "?x@h", "port");
	refuse_url("redis://h:0", "port");
	refuse_url("redis://h:65536", "port");
	refuse_url("redis://h:", "port");
	refuse_url("redis://h:+1", "port");
	refuse_url("redis://[::1]x", "port");
	refuse_url("redis://h/x", "database");
	refuse_url("redis://h/-1", "database");
	refuse_url("redis://h/9999999", "database");
	refuse_url("redis://u:p@" SECRET "/w@h", "a / in a password is written %2F");
	refuse_url("redis://h/1?db=1", "twice");
	refuse_url("redis://h?db=", "database");
	refuse_url("redis://h?password=" SECRET, "did you mean password-file=FILE?");
	refuse_url("redis://h?foo=" SECRET,
		   "after its ?: write db=N, password-file=FILE, replicas=N, joined by &, and a ? "
		   "in a password as %3F");
	refuse_url("redis://h?password-file=", "password-file= in the Redis URL has no value");
	refuse_url("redis://u:" SECRET "%@h", "%25");
	refuse_url("redis://u:" SECRET "%0@h", "%25");
	refuse_url("redis://u:" SECRET "%00@h", "%25");
	refuse_url("redis://user@h", "without a password");
	refuse_url("unix://run/r.sock", "absolute path");
	refuse_url("unix://", "absolute path");
	refuse_url("unix://u:" SECRET "/run/r.sock", "absolute path");
	refuse_url("unix:///0123456789012345678901234567890123456789012345678901234567890123456789"
		   "0123456789012345678901234567890123456789",
		   "at most 107");
}

static void near_options_are_offered(void **state)
{
	static const char *const near[] = {"pasword-file=",  "password_file=",  "Password-file=",
					   "apssword-file=", "passwordd-file=", "pass="};
	char url[64];

	(void)state;
	for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
		(void)snprintf(url, sizeof url, "unix:///s?%s" SECRET, near[i]); /* it fits */
		refuse_url(url,
			   "did you mean password-file=FILE? A ? in a password is written %3F");
	}
	refuse_url("redis://h?replica=1", "did you mean replicas=N?");
	refuse_url("redis://h?DB=1", "did you mean db=N?");
	refuse_url("redis://h?=1", "write db=N, ");
	refuse_url("redis://h?d=1", "write db=N, ");
	refuse_url("redis://h?pas", "did you mean password-file=FILE?");
	refuse_url("redis://h?cart=" SECRET, "write db=N, "); /* cert= is for TLS */
}

static void check_tls(const char *url, const char *host, const char *port, const char *parts)
{
	struct alloc alloc = alloc_default();
	char message[DW_MESSAGE_SIZE] = "";
	struct redis_url parsed;
	char found[128];

	if (redis_url_read(&parsed, url, &alloc, message) != DW_OK)
		fail_msg("%s: %s", url, message);
	assert_true(parsed.tls);
	same(parsed.host, host);
	same(parsed.port, port);
	(void)snprintf(found, sizeof found, "%s %s %s %s", parsed.ca ? parsed.ca : "-",
		       parsed.cert ? parsed.cert : "-", parsed.key ? parsed.key : "-",
		       parsed.sni ? parsed.sni : "-");
	assert_string_equal(found, parts);
	assert_true(strncmp(parsed.name, "rediss://", 9) == 0);
	assert_null(strstr(parsed.name, SECRET));
	redis_url_free(&parsed, &alloc);
}

static void tls_has_options_of_its_own(void **state)
{
	(void)state;
	if (!DW_WITH_TLS) {
		refuse_url("rediss://:" SECRET "@h", "-DDW_WITH_TLS=ON");
		refuse_url("Rediss://:" SECRET "@h", "-DDW_WITH_TLS=ON");
		refuse_url("valkeys://:" SECRET "@h", "-DDW_WITH_TLS=ON");
		return;
	}
	check_tls("rediss://h", "h", "6379", "- - - -");
	check_tls("VALKEYS://u:" SECRET "@[::1]:1/3", "::1", "1", "- - - -");
	check_tls("rediss://h?ca=/a%26b&db=2", "h", "6379", "/a&b - - -");
	check_tls("rediss://h/2?key=k&sni=r.example&cert=c", "h", "6379", "- c k r.example");
	refuse_url("rediss://h?ca=a&ca=" SECRET, "has ca= twice");
	refuse_url("rediss://", "names no host: rediss://HOST[:PORT][/DB]");
	refuse_url("rediss://:6379", "names no host: rediss://HOST[:PORT][/DB]");
	refuse_url("rediss://a,b", "use rediss+cluster://HOST,HOST for a cluster");
	refuse_url("rediss://h?ca=", "ca= in the Redis URL has no value");
	refuse_url("rediss://h?insecure=" SECRET,
		   "replicas=N, ca=FILE, cert=FILE, key=FILE, sni=NAME, joined by &");
	refuse_url("rediss://h?ca", "did you mean ca=FILE?");
	refuse_url("rediss://h?cert=" SECRET, "cert=FILE needs key=FILE");
	refuse_url("rediss://h?key=" SECRET, "key=FILE needs cert=FILE");
	refuse_url("rediss://h?sni=a/" SECRET, "sni= in the Redis URL is the name");
}

static void check_sentinels(const char *url, const char *parts, const char *name)
{
	struct alloc alloc = alloc_default();
	char message[DW_MESSAGE_SIZE] = "";
	struct redis_url parsed;
	char found[256] = "";
	size_t size = 0;

	if (redis_url_read(&parsed, url, &alloc, message) != DW_OK)
		fail_msg("%s: %s", url, message);
	assert_int_equal(parsed.kind, REDIS_SENTINEL);
	assert_null(parsed.host);
	for (unsigned i = 0; i < parsed.host_count; i++)
		size += (size_t)snprintf(found + size, sizeof found - size, "%s %s ",
					 parsed.hosts[i].host, parsed.hosts[i].port);
	(void)snprintf(found + size, sizeof found - size, "%s %u %s %s", parsed.master, parsed.db,
		       parsed.sentinel_user ? parsed.sentinel_user : "-",
		       parsed.sentinel_password ? parsed.sentinel_password : "-");
	assert_string_equal(found, parts);
	assert_string_equal(parsed.name, name);
	assert_string_equal(parsed.server, name);
	assert_int_equal(redis_url_aim(&parsed, "::1", "77", &alloc), DW_OK);
	assert_string_equal(parsed.host, "::1");
	assert_string_equal(parsed.name, name);
	assert_non_null(strstr(parsed.server, "[::1]:77/"));
	assert_non_null(strstr(parsed.server, parsed.master));
	redis_url_free(&parsed, &alloc);
}

static void sentinels_name_the_server(void **state)
{
	(void)state;
	check_sentinels("redis+sentinel://s1,s2:7,[::1]:8/orders",
			"s1 26379 s2 7 ::1 8 orders 0 - -",
			"redis+sentinel://s1:26379,s2:7,[::1]:8/orders/0");
	assert_int_equal(setenv("DURAWHEEL_SENTINEL_PASSWORD", "guard", 1), 0);
	check_sentinels("Valkey+Sentinel://u:p@s1/m.y_m-1/3?sentinel-user=watch",
			"s1 26379 m.y_m-1 3 watch guard", "redis+sentinel://s1:26379/m.y_m-1/3");
	assert_int_equal(unsetenv("DURAWHEEL_SENTINEL_PASSWORD"), 0);
}

static void check_name(const char *url, const char *name)
{
	struct alloc alloc = alloc_default();
	char message[DW_MESSAGE_SIZE] = "";
	struct redis_url parsed;

	if (redis_url_read(&parsed, url, &alloc, message) != DW_OK)
		fail_msg("%s: %s", url, message);
	assert_string_equal(parsed.name, name);
	redis_url_free(&parsed, &alloc);
}

#define LONG_HOST "a-host-with-a-name-of-fifty-four-letters.servers.example"
#define LONGER LONG_HOST "." LONG_HOST "." LONG_HOST

static void name_of_many_hosts_has_whole_ones(void **state)
{
	(void)state;
	check_name("redis+sentinel://" LONG_HOST "," LONG_HOST "," LONG_HOST ",s/orders/3",
		   "redis+sentinel://" LONG_HOST ":26379,(3 more)/orders/3");
	check_name("redis+cluster://" LONG_HOST "," LONG_HOST "," LONG_HOST,
		   "redis+cluster://" LONG_HOST ":6379," LONG_HOST ":6379,(1 more)");
	check_name("redis+cluster://" LONGER "," LONGER, "redis+cluster://(2 more)");
	check_name("redis+cluster://[::1]," LONGER, "redis+cluster://[::1]:6379,(1 more)");
}

static void sentinels_are_refused_in_words(void **state)
{
	(void)state;
	refuse_url("redis+sentinel://s1,s2", "does not name the master");
	refuse_url("redis+sentinel://s1,s2/", "SENTINEL MASTERS lists the names");
	refuse_url("redis+sentinel://s1,s2/a b", "with letters, digits, '.', '_' and '-': redis+s");
	refuse_url("redis+sentinel://s1,,s2/m", "list of hosts is empty");
	refuse_url("redis+sentinel://,s1/m", "list of hosts is empty");
	refuse_url("redis+sentinel://s1,/m", "list of hosts is empty");
	refuse_url("redis+sentinel://s1,me@s2/m", "a user behind a host");
	refuse_url("redis+sentinel:///m",
		   "names no host: redis+sentinel://HOST[:PORT],HOST[:PORT],.../MASTER[/DB], with");
	refuse_url("redis+sentinel://s1:0,s2/m", "port");
	refuse_url("redis+sentinel://s1,s2/m/x", "database");
	refuse_url("redis+sentinel://s1,s2/m/1?db=2", "twice");
	refuse_url("redis+sentinel://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q/m", "more than 16 hosts");
	refuse_url("redis+sentinel://s1/m?sentinel-user=" SECRET, "sentinel-password-file=FILE");
	refuse_url("redis://h?sentinel-user=" SECRET, "are for Sentinels");
	refuse_url("redis+sentinel://s1/m?ca=" SECRET, "are for TLS");
	refuse_url("redis+sentry://s1/m", "begins with");
	refuse_url("redis+sentinel://s1/m?sentinel-usr=" SECRET,
		   "did you mean sentinel-user=NAME?");
	refuse_url("redis+sentinel://s1/m?x=" SECRET,
		   "replicas=N, sentinel-user=NAME, sentinel-password-file=FILE, joined by &");
	refuse_url("redis://s1,s2", "lists hosts, but redis:// takes one: use redis+cluster://");
	refuse_url("redis://u:" SECRET "@s1:1,s2:2/m",
		   "or redis+sentinel://HOST,HOST/MASTER; write");
}

static void check_cluster(const char *url, bool tls, const char *parts, const char *name)
{
	struct alloc alloc = alloc_default();
	char message[DW_MESSAGE_SIZE] = "", found[256] = "";
	struct redis_url parsed;
	size_t size = 0;

	if (redis_url_read(&parsed, url, &alloc, message) != DW_OK)
		fail_msg("%s: %s", url, message);
	assert_int_equal(parsed.kind, REDIS_CLUSTER);
	assert_null(parsed.host);
	assert_null(parsed.master);
	assert_int_equal(parsed.tls, tls);
	for (unsigned i = 0; i < parsed.host_count; i++)
		size += (size_t)snprintf(found + size, sizeof found - size, "%s %s ",
					 parsed.hosts[i].host, parsed.hosts[i].port);
	assert_string_equal(found, parts);
	assert_string_equal(parsed.name, name);
	assert_int_equal(redis_url_aim(&parsed, "n9", "77", &alloc), DW_OK);
	assert_string_equal(parsed.server,
			    tls ? "rediss://n9:77/0 (cluster)" : "redis://n9:77/0 (cluster)");
	redis_url_free(&parsed, &alloc);
}

static void nodes_of_a_cluster_are_named(void **state)
{
	(void)state;
	check_cluster("redis+cluster://n1", false, "n1 6379 ", "redis+cluster://n1:6379");
	check_cluster("Valkey+Cluster://u:p@n1:7,[::1]", false, "n1 7 ::1 6379 ",
		      "redis+cluster://n1:7,[::1]:6379");
	check_cluster("redis+cluster://n1,n2/?db=0", false, "n1 6379 n2 6379 ",
		      "redis+cluster://n1:6379,n2:6379");
	if (DW_WITH_TLS) {
		check_cluster("rediss+cluster://n1,n2:8?sni=redis.example", true, "n1 6379 n2 8 ",
			      "rediss+cluster://n1:6379,n2:8");
		check_cluster("valkeys+cluster://n1", true, "n1 6379 ", "rediss+cluster://n1:6379");
	}
}

static void cluster_is_refused_in_words(void **state)
{
	(void)state;
	refuse_url("redis+cluster://",
		   "names no host: redis+cluster://HOST[:PORT],HOST[:PORT],..., with @ / ? :");
	refuse_url("redis+cluster://n1?x=" SECRET, "write password-file=FILE, joined by &");
	refuse_url("redis+cluster://n1,,n2", "list of hosts is empty");
	refuse_url("redis+cluster://n1:7000,me:" SECRET "@n2", "a user behind a host");
	refuse_url("redis+cluster://me:a,b@n1,n2", "a comma in them as %2C");
	refuse_url("redis+cluster://n1:0", "port");
	refuse_url("redis+cluster://n1/3", "only the database 0");
	refuse_url("redis+cluster://n1?db=1", "only the database 0");
	refuse_url("redis+cluster://n1?ca=" SECRET, "are for TLS");
	refuse_url("redis+cluster://n1?sentinel-user=" SECRET, "are for Sentinels");
	refuse_url("redis+cluster://n1?replicas=1", "replicas=N is for one server");
	refuse_url("redis+cluster://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", "more than 16 hosts");
	refuse_url("redis+clusters://n1", "begins with");
}

/* ---- The password from elsewhere ----------------------------------------------------------- */

static void write_file(const char *path, const void *text, size_t size, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), (ssize_t)size);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(close(fd), 0);
}

static void file_with_a_password_is_read(void **state)
{
	char folder[TEMP_SIZE], path[TEMP_SIZE], url[2 * TEMP_SIZE];
	struct redis_case wanted = {url, "h", "6379", NULL, "me", SECRET, 0, "redis://h:6379/0"};

	(void)state;
	temp_make(folder);
	write_file(temp_file(path, folder, "a&b"), SECRET "\n", 8, 0600);
	(void)snprintf(url, sizeof url, "redis://me@h?password-file=%s/a%%26b", folder);
	check_case(&wanted);
	write_file(path, SECRET "\n\n", 9, 0400);
	wanted.password = SECRET "\n";
	check_case(&wanted);
	temp_remove(folder);
}

static void file_that_is_no_secret_is_refused(void **state)
{
	char folder[TEMP_SIZE], path[TEMP_SIZE], url[2 * TEMP_SIZE];
	char large[5000];

	(void)state;
	memset(large, 'x', sizeof large);
	temp_make(folder);
	(void)snprintf(url, sizeof url, "redis://h?password-file=%s",
		       temp_file(path, folder, "file"));
	refuse_url(url, "cannot be opened");
	write_file(path, SECRET, 7, 0640);
	refuse_url(url, "chmod 600");
	write_file(path, SECRET, 7, 0604);
	refuse_url(url, "chmod 600");
	write_file(path, "\n", 1, 0600);
	refuse_url(url, "is empty");
	write_file(path, SECRET "\0x", 9, 0600);
	refuse_url(url, "NUL");
	write_file(path, large, sizeof large, 0600);
	refuse_url(url, "longer than 4095");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	refuse_url(url, "not a regular file");
	(void)snprintf(url, sizeof url, "redis://h?password-file=%s", folder);
	refuse_url(url, "not a regular file");
	temp_remove(folder);
}

static void environment_with_a_password_comes_last(void **state)
{
	struct redis_case wanted = {"redis://me@h",    "h", "6379", NULL, "me", "from outside", 0,
				    "redis://h:6379/0"};

	(void)state;
	assert_int_equal(setenv("DURAWHEEL_REDIS_PASSWORD", "from outside", 1), 0);
	check_case(&wanted);
	wanted.url = "redis://me:in@h";
	wanted.password = "in";
	check_case(&wanted);
	assert_int_equal(unsetenv("DURAWHEEL_REDIS_PASSWORD"), 0);
}

static void read_without_memory_says_so(void **state)
{
	struct shortage shortage = SHORTAGE_NONE;
	struct alloc alloc = {.resize = shortage_resize, .user = &shortage};
	char message[DW_MESSAGE_SIZE];
	int status = DW_ENOMEM;

	(void)state;
	for (size_t nth = 1; status != DW_OK; nth++) {
		struct redis_url parsed;

		shortage_begin(&shortage, nth, false);
		status = redis_url_read(&parsed,
					DW_WITH_TLS ? "rediss://me:pw@h:1/2?ca=a&cert=b&key=c&sni=d"
						    : "redis://me:pw@h",
					&alloc, message);
		shortage_end(&shortage);
		if (status == DW_OK)
			redis_url_free(&parsed, &alloc);
		else
			assert_int_equal(status, DW_ENOMEM);
		assert_int_equal(shortage.blocks, 0);
		assert_true(nth < 15);
	}
}

/* Random URLs of the grammar's characters never crash, and never tell a password. */
static void read_of_random_urls_stays_sane(void **state)
{
	static const char alphabet[] = "ab:@/?[]%&=01.-db";
	static const char *const heads[] = {"redis://",
					    "unix://",
					    "redis://u:" SECRET,
					    "unix:///",
					    "rediss://u:" SECRET,
					    "redis+sentinel://s,",
					    "redis+sentinel://s,t/m"};
	struct alloc alloc = alloc_default();
	struct rng rng = seed_of_test();

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct redis_url parsed;
		char message[DW_MESSAGE_SIZE] = "";
		char url[64];
		size_t size = (size_t)snprintf(url, sizeof url, "%s", heads[rng_below(&rng, 7)]);
		size_t end = size + rng_below(&rng, 24);

		while (size < end)
			url[size++] = alphabet[rng_below(&rng, sizeof alphabet - 1)];
		url[size] = '\0';
		if (redis_url_read(&parsed, url, &alloc, message) == DW_OK) {
			assert_true(parsed.path || parsed.master || (parsed.host && parsed.port));
			redis_url_free(&parsed, &alloc);
		}
		assert_null(strstr(message, SECRET));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(read_of_good_urls_gives_their_parts),
	    cmocka_unit_test(read_of_bad_urls_says_what_is_wrong),
	    cmocka_unit_test(near_options_are_offered),
	    cmocka_unit_test(tls_has_options_of_its_own),
	    cmocka_unit_test(sentinels_name_the_server),
	    cmocka_unit_test(name_of_many_hosts_has_whole_ones),
	    cmocka_unit_test(sentinels_are_refused_in_words),
	    cmocka_unit_test(nodes_of_a_cluster_are_named),
	    cmocka_unit_test(cluster_is_refused_in_words),
	    cmocka_unit_test(file_with_a_password_is_read),
	    cmocka_unit_test(file_that_is_no_secret_is_refused),
	    cmocka_unit_test(environment_with_a_password_comes_last),
	    cmocka_unit_test(read_without_memory_says_so),
	    cmocka_unit_test(read_of_random_urls_stays_sane),
	};

	(void)unsetenv("DURAWHEEL_REDIS_PASSWORD"); /* not this test's */
	(void)unsetenv("DURAWHEEL_SENTINEL_PASSWORD");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
