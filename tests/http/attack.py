#!/usr/bin/env python3
"""tests/http/attack.py BUILD_DIR [NAME...]: the web server from outside, over raw sockets. Each
function test_* is a case in a store of its own. Prints what became of each attack; exit 1 if a case
failed."""
import os
import random
import re
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.parse

from place import Answer, Server, await_that, of_idle, run_cases

PATHS = ["/metrics", "/healthz", "/readyz", "/api/v1/status", "/api/v1/topics",
         "/api/v1/timers", "/api/v1/timers/mail:000", "/api/v1/dead",
         "/", "/topics", "/timers", "/dead", "/icon.svg", "/schedules", "/api/v1/schedules"]
ANY = ("--http", "127.0.0.1:0")
TOKEN = "t0ken-of-more-than-thirty-two-characters"


def statuses(answers):
    return " ".join(sorted({str(answer.status) for answer in answers}))


def refused(answers, *allowed):
    for answer in answers:
        assert answer.status in allowed, "%d %r" % (answer.status, answer.body[:200])
    return "%d requests: %s" % (len(answers), statuses(answers))


# ---- What it shows ---------------------------------------------------------------------------


def test_answers_are_those_of_the_command(place):
    place.add(5)
    place.owner("--topic", "nothing")
    server = Server(place, *ANY)

    def same():
        mine, its = place.json("stats")[0], server.get("/api/v1/status").json()
        return mine == its
    await_that(same, "status as stats --json")
    await_that(lambda: {"topics": place.json("topic", "list")} ==
               server.get("/api/v1/topics").json(), "topics as topic list --json")
    timers = server.get("/api/v1/timers").json()["timers"]
    for its, mine in zip(timers, place.json("list"), strict=True):
        assert its.pop("size") == len(mine.pop("data"))
        assert its.items() >= mine.items()
    one = server.get("/api/v1/timers/mail:003").json()
    mine = place.json("show", "mail:003")[0]
    assert one.pop("size") == len(mine.pop("data"))
    assert one.pop("waiting") == place.json("why", "mail:003")[0]["waiting"] and one == mine


def test_pages_have_every_timer_once(place):
    place.add(23)
    place.add(4, topic="order")
    server = Server(place, *ANY)
    got, after = [], ""
    while after is not None:
        page = server.get("/api/v1/timers?topic=mail&limit=5" + after).json()
        got += [timer["id"] for timer in page["timers"]]
        after = page["next"] and "&after=" + page["next"]
    assert got == ["mail:%03d" % i for i in range(23)], got


def test_data_is_hidden(place):
    place.add(1)
    server = Server(place, *ANY)
    for path in PATHS:
        assert b"secret" not in server.ask(path).body, path
    shown = Server(place, *ANY, "--show-data").get("/api/v1/timers/mail:000").json()
    assert shown["data"] == "secret data"


def test_owner_is_missed_within_5_s(place):
    owner = place.owner()
    server = Server(place, *ANY)
    await_that(lambda: server.ask("/readyz").status == 200, "ready")
    owner.end(signal.SIGKILL)
    began = time.monotonic()
    await_that(lambda: server.ask("/readyz").status == 503, "not ready")
    assert b"no owner" in server.ask("/readyz").body
    assert b"durawheel_owner 0\n" in server.get("/metrics").body
    return "503 after %.1f s" % (time.monotonic() - began)


def seconds_until(is_so, words):
    began = time.monotonic()
    await_that(is_so, words)
    return time.monotonic() - began


def check_metrics_away(owner, beside):
    """While the store is away, an owner shows what it knows, and others that they know nothing."""
    own, other = owner.get("/metrics").body, beside.get("/metrics").body
    for line in (b"durawheel_store_up 0\n", b'durawheel_timers{topic="mail",state="pending"} 3\n',
                 b"durawheel_put_total 0\n"):
        assert line in own, own
    assert re.search(rb"\ndurawheel_owner [01]\n", own), own
    assert re.search(rb"\ndurawheel_store_failures_total [1-9]", own), own
    lines = [line for line in other.splitlines() if not line.startswith(b"#")]
    assert len(lines) == 2 and lines[0].startswith(b"durawheel_build_info{"), lines
    assert lines[1] == b"durawheel_store_up 0", lines


def test_redis_that_refuses_changes_can_be_read(place):
    place.use_redis()
    place.add(3)
    owner, beside = Server(place, *ANY, command="run"), Server(place, *ANY)

    def refuses(how):
        subprocess.run(["redis-cli", "-s", os.path.join(place.folder, "redis"), "CONFIG", "SET",
                        "min-replicas-to-write", how], check=True, stdout=subprocess.DEVNULL)
    refuses("1")
    for server in owner, beside:
        await_that(lambda: b"NOREPLICAS" in server.ask("/").body and
                   len(server.ask("/api/v1/timers").json().get("timers", [])) == 3, "timers")
        await_that(lambda: b">The store can be read, but fails every change<" in
                   server.get("/timers").body, "the banner")
        await_that(lambda: server.ask("/readyz").status == 503, "not ready")
        assert server.get("/api/v1/timers/mail:001").json()["topic"] == "mail"
        await_that(lambda: b"\ndurawheel_store_up 1\n" in server.get("/metrics").body, "up")
    await_that(lambda: b"fails every change: " in beside.ask("/readyz").body, "its words")
    assert b"/" not in beside.ask("/readyz").body
    refuses("0")
    for server in owner, beside:
        await_that(lambda: server.ask("/readyz").status == 200 and
                   b">Firing<" in server.get("/").body, "firing")
    place.processes[0].child.kill()  # Redis; what was known of the other outage counts no more
    await_that(lambda: b">The store does not answer<" in beside.ask("/").body, "away")
    for server in beside, owner:
        await_that(lambda: b"\ndurawheel_store_up 0\n" in server.get("/metrics").body, "down")


def test_redis_that_is_gone_leaves_metrics(place):
    """The owner, a standby and serve, when Redis is killed and comes back."""
    place.use_redis()
    redis = place.processes[-1].child
    place.add(3)
    owner = Server(place, *ANY, command="run")
    standby, beside = Server(place, "--standby", *ANY, command="run"), Server(place, *ANY)
    for server in owner, standby, beside:
        await_that(lambda: b"durawheel_store_up 1\n" in server.get("/metrics").body and
                   b"durawheel_owner 1\n" in server.get("/metrics").body, "up")
    redis.kill()
    redis.wait()
    for server in owner, standby, beside:
        await_that(lambda: b"durawheel_store_up 0\n" in server.get("/metrics").body, "away")
    check_metrics_away(owner, beside)
    check_metrics_away(owner, standby)


def test_redis_that_is_gone_with_a_journal(place):
    place.use_redis()
    owner = Server(place, *ANY, "--journal", os.path.join(place.folder, "journal"), command="run")
    await_that(lambda: b"durawheel_store_up 1\n" in owner.get("/metrics").body, "up")
    place.processes[0].child.kill()
    await_that(lambda: b"durawheel_store_up 0\n" in owner.get("/metrics").body, "away")
    assert b"\ndurawheel_journal_rows 0\n" in owner.get("/metrics").body


def command_redis(place, *words):
    subprocess.run(["redis-cli", "-s", os.path.join(place.folder, "redis"), *words], check=True,
                   stdout=subprocess.DEVNULL)


def test_redis_shard_that_cannot_be_used_with_a_journal(place):
    """The store is there, so the page of an owner with a journal shows it. This owner has learnt
    of the shard when it opens the page."""
    place.use_redis()
    place.add(3)
    place.run("run", "--until-idle", "--topic", "nothing")
    command_redis(place, "RENAME", "{shop:05}:m", "kept")
    command_redis(place, "SET", "{shop:05}:m", "another program's")
    owner = Server(place, *ANY, "--journal", os.path.join(place.folder, "journal"), command="run")
    await_that(lambda: b"(shard 5)" in owner.ask("/readyz").body, "it cannot be used")
    await_that(lambda: owner.ask("/api/v1/status").status == 200, "the status")
    assert owner.ask("/").status == 200
    command_redis(place, "RENAME", "kept", "{shop:05}:m")
    await_that(lambda: owner.ask("/readyz").status == 200, "it is back")


def allow(place, user, *refused):
    """Lets a user of Redis use all keys but those of these shards."""
    keys = ["~{shop:%02d}:*" % shard for shard in range(16) if shard not in refused]
    command_redis(place, "ACL", "SETUSER", user, "on", ">secret", "&*", "+@all", "resetkeys",
                  "~{shop}:*", *keys)


def shards(server, state):
    found = re.search(rb'\ndurawheel_shards\{state="%s"\} (\d+)\n' % state,
                      server.get("/metrics").body)
    return int(found.group(1)) if found else None


def test_redis_shards_that_only_the_owner_cannot_use(place):
    """A process beside the owner, which may use all, says what the owner has reported."""
    place.use_redis()
    place.add(3)
    allow(place, "boss")
    everybody = place.store
    place.environment["DURAWHEEL_STORE"] = everybody.replace("unix://", "unix://boss:secret@")
    owner = Server(place, *ANY, command="run")
    place.environment["DURAWHEEL_STORE"] = everybody
    beside = Server(place, *ANY)
    await_that(lambda: beside.ask("/readyz").body == b"ready\n", "ready")
    assert b">Firing<" in beside.get("/").body
    for server in owner, beside:
        await_that(lambda: shards(server, b"owned") == 16, "all are owned")
    allow(place, "boss", 5, 11)
    await_that(lambda: beside.ask("/readyz").status == 503, "refused")
    words = b"shards 5, 11 of 16 cannot be used: their timers wait"
    assert beside.ask("/readyz").body == words + b"\n", beside.ask("/readyz").body
    for server in owner, beside:
        await_that(lambda: b">Firing, but " + words in server.get("/").body, "the banner")
        page = server.get("/").body.decode()
        assert re.search(r"Shard 5, since [^<]*<.{0,200}: the server refuses {shop:05}: NOPERM ",
                         page, re.DOTALL), page
        await_that(lambda: [shards(server, state) for state in (b"owned", b"refused", b"free")] ==
                   [14, 2, 0], "the metrics")
    assert owner.ask("/readyz").status == 503
    report = beside.get("/api/v1/status").json()["owner_report"]
    assert [shard["shard"] for shard in report["refused"]] == [5, 11], report
    allow(place, "boss")
    for server in owner, beside:
        await_that(lambda: server.ask("/readyz").status == 200, "all fire")
    await_that(lambda: b">Firing<" in beside.get("/").body and shards(beside, b"owned") == 16,
               "all are owned again")


def test_redis_that_stops_is_told_within_5_s(place):
    """A server that is stopped, one that goes on, and an owner that was killed: each is told within
    5 s, and while the server is stopped nobody waits for its answer."""
    place.use_redis()
    redis = place.processes[-1].child
    place.add(3)
    owner, beside = Server(place, *ANY, command="run"), Server(place, *ANY)
    took = []
    for server in owner, beside:
        await_that(lambda: server.ask("/readyz").body == b"ready\n", "ready")
    redis.send_signal(signal.SIGSTOP)
    try:
        for server in owner, beside:
            began = time.monotonic()
            server.ask("/api/v1/dead") # a list that is under way when the outage is seen
            took.append(time.monotonic() - began)
            took.append(seconds_until(lambda: server.ask("/readyz").status == 503, "stopped"))
            began = time.monotonic()
            for path in ("/readyz", "/api/v1/status", "/api/v1/timers/mail:001",
                         "/api/v1/timers", "/"):
                answer = server.ask(path)
                assert answer.status == 503, (path, answer.status)
                assert b"does not answer" in answer.body or path == "/readyz", answer.body
            assert server.get("/healthz").body == b"ok\n"
            took.append(time.monotonic() - began)
        check_metrics_away(owner, beside)
    finally:
        redis.send_signal(signal.SIGCONT)
    for server in owner, beside:
        took.append(seconds_until(lambda: server.ask("/readyz").status == 200, "it goes on"))
        took.append(seconds_until(lambda: b"durawheel_store_up 1\n" in
                                  server.get("/metrics").body, "up"))
        for path in "/api/v1/timers/mail:001", "/api/v1/timers", "/api/v1/dead":
            took.append(seconds_until(lambda: server.ask(path).status == 200, path))
    owner.process.end(signal.SIGKILL)
    took.append(seconds_until(lambda: beside.ask("/readyz").status == 503, "killed"))
    took.append(seconds_until(lambda: b"durawheel_owner 0\n" in beside.get("/metrics").body, "0"))
    owner = Server(place, *ANY, command="run")
    took.append(seconds_until(lambda: beside.ask("/readyz").status == 200, "another owner"))
    took.append(seconds_until(lambda: b"durawheel_owner 1\n" in beside.get("/metrics").body, "1"))
    assert max(took) <= 5, took
    return " ".join("%.1f" % one for one in took) + " s"


def test_owner_and_standby_show_themselves(place):
    place.add(3)
    owner = Server(place, *ANY, command="run")
    await_that(lambda: owner.ask("/readyz").body == b"ready\n", "ready")
    standby = Server(place, "--standby", *ANY, command="run")
    words = "standby: waits for the store of %s\n" % place.json("stats")[0]["owner"]
    assert ", pid %d, " % owner.process.child.pid in words, words
    await_that(lambda: standby.ask("/readyz").body == words.encode(), words)
    assert standby.get("/healthz").body == b"ok, standby\n"
    assert owner.get("/healthz").body == b"ok\n"
    assert b"This process is a standby: it waits for the store" in standby.get("/").body
    assert b"This process is a standby" not in owner.get("/").body
    for server in owner, standby:
        await_that(lambda: b'durawheel_timers{topic="mail",state="pending"} 3\n' in
                   server.get("/metrics").body, "metrics")
    assert owner.process.end() == 0
    await_that(lambda: standby.ask("/readyz").body == b"ready\n", "took over")


def test_many_who_look_are_one_query(place):
    place.owner("--topic", "nothing")
    server = Server(place, *ANY)
    seen, asked, end = set(), 0, time.monotonic() + 3
    while time.monotonic() < end:
        place.run("add", "--topic", "t", "--in", "1h")
        for _ in range(20):
            seen.add(server.get("/api/v1/status").json()["pending"])
            asked += 1
    seconds = time.monotonic() - end + 3
    assert len(seen) <= seconds + 2, "%d values in %.1f s" % (len(seen), seconds)
    added = len(place.json("list"))  # on a busy machine one takes longer than an answer lives
    assert added > len(seen) or added < 2 * seconds, "nothing changed meanwhile"
    return "%d requests in %.1f s: %d answers of the store" % (asked, seconds, len(seen))


# ---- Attacks ---------------------------------------------------------------------------------


def test_methods(place):
    server = Server(place, *ANY)
    methods = ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW", "get"]
    answers = [server.ask(path, method) for path in PATHS + ["/x"] for method in methods]
    for answer in answers:
        assert answer.status == 405 and answer.headers["Allow"] == "GET, HEAD", answer.status
    return refused(answers, 405)


def test_head_has_no_body(place):
    place.add(1)
    server = Server(place, *ANY)
    for path in PATHS:
        head, get = server.ask(path, "HEAD"), server.ask(path)
        assert head.status == get.status and not head.rest
        assert head.headers["Content-Type"] == get.headers["Content-Type"]


def test_paths(place):
    server = Server(place, *ANY)
    paths = ["/x", "//metrics", "/metrics/", "/METRICS", "/metrics%00", "/metrics%2f",
             "/..%2f..%2fetc/passwd", "/../metrics", "/api/v1/../../metrics", "/api", "/api/v1/",
             "/api/v1/timers/", "/api/v1/timers/" + 256 * "x", "/api/v1/dead/x", "/%", "/%zz",
             "/" + 15000 * "x", "/api/v1/timers/" + 5000 * "%41", "*", "metrics",
             "http://127.0.0.1/metrics"]
    return refused([server.ask(path) for path in paths], 404, 400, 414, 431)


def test_hosts(place):
    server = Server(place, *ANY, "--allow-host", "timers.example", "--allow-host",
                    " b.example  c.example:8990 ")
    port = ":%d" % server.port
    ours = [server.host, "localhost", "localhost" + port, "LOCALHOST", "127.0.0.1", "[::1]" + port,
            "timers.example", "timers.example" + port, "b.example", "b.example" + port,
            "c.example:8990"]
    for host in ours:
        assert server.ask("/metrics", host=host).status == 200, host
    theirs = ["evil.example", "evil.example" + port, "127.0.0.1.evil.example", "localhost.",
              "localhost:1", "user@localhost", "localhost,evil.example", "timers.example.evil",
              "127.0.0.2" + port, "0x7f.1", "xlocalhost", "b.example c.example", "c.example",
              "b.exampl", "b.examples", " ", "example"]
    answers = [server.ask(path, host=host) for host in theirs for path in PATHS
               if not path.endswith("z")]
    for host in theirs:  # a probe tells nothing that a page could want
        assert server.ask("/healthz", host=host).status == 200, host
        assert server.ask("/readyz", host=host).status == 503, host
    twice = server.ask("/metrics", headers=["Host: " + server.host])
    none = server.ask("/metrics", host="")
    old = server.ask("/metrics", host="", version="1.0")
    assert (twice.status, none.status, old.status) == (400, 421, 421) or none.status == 400, (
        twice.status, none.status, old.status)
    return refused(answers, 421) + ", twice %d, none %d, HTTP/1.0 %d" % (
        twice.status, none.status, old.status)


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as link:
            link.bind(("::1", 0))
        return True
    except OSError:
        return False


def test_hosts_of_other_machines(place):
    """A kubelet and Prometheus write the address of the machine. Here 127.0.0.2 plays it."""
    token = "Authorization: Bearer " + TOKEN
    file = place.file("token", TOKEN)
    places = [("0.0.0.0", "127.0.0.2", "127.0.0.3")]
    ipv6 = has_ipv6()
    if ipv6:
        places += [("[::]", "127.0.0.2", "127.0.0.3"), ("[::]", "[::1]", "[::2]")]
    for listen, own, other in places:
        server = Server(place, "--http", listen + ":0", "--token-file", file)
        server.address = own.strip("[]")
        port = ":%d" % server.port
        for host in own, own + port:
            assert server.ask("/metrics", headers=[token], host=host).status == 200, host
            assert server.ask("/metrics", host=host).status == 401, host
        for host in other, other + port, own + ":1", own + ".", "evil.example", "xx" + own:
            assert server.ask("/metrics", headers=[token], host=host).status == 421, host
            assert server.ask("/healthz", host=host).status == 200, host
    return "ok, %d addresses" % len(places) if ipv6 else "NOT TESTED: there is no IPv6 here"


def test_origins(place):
    server = Server(place, *ANY)
    assert server.ask("/metrics", headers=["Origin: http://" + server.host]).status == 200
    origins = ["http://evil.example", "null", "http://localhost:1", "file://", "",
               "http://" + server.host + ".evil.example", "ftp://" + server.host,
               "http://evil.example/" + server.host, "httpevil://" + server.host,
               "http//://" + server.host, "xhttp://" + server.host, server.host]
    return refused([server.ask(path, headers=["Origin: " + origin])
                    for origin in origins for path in PATHS], 403)


def test_two_origins(place):
    """One is this server's, and the other is not: nobody knows which of them counts."""
    server = Server(place, *ANY)
    ours = "Origin: http://" + server.host
    evil = "Origin: http://evil.example"
    pairs = [[ours, evil], [evil, ours], [ours, ours]]
    return refused([server.ask(path, headers=pair) for pair in pairs for path in PATHS], 400)


def test_fetches_of_other_sites(place):
    """A browser says which site lets it ask. Only links to the page may be followed from there."""
    server = Server(place, *ANY)
    pages = ["/", "/topics", "/timers", "/timers?id=mail:000", "/dead", "/schedules"]
    link = ["Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"]
    answers = []
    for site in "cross-site", "same-site", "", "what-comes-next":
        headers = ["Sec-Fetch-Site: " + site]
        for path in PATHS + pages:
            answers += [server.ask(path, headers=headers + more) for more in (
                [], ["Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"],
                ["Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"],
                ["Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty"])]
            followed = server.ask(path, headers=headers + link)
            if path in pages:
                assert followed.status in (200, 404), (site, path, followed.status)
            else:
                answers.append(followed)
        answers.append(server.ask("/", headers=["Sec-Fetch-Site: none"] + headers + link[:1]))
    for site in "same-origin", "none":
        for path in "/", "/metrics", "/api/v1/timers":
            assert server.ask(path, headers=["Sec-Fetch-Site: " + site]).status == 200, path
    return refused(answers, 403)


def test_token(place):
    file = place.file("token", TOKEN + "\n")
    server = Server(place, *ANY, "--token-file", file)
    wrong = [[], ["Authorization: Bearer " + TOKEN[:-1]], ["Authorization: Bearer " + TOKEN + "x"],
             ["Authorization: Bearer"], ["Authorization: Bearer "], ["Authorization: " + TOKEN],
             ["Authorization: Basic " + TOKEN], ["Authorization: Bearer " + TOKEN.upper()],
             ["X-Token: " + TOKEN]]
    closed = [path for path in PATHS if not path.endswith("z")]
    answers = [server.ask(path, headers=headers) for headers in wrong for path in closed]
    right = "Authorization: Bearer " + TOKEN
    assert server.ask("/metrics", headers=[right]).status == 200
    assert server.ask("/metrics", headers=[right, right]).status == 400
    assert server.ask("/healthz").status == 200
    for answer in answers:
        assert TOKEN.encode() not in answer.body
    return refused(answers, 401)


def test_addresses_that_need_a_token(place):
    for address in "0.0.0.0:0", "[::]:0", "192.0.2.1:80":
        assert "token-file" in place.run("serve", "--http", address, code=2)
    for size in 512, 513, 600:
        file = place.file("token", size * "x" + "\n")
        words = place.run("serve", "--http", "unix:/nowhere/s", "--token-file", file,
                          code=1 if size <= 512 else 2)
        assert ("at most 512" in words) == (size > 512), words
    for mode, text, words in [(0o644, TOKEN, "others may read"), (0o600, "short", "at least 32"),
                              (0o600, "", "at least 32")]:
        file = place.file("token", text, mode)
        assert words in place.run("serve", *ANY, "--token-file", file, code=2)
    place.run("serve", *ANY, "--token-file", "/nowhere", code=2)
    for address in "80", "example.com:80", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000", "unix:", "":
        place.run("serve", "--http", address, code=2)
    file = place.file("token", TOKEN)
    assert Server(place, "--http", "0.0.0.0:0", "--token-file", file).port


def test_long_headers(place):
    server = Server(place, *ANY)
    raw = [b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: " + 100 * 1024 * b"x" + b"\r\n\r\n",
           b"GET /metrics HTTP/1.1\r\n" + 10000 * b"X: y\r\n" + b"\r\n",
           b"GET /" + 100 * 1024 * b"x" + b" HTTP/1.1\r\nHost: x\r\n\r\n",
           b"GET /metrics?" + 20000 * b"a=b&" + b" HTTP/1.1\r\nHost: x\r\n\r\n"]
    answers = [server.send(one) for one in raw]
    server.get("/metrics")
    return refused(answers, 431, 414, 413, 400, 0)


def test_many_arguments(place):
    """They are refused at once, in words."""
    server = Server(place, *ANY)
    answers, began = [], time.monotonic()
    for count in 33, 200, 300, 500, 4000:
        answers.append(server.ask("/timers?" + count * "a=1&"))
        assert answers[-1].status == 414 and answers[-1].body == b"too many arguments\n", count
    took = time.monotonic() - began
    assert server.ask("/timers?" + 30 * "a=1&").status == 400 and took < of_idle(2), took
    return refused(answers, 414) + ", %.2f s" % took


def test_no_http(place):
    server = Server(place, *ANY)
    chance = random.Random(1)
    raw = [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", b"\r\n\r\n", b"GET\r\n\r\n",
           b"GET /metrics\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
           b"GET /metrics HTTP/1.1\r\nHost\r\n\r\n", b"GET  /metrics  HTTP/1.1\r\n\r\n"]
    raw += [bytes(chance.randrange(256) for _ in range(200)) + b"\r\n\r\n" for _ in range(20)]
    for one in raw:
        with server.connect() as link:
            link.sendall(one)
    server.get("/metrics")
    return "%d requests, and it still answers" % len(raw)


def test_bodies(place):
    server = Server(place, *ANY)
    head = ("GET /metrics HTTP/1.1\r\nHost: %s\r\n" % server.host).encode()
    raw = [head + b"Content-Length: 5\r\n\r\nhello", head + b"Content-Length: 99999999\r\n\r\n",
           head + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
           head + b"Content-Length: -1\r\n\r\n", head + b"Content-Length: 0\r\n"
           b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           head + b"Content-Length: 65537\r\n\r\n" + 65537 * b"x"]
    return refused([server.send(one) for one in raw], 400, 413)


def closed_after(link, feed=b""):
    """How long until the server ends the connection, which gets a byte each 0.5 s."""
    began = time.monotonic()
    link.settimeout(0.5)
    while time.monotonic() < began + 60:
        try:
            if not link.recv(65536):
                break
        except socket.timeout:
            pass
        except OSError:
            break
        try:
            link.sendall(feed)
        except OSError:
            break
    return time.monotonic() - began


def test_slow_request(place):
    server = Server(place, *ANY)
    with server.connect() as silent, server.connect() as half, server.connect() as slow:
        half.sendall(b"GET /metrics HTTP/1.1\r\nHost: ")
        slow.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
        times = [closed_after(slow, b"x"), closed_after(half), closed_after(silent)]
    assert times[0] < of_idle(55), times
    server.get("/metrics")
    return "a byte each 0.5 s: closed after %.0f s" % times[0]


def test_silent_connections(place):
    server = Server(place, *ANY)
    links = [server.connect() for _ in range(100)]
    began = time.monotonic()
    server.get("/healthz")  # it takes the place of one that has asked nothing
    took = time.monotonic() - began
    for link in links:
        link.close()
    server.get("/healthz")
    assert took < of_idle(3), took
    return "answered after %.1f s" % took


def test_pages_that_stay_open(place):
    """50 of them ask every second, on connections that they keep as long as they may."""
    server = Server(place, *ANY)
    raw = ("GET / HTTP/1.1\r\nHost: %s\r\n\r\n" % server.host).encode()
    links, took = [None] * 50, []
    for _ in range(7):
        began = time.monotonic()
        for i in range(50):
            links[i] = links[i] or server.connect()
            links[i].sendall(raw)
            answer = server.rest_of(links[i])
            assert answer.status == 200, (i, answer.status)
            if answer.headers.get("Connection") == "close":
                links[i].close()
                links[i] = None
        for path in "/healthz", "/metrics", "/topics":
            server.get(path)
        took.append(time.monotonic() - began)
        time.sleep(max(0, 1 - took[-1]))
    kept = 50 - links.count(None)
    assert kept > 20 and max(took) < of_idle(3), (kept, took)
    return "all are answered within %.1f s, and %d keep their connections" % (max(took), kept)


def search(server, prefix):
    link = server.connect()
    link.sendall(("GET /api/v1/timers?prefix=%s HTTP/1.1\r\nHost: %s\r\n\r\n" % (
        prefix, server.host)).encode())
    return link


def fill(place, count):
    place.run("import", lines=[{"id": "%05d" % i, "topic": "t", "in": "1h"} for i in range(count)])


def test_abandoned_searches(place):
    """Nobody waits for them, so nobody waits behind them."""
    fill(place, 50000)
    server = Server(place, *ANY)
    links = [search(server, "x%d" % i) for i in range(90)]
    time.sleep(0.02)
    for link in links:
        link.close()
    took = []
    for path in "/healthz", "/metrics", "/api/v1/status", "/api/v1/timers/00001":
        began = time.monotonic()
        server.get(path)
        took.append(time.monotonic() - began)
    assert max(took) < of_idle(5), took
    return " ".join("%.1f" % one for one in took) + " s"


def test_searches_wait_in_a_short_line(place):
    """Of many different searches a few wait, and the others are told to come again. Whoever wants
    one timer, or whether all is well, waits for none of them."""
    fill(place, 50000)
    server = Server(place, *ANY)
    links = [search(server, "x%d" % i) for i in range(30)]
    began = time.monotonic()
    server.get("/api/v1/timers/00001")
    for path in "/healthz", "/metrics", "/":
        server.get(path)
    took = time.monotonic() - began
    answers = [server.rest_of(link) for link in links]
    # A search that waits may be answered 503, too: on a slow machine it takes too long.
    busy = [answer for answer in answers
            if answer.status == 503 and "too many" in answer.json()["error"]]
    assert len(busy) > 10 and took < of_idle(2), (statuses(answers), len(busy), took)
    for answer in busy:
        assert answer.headers["Retry-After"] == "5", answer.headers
    return refused(answers, 200, 503) + ", one timer after %.1f s" % took


def test_busy_server_answers_probes(place):
    """All places but the last ones wait for a search."""
    fill(place, 50000)
    server = Server(place, *ANY)
    links = [search(server, "x%d" % i) for i in range(9)]
    time.sleep(0.1)
    links += [search(server, "x8") for _ in range(27)]
    began = time.monotonic()
    busy = server.ask("/api/v1/status")
    for path in "/healthz", "/metrics":
        server.get(path)
    assert b"no owner" in server.ask("/readyz").body
    took = time.monotonic() - began
    assert busy.status == 503 and b"too many requests" in busy.body, (busy.status, busy.body)
    assert took < of_idle(2), took
    return refused([server.rest_of(link) for link in links], 200, 503) + ", probes %.1f s" % took


def test_pipelining(place):
    place.add(3)
    server = Server(place, *ANY)
    raw = b""
    for i in range(30):
        raw += ("GET /api/v1/timers/mail:%03d HTTP/1.1\r\nHost: %s\r\n\r\n" % (
            i % 3, server.host)).encode()
    got, ids = b"", []
    with server.connect() as link:
        link.sendall(raw)
        while len(ids) < 30:
            more = link.recv(65536)
            assert more, "closed after %d answers" % len(ids)
            got += more
            while b"\r\n\r\n" in got and Answer(got).is_whole:
                answer = Answer(got)
                ids.append(answer.json()["id"])
                got = answer.rest
    assert ids == ["mail:%03d" % (i % 3) for i in range(30)], ids
    return "30 answers in their order"


def test_target_in_absolute_form(place):
    place.add(3)
    server = Server(place, *ANY)
    for target, status in (("http://%s/api/v1/timers/mail:001" % server.host, b"200"),
                           ("http://%s" % server.host, b"200"),
                           ("HTTP://%s/healthz" % server.host, b"200"),
                           ("HTTP://other.example/api/v1/timers", b"404"),
                           ("http://other.example/api/v1/timers", b"404"),
                           ("http://%sx/api/v1/timers" % server.host, b"404"),
                           ("http://", b"404")):
        with server.connect() as link:
            link.sendall(("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % (
                target, server.host)).encode())
            assert link.recv(65536).split(b" ")[1] == status, target


def test_queries(place):
    place.add(3)
    server = Server(place, *ANY)
    wrong = ["limit=0", "limit=1001", "limit=-1", "limit=1e3", "limit=", "limit", "limit=%31%30x",
             "limit=99999999999999999999999", "limit=1&limit=2", "after=", "after=1", "after=1.",
             "after=.1", "after=1.2.3", "after=--1.2", "after=-.2", "after=9223372036854775808.1",
             "after=1.18446744073709551616", "topic=", "topic=" + 256 * "x", 
             "topic=a&topic=b", "topic=%ff", "topic=%c3", "skip=1", "prefix=a&prefix=b", "x=y", "Limit=1", "%6cimits=1"]
    answers = [server.ask(path + "?" + query) for query in wrong
               for path in ("/api/v1/timers", "/api/v1/dead")]
    answers += [server.ask(path + "?limit=1") for path in PATHS
                if path not in ("/api/v1/timers", "/api/v1/dead", "/api/v1/schedules")]
    answers += [server.ask("/api/v1/timers?prefix=" + prefix) for prefix in ("", "%ff", 256 * "x")]
    answers += [server.ask("/api/v1/schedules?" + query) for query in (
        "limit=101", "limit=0", "skip=-1", "skip=10001", "skip=1&skip=2", "topic=a", "after=1.1")]
    for query in "limit=1000", "after=9223372036854775807.18446744073709551615", "topic=%22%3c", "prefix=%22", "topic=mail&prefix=mail", "":
        assert server.ask("/api/v1/timers?" + query).status == 200, query
    return refused(answers, 400)


def test_fuzzed_queries(place):
    place.add(3)
    server = Server(place, *ANY)
    seed = int(os.environ.get("DW_SEED", "1"))
    chance = random.Random(seed)
    parts = ["topic", "limit", "after", "skip", "prefix", "id", "=", "&", "%", "%00", "%2", "?", "#", "+", "1", "99", ".",
             "-", "mail", "é", "%c3%a9", "\x7f", ";", "[]", "'", "\"", "<", "/", "\\"]
    count = 400
    found = set()
    for _ in range(count):
        path = chance.choice(PATHS[5:] + ["/api/v1/timers/"])
        query = "".join(chance.choice(parts) for _ in range(chance.randrange(12)))
        answer = server.ask(path + chance.choice("?/&") + query)
        assert answer.status in (200, 400, 404), "seed %d, %s?%s: %d" % (
            seed, path, query, answer.status)
        if answer.headers.get("Content-Type") == "application/json":
            answer.json()
        found.add(answer.status)
    return "%d queries of seed %d: %s" % (count, seed, sorted(found))


def test_hostile_ids(place):
    ids = ["<img src=x onerror=alert(1)>", "a\"b'c`d", "../../etc/passwd", "a/b?c#d&e=f%41",
           "\u202eright to left", "\u00e9\u4e2d\U0001f600", 255 * "x", " ", "+", "%00", "\\", "*"]
    place.run("import", lines=[{"id": one, "topic": "t" + one[:20], "in": "1h", "data": one}
                               for one in ids])
    server = Server(place, *ANY, "--show-data")
    for one in ids:
        timer = server.get("/api/v1/timers/" + urllib.parse.quote(one, safe="")).json()
        assert timer["id"] == one and timer["data"] == one, one
    assert sorted(timer["id"] for timer in server.get("/api/v1/timers").json()["timers"]) == sorted(ids)
    return "%d ids, each found by its own path" % len(ids)


# ---- The socket ------------------------------------------------------------------------------


def test_unix_socket(place):
    path = os.path.join(place.folder, "s")
    server = Server(place, "--http", "unix:" + path)
    assert stat.S_IMODE(os.stat(path).st_mode) & 0o077 == 0
    server.get("/metrics")
    assert "Address already in use" in place.run("serve", "--http", "unix:" + path, code=1)
    server.get("/metrics")
    server.process.end(signal.SIGKILL)
    again = Server(place, "--http", "unix:" + path)
    again.get("/metrics")
    os.unlink(path)
    other = Server(place, "--http", "unix:" + path)
    assert again.process.end() == 0
    other.get("/metrics")  # its socket is left to it
    assert other.process.end() == 0 and not os.path.exists(path)
    file = place.file("kept", "text")
    place.run("serve", "--http", "unix:" + file, code=1)
    assert open(file, encoding="utf-8").read() == "text"


def test_signals_end_it(place):
    server = Server(place, *ANY)
    links = [server.connect() for _ in range(5)]
    for link in links:
        link.sendall(b"GET /metrics HTTP/1.1\r\n")
    assert server.process.end() == 0
    assert Server(place, *ANY).process.end(signal.SIGINT) == 0


if __name__ == "__main__":
    sys.exit(min(run_cases([item for item in list(globals().items())
                            if item[0].startswith("test_")], sys.argv[1], sys.argv[2:]), 1))
