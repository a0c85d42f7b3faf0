#!/usr/bin/env python3
"""tests/http/lists.py BUILD_DIR [NAME...]: what the web server lists, and how much of it: schedules,
searches, pages of at most 60 KiB, metrics. Each function test_* is a case in a store of its own.
Prints what became of each; exit 1 if a case failed."""
import html
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import urllib.parse

from place import Process, Server, await_that, run_cases

ANY = ("--http", "127.0.0.1:0")
PAGE_MAX = 60 * 1024
METRICS_MAX = 512 * 1024
RULES = {"exam.today": ("--cron", "0 8 * * mon-fri", "--zone", "Europe/London"),
         "exam.report": ("--cron", "30 7 L * ?", "--zone", "Asia/Kathmandu"),
         "sweep": ("--cron", "* * * * * *")}  # comes while a test runs


def schedules(server, query=""):
    return server.get("/api/v1/schedules" + query).json()


def test_schedules_are_those_of_the_command(place):
    place.add(3)
    for one, rule in RULES.items():
        place.run("add", "--topic", "exam", "--id", one, "--data", "secret data", *rule)
    place.run("add", "--topic", "t", "--id", "twice", "--every", "1h", "--times", "2")
    server = Server(place, *ANY)
    answer = schedules(server)
    mine = place.json("list", "--recurring")
    assert answer["whole"] and not answer["searching"] and answer["searched"] == 7, answer
    assert [one["id"] for one in answer["schedules"]] == [one["id"] for one in mine]
    for its, one in zip(answer["schedules"], mine, strict=True):
        assert its["size"] == len(one.pop("data")) and its.items() >= one.items(), (its, one)
        assert "data" not in its
        if one["id"] in RULES:
            assert its["occurrences"] == place.json("when", one["id"], "--count", "3"), its
        else:  # only its owner knows when the count is over
            assert len(its["occurrences"]) == 1, its
    assert [schedules(server, "?limit=1&skip=%d" % i)["schedules"][0]["id"] for i in range(4)] == [
        one["id"] for one in mine]
    assert schedules(server, "?limit=3")["next"] == 3
    assert schedules(server, "?limit=4")["next"] is None
    assert schedules(server, "?skip=4") == {"schedules": [], "next": None, "searched": 7,
                                            "whole": True, "searching": False}


def test_last_occurrence_is_known_once_it_is_seen(place):
    place.run("add", "--topic", "t", "--id", "often", "--every", "1s")
    server = Server(place, *ANY)
    first = schedules(server)["schedules"][0]
    assert "last" not in first, first
    place.add(1)
    again = await_that(lambda: (lambda answer: answer["searched"] == 2 and answer)(
        schedules(server)), "another search")
    assert "last" not in again["schedules"][0], again
    place.owner("--topic", "t", "--exec", "true")
    known = await_that(lambda: next((one for one in schedules(server)["schedules"]
                                     if "last" in one), None), "the last occurrence")
    assert first["occurrence"] <= known["last"] < known["occurrence"], (first, known)
    assert "<dt>Last</dt>" in server.get("/schedules").body.decode()


def test_many_timers_are_searched_in_pages(place):
    place.run("import", lines=[{"id": "%05d" % i, "topic": "t", "in": "1h"} for i in range(60000)])
    place.run("add", "--topic", "t", "--id", "rare", "--cron", "0 0 1 1 ?")
    server = Server(place, *ANY)
    seen = set()

    def search():
        answer = schedules(server)
        seen.add(answer["searched"])
        assert answer["searching"] != answer["whole"], answer
        return answer["whole"] and answer
    answer = await_that(search, "the whole search")
    assert answer["searched"] == 60001 and answer["schedules"][0]["id"] == "rare", answer
    assert all(count % 1000 == 0 or count == 60001 for count in seen), seen
    return "searched %s" % sorted(seen)


def test_prefix_finds_timers(place):
    place.run("import", lines=[{"id": one + "%03d" % i, "topic": "t%d" % (i % 2), "in": "1h"}
                               for one in ("a:", "a:b", "A:", "\u00e9:") for i in range(60)])
    server = Server(place, *ANY)
    for prefix, topic, count in ("a:", "", 120), ("a:b", "", 60), ("\u00e9", "", 60), (
            "a:b", "t1", 30), ("x", "", 0):
        query = urllib.parse.urlencode({"prefix": prefix, "limit": 500, **(
            {"topic": topic} if topic else {})})
        got = [one["id"] for one in server.get("/api/v1/timers?" + query).json()["timers"]]
        assert len(got) == count and all(one.startswith(prefix) for one in got), (prefix, got)
        query = urllib.parse.urlencode({"id": "", "prefix": prefix, "topic": topic})
        page = server.get("/timers?" + query).body.decode()
        assert page.count('scope="row"') == min(count, 100), (prefix, page)


def test_bounds_find_timers(place):
    """Bounds are read as list reads them: durations from now, and times in the zone of the page."""
    place.run("import", lines=[{"id": "t%d" % i, "topic": "t", "in": "%dh" % i} for i in range(1, 7)] +
              [{"id": "noon", "topic": "t", "at": "2100-06-01T11:00:00Z"}])
    server = Server(place, *ANY)
    for bounds, wanted in (({"due-from": "90min", "due-before": "210min"}, ["t2", "t3"]),
                           ({"due-before": "90 min"}, ["t1"]),
                           ({"due-from": "5h30m"}, ["t6", "noon"]),
                           ({"due-from": "2100-06-01 11:30"}, []),
                           ({"due-from": "2100-06-01 10:59", "due-before": "2100-06-01 11:01"}, ["noon"])):
        got = server.get("/api/v1/timers?" + urllib.parse.urlencode(bounds)).json()["timers"]
        assert [one["id"] for one in got] == wanted, (bounds, got)
        query = urllib.parse.urlencode({"id": "", "topic": "", "due-from": "", "due-before": "", **bounds})
        page = server.get("/timers?" + query).body.decode()
        assert page.count('scope="row"') == len(wanted), (bounds, page)
        for name, value in bounds.items():
            assert re.search('<input[^>]*name="%s"[^>]*value="%s"' % (name, value), page), page
    zone = {"due-from": "2100-06-01 11:59", "due-before": "2100-06-01 12:01"}
    for zone["zone"], count in ("UTC", 0), ("Europe/London", 1):
        page = server.get("/timers?" + urllib.parse.urlencode(zone)).body.decode()
        assert page.count('scope="row"') == count, (zone, page)
    for wrong in ("due-from=x", "due-from=", "due-from=2h&due-before=1h", "due-before=" + 64 * "1",
                  "due-from=1970-01-01T00:00:00Z", "due-before=1970-01-01T00:00:00Z"):
        assert server.ask("/api/v1/timers?" + wrong).status == 400, wrong


def test_pages_go_on_before_1970(place):
    place.run("import", lines=[{"id": "t%d" % i, "topic": "t", "at": "196%d-01-01T00:00:00Z" % i}
                               for i in range(3)])
    server = Server(place, *ANY)
    got, query = [], "limit=1"
    while query:
        page = server.get("/api/v1/timers?" + query).json()
        got += [one["id"] for one in page["timers"]]
        query = page["next"] and "limit=1&after=" + page["next"]
    assert got == ["t0", "t1", "t2"], got


def ends_are_those_of_show(place):
    """A timer that fired, one that was cancelled, one that died, one that is there again, and one
    that never was: the API, the page and show say the same of each."""
    place.run("topic", "set", "t", "--keep", "7d")
    for one in "fired", "dead", "gone", "again":
        place.run("add", "--topic", "t", "--id", one, "--in", "0", "--data", "secret data")
    place.run("cancel", "gone")
    place.run("run", "--topic", "t", "--until-idle", "--exec",
              "[ $DW_ID != dead ] || { echo 'card refused' >&2; exit 100; }")
    place.run("add", "--topic", "t", "--id", "again", "--in", "1h")
    server = Server(place, *ANY)
    for one, state in ("fired", "done"), ("dead", "dead"), ("gone", "cancelled"):
        shown = json.loads(place.run("show", "--json", one, code=3, output=True))
        assert shown.pop("why", "").endswith("card refused") == (one == "dead"), shown
        got = server.get("/api/v1/timers/" + one).json()
        assert got == {**shown, "state": state} and got["end"] == state, (got, shown)
        page = server.get("/timers?id=" + one).body.decode()
        assert "<dt>State</dt><dd><bdi>%s</bdi>" % state in page, page
        assert "<dt>By</dt><dd><bdi>%s</bdi>" % got["by"] in page, page
        assert ("never started" in page) == (state == "cancelled"), page
        assert ("<dt>Late</dt>" in page) == (state != "cancelled"), page
        assert ("durawheel dead requeue %s<" % one in page) == (state == "dead"), page
        assert "secret" not in page
    with_data = Server(place, *ANY, "--show-data")
    assert "exit status 100: card refused" in with_data.get("/timers?id=dead").body.decode()
    got = server.get("/api/v1/timers/again").json()
    assert got["state"] == "pending" and got["ended"]["end"] == "done", got
    assert "The end of an earlier timer" in server.get("/timers?id=again").body.decode()
    answer, page = server.ask("/api/v1/timers/never"), server.ask("/timers?id=never")
    assert answer.status == page.status == 404, (answer.status, page.status)
    words = "never: " + answer.json()["error"]
    common = words.partition(";")[0]  # the command also knows which topics keep ends
    assert common in place.run("show", "never", code=3), words
    for text in words, page.body.decode():
        assert "it never was, or its end is not kept" in text, text
        assert "durawheel topic set TOPIC --keep 7d" in text, text


def letters_are_those_of_show(place):
    """A timer that died and whose end is not kept: the API, the page and show find its letter."""
    place.run("add", "--topic", "t", "--id", "card", "--in", "0", "--data", "secret data")
    place.run("run", "--topic", "t", "--until-idle", "--exec", "echo 'card refused' >&2; exit 100")
    shown = json.loads(place.run("show", "--json", "card", code=3, output=True))
    assert shown.pop("data") == "secret data" and shown.pop("why").endswith("card refused"), shown
    server = Server(place, *ANY)
    got = server.get("/api/v1/timers/card").json()
    assert got == {**shown, "state": "dead"} and got["end"] == "dead", (got, shown)
    page = server.get("/timers?id=card").body.decode()
    assert "<dt>State</dt><dd><bdi>dead</bdi>" in page, page
    assert "durawheel dead requeue " in page, page
    assert "secret" not in page and "Kept until" not in page, page


def test_letters_are_those_of_show(place):
    letters_are_those_of_show(place)


def test_redis_has_the_letters_of_show(place):
    place.use_redis()
    letters_are_those_of_show(place)


def test_ends_are_those_of_show(place):
    ends_are_those_of_show(place)


def test_redis_has_the_ends_of_show(place):
    place.use_redis()
    ends_are_those_of_show(place)


def pages(server, path):
    """The rows of a list, by its links to the next page."""
    sizes, rows = [], []
    while path:
        body = server.get(path).body
        text = body.decode()
        sizes.append(len(body))
        rows += re.findall(r'<(?:th (?:scope="row" class="name"|class="name" scope="row")>|li class="schedule"><h2>)'
                           r'(?:<a href="[^"]*">)?<bdi>(.*?)</bdi>', text)
        found = re.search(r'rel="next" href="([^"]*)"', text)
        path = found and found.group(1).replace("&amp;", "&")
    return sizes, rows


def test_no_page_is_larger_than_60_kib(place):
    names = [("%03d" % i) + 252 * "\"" for i in range(130)]
    place.run("import", lines=[{"id": one, "topic": one[:63], "in": "1h", "data": 3000 * "\""}
                               for one in names])
    place.run("import", lines=[{"id": one, "topic": one[:63], "at": "2020-01-01T00:00:00Z",
                                "late_after": "1s"} for one in ("dead" + one[:251] for one in names)])
    place.owner()
    await_that(lambda: place.json("stats")[0]["dead"] == 130, "dead letters")
    for one in names[:40]:
        place.run("add", "--topic", one[:63], "--id", "r" + one[:254], "--every", "2h")
    server = Server(place, *ANY, "--show-data")
    await_that(lambda: len(server.get("/api/v1/topics").json()["topics"]) == 260, "all topics")
    largest = {}
    for path, count in ("/topics", 260), ("/timers", 170), ("/dead", 130), ("/schedules", 40):
        sizes, rows = pages(server, path)
        assert len(rows) == len(set(rows)) == count, (path, len(rows), len(set(rows)))
        largest[path] = max(sizes)
    sizes, _ = pages(server, "/timers?id=" + urllib.parse.quote(names[0]))
    largest["one timer"] = max(sizes)
    sizes, rows = pages(server, "/timers?" + urllib.parse.urlencode(
        {"prefix": names[0][:3], "topic": names[0][:63]}))
    assert len(rows) == 1, rows
    largest["/"] = len(server.get("/").body)
    assert max(largest.values()) <= PAGE_MAX, largest
    return ", ".join("%s %d" % item for item in largest.items())


def memory_kib(server):
    """The most that the process has had."""
    with open("/proc/%d/status" % server.process.child.pid, encoding="utf-8") as status:
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1))


def is_sanitized(server):
    """AddressSanitizer keeps what was freed, so its memory says nothing."""
    with open("/proc/%d/maps" % server.process.child.pid, encoding="utf-8") as maps:
        return "libasan" in maps.read()


def patient(server, path):
    """The body. A loaded machine may keep the store from answering in time."""
    answers = []
    await_that(lambda: answers.append(server.ask(path)) or answers[-1].status == 200, path)
    return answers[-1].body


def long_data_is_listed_in_parts(place):
    count, size = 700, 55800
    place.run("import", lines=[{"id": "%03d" % i, "topic": "t", "in": "1h", "data": size * "x"}
                               for i in range(count)])
    server, plain = Server(place, *ANY, "--show-data"), Server(place, *ANY)
    before = [memory_kib(one) for one in (server, plain)]
    got, after, largest = [], "", 0
    while after is not None:
        body = patient(server, "/api/v1/timers?limit=700" + after)
        largest = max(largest, len(body))
        page = json.loads(body)
        got += page["timers"]
        after = page["next"] and "&after=" + page["next"]
    assert [one["id"] for one in got] == ["%03d" % i for i in range(count)], len(got)
    assert all(one["data"] == size * "x" for one in got)
    rows = json.loads(patient(plain, "/api/v1/timers?limit=700"))["timers"]
    assert len(rows) == count and all(one["size"] == size for one in rows), len(rows)
    assert server.get("/timers").body.count(b'scope="row"') == 100
    grown = [memory_kib(one) - kib for one, kib in zip((server, plain), before)]
    assert largest < 1100 * 1024, largest
    assert max(grown) < 64 * 1024 or is_sanitized(server), grown
    return "%d KiB at most, memory grew by %s KiB" % (largest // 1024, grown)


def test_long_data_is_listed_in_parts(place):
    return long_data_is_listed_in_parts(place)


def test_redis_lists_long_data_in_parts(place):
    place.use_redis()
    return long_data_is_listed_in_parts(place)


def test_data_that_does_not_fit_is_left_out(place):
    """Of a timer alone it is told."""
    place.run("import", lines=[{"id": "%03d" % i, "topic": "t", "in": "1h", "data": size * "x"}
                               for i, size in enumerate([10] * 16 + [65000] * 100)])
    server = Server(place, *ANY, "--show-data")
    answer = server.get("/api/v1/timers?limit=1000")
    timers = answer.json()["timers"]
    bare = [one for one in timers if "data" not in one]
    assert bare and len(timers) == 116 and len(answer.body) < 1100 * 1024, len(answer.body)
    one = server.get("/api/v1/timers/" + bare[0]["id"]).json()
    assert len(one["data"]) == one["size"] == bare[0]["size"] == 65000
    return "%d of %d" % (len(bare), len(timers))


def searched(server, key, path, wanted):
    """Only this id is found. Returns how many rows each question has looked at."""
    got, after, looked = [], "", []
    while after is not None:
        page = json.loads(patient(server, path + after))
        got += page[key]
        looked.append(page["looked"])
        assert (page["looked_to"] is None) == (page["next"] is None), page
        after = page["next"] and "&after=" + page["next"]
    assert [one["id"] for one in got] == [wanted] and max(looked) <= 20000, (got, looked)
    return looked


def searches_look_at_some_thousand_timers(place):
    """A page is asked for again and again, so each question looks at few, and the next goes on."""
    count = 45000
    place.run("import", lines=[{"id": "n%05d" % i, "topic": "t", "in": "%dms" % (3600000 + i)}
                               for i in range(count)] + [{"id": "last", "topic": "t", "in": "3d"}])
    server = Server(place, *ANY)
    looked = searched(server, "timers", "/api/v1/timers?prefix=la", "last")
    assert count < sum(looked) < 2 * count and len(looked) > 2, looked
    first = patient(server, "/timers?prefix=la").decode()
    assert "Looked at " in first and "Next goes on from there" in first, first
    assert pages(server, "/timers?prefix=la")[1] == ["last"]
    assert "Looked at" not in patient(server, "/timers").decode()
    return "looked at %s" % looked


def test_searches_look_at_some_thousand_timers(place):
    return searches_look_at_some_thousand_timers(place)


def test_redis_searches_look_at_some_thousand_timers(place):
    place.use_redis()
    return searches_look_at_some_thousand_timers(place)


def test_letter_is_later_than_a_kept_end(place):
    """An id whose first timer was done and kept, and whose second one died."""
    place.run("add", "--topic", "kept", "--id", "one", "--in", "0", "--keep", "1d")
    place.run("run", "--topic", "kept", "--until-idle", "--exec", "true")
    server = Server(place, *ANY)
    assert server.get("/api/v1/timers/one").json()["end"] == "done"
    place.run("add", "--topic", "late", "--id", "one", "--at", "2020-01-01T00:00:00Z",
              "--late-after", "1s")
    place.run("run", "--topic", "late", "--until-idle", "--exec", "true")
    server = Server(place, *ANY)
    got = server.get("/api/v1/timers/one").json()
    shown = json.loads(place.run("show", "--json", "one", code=3, output=True))
    assert got["state"] == got["end"] == shown["end"] == "dead" and got["topic"] == "late", (got, shown)
    assert "<dt>State</dt><dd><bdi>dead</bdi>" in server.get("/timers?id=one").body.decode()


def test_searches_look_at_some_thousand_letters(place):
    """Only the last one of very many has the topic."""
    count = 40000
    place.run("import", lines=[{"id": topic, "topic": topic, "at": "2020-01-01T00:00:00Z",
                                "late_after": "1s"} for topic in ("many", "one")])
    owner = place.owner()
    await_that(lambda: place.json("stats")[0]["dead"] == 2, "dead letters")
    owner.child.terminate()
    owner.child.wait()
    store = sqlite3.connect(place.store[len("sqlite:"):])
    columns = [name for _, name, *_ in store.execute("PRAGMA table_info(dead)")][1:]
    store.execute("UPDATE dead SET number = number + %d" % count)
    store.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                  " INSERT INTO dead SELECT i, %s FROM n, dead WHERE id = 'many'" %
                  (count, ", ".join(columns)))
    store.execute("DELETE FROM dead WHERE number > %d AND id = 'many'" % count)
    store.commit()
    store.close()
    server = Server(place, *ANY)
    looked = searched(server, "letters", "/api/v1/dead?topic=one", "one")
    assert sum(looked) == count + 1, looked
    first = patient(server, "/dead?topic=one").decode()
    assert " dead letters. Next goes on from there" in first, first
    assert "everything could be delivered" not in first, first
    assert pages(server, "/dead?topic=one")[1] == ["one"]
    assert [one["id"] for one in place.json("dead", "list", "--topic", "one")] == ["one"]
    assert "dropped 1\n" == place.run("dead", "drop", "--all", "--topic", "one")
    return "looked at %s" % looked


def look_why(place, server, one, word, again=None):
    """The API and the page say the same as `durawheel why`. Returns what they say. again: a topic, in
    which the timer is added when it has ended."""
    def same():
        if again:
            place.run("add", "--new", "--topic", again, "--id", one, "--in", "0", code=None)
        told = place.run("why", one, "--json", code=None, output=True)
        if not told:
            return None
        mine = json.loads(told)["waiting"]
        got = server.get("/api/v1/timers/" + one).json()
        body = html.unescape(server.get("/timers?id=" + one).body.decode())
        shown = 'data-key="waits" data-value="%s"' % word in body
        # The API may have read the timer before it became a message, and asked why after that.
        agrees = ("waits" in got) == (word not in ("due", "retry", "message"))
        texts = mine["cause"], mine["advice"], mine["command"], mine.get("detail", "")
        return (mine["waits"] == word and got.get("waiting") == mine and shown and agrees and
                all(text in body for text in texts) and (mine, got))
    mine, got = await_that(same, one + " waits for " + word)
    assert got.get("waits", word) == word, got
    return mine


def waiting_is_that_of_why(place):
    server, plain = Server(place, *ANY, "--show-data"), Server(place, *ANY)

    def look(one, word):
        return look_why(place, server, one, word)

    place.run("add", "--topic", "mail", "--id", "coming", "--in", "1h")
    place.run("add", "--topic", "mail", "--id", "now", "--in", "0")
    look("coming", "due")
    assert "run --topic=mail" in look("now", "owner")["command"]
    place.run("cancel", "now")
    place.run("topic", "set", "mail", "--backoff", "1h")
    place.run("topic", "pause", "still")
    for topic in "mail", "other", "still":
        place.run("add", "--topic", topic, "--id", topic, "--in", "0")
    owner = Process(place, "run", "--topic", "mail", "--topic", "still",
                    "--exec", "echo card refused >&2; exit 3")
    assert look("mail", "retry")["detail"] == "exit status 3: card refused"
    hidden = plain.get("/api/v1/timers/mail").json()["waiting"]
    assert hidden["waits"] == "retry" and "detail" not in hidden, hidden
    look("other", "handler")
    look("still", "paused")
    owner.end()


def test_waiting_is_that_of_why(place):
    waiting_is_that_of_why(place)


def test_redis_has_the_waiting_of_why(place):
    place.use_redis()
    waiting_is_that_of_why(place)


def what_runs_and_gathers_is_that_of_why(place):
    server = Server(place, *ANY)
    go = os.path.join(place.folder, "go")
    config = place.file("run.conf", "[topic mail]\njobs = 1\n"
                        "exec = sh -c 'until [ -e %s ]; do sleep 0.1; done'\n"
                        "[topic batch]\nexec = true\nbatch = 10\nwait = 10s\n" % go)
    place.run("topic", "set", "full", "--queue", "--max", "1", "--overflow", "refuse")
    for one in "mail", "full":
        for number in "12":
            place.run("add", "--topic", one, "--id", one + number, "--in", "0")
    place.run("add", "--topic", "batch", "--id", "zone", "--every", "1s", "--zone", "Mine")
    place.environment["TZDIR"] = "/nonexistent"
    owner = Process(place, "run", "--config", config)
    look_why(place, server, "mail1", "runs")
    look_why(place, server, "mail2", "workers")
    look_why(place, server, "some", "batch", "batch")
    look_why(place, server, "full2", "queue")
    look_why(place, server, "zone", "zone")
    place.file("go", "")
    owner.end()


def zone_of_its_own(place):
    """Let the command know a zone that it does not know when TZDIR changes."""
    folder = os.path.join(place.folder, "zones")
    os.mkdir(folder)
    shutil.copy("/usr/share/zoneinfo/UTC", os.path.join(folder, "Mine"))
    place.environment["TZDIR"] = folder


def test_what_runs_and_gathers_is_that_of_why(place):
    zone_of_its_own(place)
    what_runs_and_gathers_is_that_of_why(place)


def test_redis_has_what_runs_and_gathers_of_why(place):
    zone_of_its_own(place)
    place.use_redis()
    what_runs_and_gathers_is_that_of_why(place)


def message_is_that_of_why(place):
    """Of a message there is no timer, but the end of the timer that it was."""
    server = Server(place, *ANY)
    place.run("topic", "set", "jobs", "--queue", "--keep", "1d")
    for one in "job", "gone":
        place.run("add", "--topic", "jobs", "--id", one, "--in", "0")
    owner = Process(place, "run", "--topic", "other", "--exec", "true")
    mine = look_why(place, server, "job", "message")
    assert mine["command"] == "durawheel work --topic=jobs --exec CMD", mine
    look_why(place, server, "gone", "message")
    owner.end()
    token = json.loads(place.run("take", "--topic", "jobs", "--max", "1"))["token"]
    assert "1 are taken" in look_why(place, server, "job", "message")["detail"]
    place.run("ack", token)
    place.run("ack", json.loads(place.run("take", "--topic", "jobs"))["token"])
    await_that(lambda: "waiting" not in server.get("/api/v1/timers/job").json(), "its end")
    assert server.get("/api/v1/timers/job").json()["end"] == "done"


def test_message_is_that_of_why(place):
    message_is_that_of_why(place)


def test_redis_message_is_that_of_why(place):
    place.use_redis()
    message_is_that_of_why(place)


def totals(text):
    """Each counter, and its value."""
    found = re.findall(r"^(durawheel_[a-z_]+_(?:total|count|bucket)(?:\{[^\n]*\})?) ([0-9.e+]+)$",
                       text.decode(), re.MULTILINE)
    return {name: float(value) for name, value in found}


def check_text(text):
    if not shutil.which("promtool"):
        return "NOT TESTED: promtool is not installed"
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return "promtool finds nothing"


# What a name may have that is not seen: the default-ignorable characters of Unicode, separators of
# lines, controls, and notes between lines.
HIDDEN = re.compile("[\x01-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
                    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
                    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]")


def shown_as(name):
    """A name as the page shows it."""
    return HIDDEN.sub(lambda found: ("\\u%04x" if found.group() <= "\uffff" else "\\U%08x")
                      % ord(found.group()), name)


def test_each_character_of_a_name_is_shown(place):
    """The page of an id that does not exist has the id, and is valid UTF-8."""
    server = Server(place, "--http", "127.0.0.1:0")
    points = [point for point in list(range(0xa0, 0x10000)) + list(range(0x1f600, 0x1f650)) +
              list(range(0x1bca0, 0x1bca4)) + list(range(0x1d173, 0x1d17b)) +
              list(range(0x20000, 0x20010)) + list(range(0xe0000, 0xe0080)) + [0x10fffd, 0x10ffff]
              if not 0xd800 <= point <= 0xdfff]
    names = ["".join(map(chr, points[i:i + 60])) for i in range(0, len(points), 60)]
    for name in names + ["\u201cRechnung 7\u201d", "\u6771\u4eac", "Mahnung \u2014 O\u2019Neil", "\ud574\u7c92\uacb0\uc815"]:
        body = server.ask("/timers?id=" + urllib.parse.quote(name, safe="")).body.decode("utf-8")
        shown = re.search("no dead letter, <bdi>(.*)</bdi>: it never", body).group(1)
        assert html.unescape(re.sub("<[^>]*>", "", shown)) == shown_as(name), (name, shown)
    return "%d characters" % len(points)


def test_metrics_of_200_topics(place):
    names = [("%03d" % i) + 60 * "t" for i in range(200)]
    for one in names[::25]:
        place.run("topic", "set", one, "--queue")
    place.run("import", lines=[{"id": one, "topic": one, "in": "0"} for one in names])
    owner = Server(place, *ANY, "--exec", "true", "--jobs", "8", command="run")
    beside = Server(place, *ANY)
    for server in owner, beside:
        text = await_that(lambda: (lambda body: body.count(
            b"durawheel_topic_lateness_seconds{") >= 500 and body)(server.get("/metrics").body),
                          "the times of all topics")
        assert len(text) <= METRICS_MAX, len(text)
        words = check_text(text)
    return "%d bytes; %s" % (len(text), words)


def test_owner_tells_of_empty_queues(place):
    """The owner shows each series of a queue that a server beside it shows."""
    place.run("topic", "set", "q", "--queue")
    place.run("add", "--topic", "q", "--id", "m", "--in", "0")
    owner = Server(place, *ANY, "--topic", "t", "--exec", "true", command="run")
    beside = Server(place, *ANY)

    def look(server):
        return set(re.findall(r'^durawheel_(?:queue|topic_handler)_[^}]*topic="q"[^}]*',
                              server.get("/metrics").body.decode(), re.M))

    def is_same():
        return 'durawheel_queue_dropped_total{topic="q"' in look(owner) and \
            look(owner) == look(beside)

    await_that(is_same, "a message")
    place.run("topic", "set", "empty", "--queue")
    await_that(lambda: b'durawheel_queue_messages{topic="empty",state="waiting"} 0' in
               owner.get("/metrics").body, "an empty queue")
    await_that(is_same, "the same")


def test_next_deadline_is_that_of_the_store(place):
    place.run("add", "--topic", "t", "--id", "far", "--in", "30d")
    due = place.json("stats")[0]["next_due"]
    for server in Server(place, *ANY, command="run"), Server(place, *ANY):
        await_that(lambda: b"\ndurawheel_next_due_timestamp_seconds %d.%06d\n" % divmod(
            due, 1000000) in server.get("/metrics").body, "the deadline")


def test_labels_are_escaped(place):
    names = ["a\"b", "c\\d", "e}f{g=\"h\"", "<b>", "\u202ertl", "two words", 63 * "\""]
    place.run("import", lines=[{"id": one, "topic": one, "in": "1h"} for one in names])
    server = Server(place, *ANY, command="run")
    text = await_that(lambda: (lambda body: body.count(b',state="pending"} 1\n') == len(names) and body)(
        server.get("/metrics").body), "all topics").decode()
    found = re.findall(r'^durawheel_timers\{topic="((?:[^"\\\n]|\\.)*)",state="pending"\} 1$', text,
                       re.MULTILINE)
    plain = [one.replace("\\\"", "\"").replace("\\\\", "\\") for one in found]
    assert sorted(plain) == sorted(names), plain
    return check_text(text.encode())


def test_counters_survive_the_loss_of_an_owner(place):
    """They are absent without an owner, and fall only when another one begins: Prometheus'
    increase() sees each start."""
    server = Server(place, *ANY)
    name = 'durawheel_started_total{topic="t"}'
    done = 'durawheel_ended_total{topic="t",end="done"}'
    scrapes = []

    def scrape():
        text = server.get("/metrics").body
        scrapes.append((b"durawheel_owner 1\n" in text, totals(text)))
        return scrapes[-1]
    for count in 5, 3:
        place.run("import", lines=[{"id": "now%d" % i, "topic": "t", "in": "0"}
                                   for i in range(count)])
        owner = place.owner("--topic", "t", "--exec", "true")
        # What is started and not done starts again under the next owner.
        await_that(lambda: scrape()[1].get(done) == count and scrapes[-1][0], "what is done")
        assert scrapes[-1][1][name] == count, scrapes[-1]
        owner.end(signal.SIGKILL)
        await_that(lambda: not scrape()[0], "no owner")
        assert not scrapes[-1][1], scrapes[-1]
    increases, falls, seen = 0, 0, {}
    for had_owner, counters in scrapes:
        fallen = [one for one in counters if counters[one] < seen.get(one, 0)]
        assert had_owner or not fallen, fallen
        falls += name in fallen
        if name in counters:
            increases += counters[name] - (0 if name in fallen else seen.get(name, 0))
        seen.update(counters)
    assert increases == 8 and falls == 1, (increases, falls)
    return "%d scrapes of %d counters" % (len(scrapes), max(len(one) for _, one in scrapes))


def test_redis_has_the_same(place):
    place.use_redis()
    place.add(3)
    place.run("add", "--topic", "exam", "--id", "exam.today", *RULES["exam.today"])
    server = Server(place, *ANY)
    assert server.ask("/metrics").status == 200  # the first one, too
    answer = schedules(server)
    assert answer["whole"] and answer["searched"] == 4, answer
    assert [one["id"] for one in answer["schedules"]] == ["exam.today"], answer
    timers = server.get("/api/v1/timers?prefix=mail:001").json()["timers"]
    assert [one["id"] for one in timers] == ["mail:001"], timers
    await_that(lambda: place.json("stats")[0] == server.get("/api/v1/status").json(), "stats")
    for path in "/", "/topics", "/timers", "/dead", "/schedules":
        server.get(path)


def test_redis_message_over_a_limit_is_in_the_banner(place):
    """It waits until somebody raises the limit, so the banner is no green one."""
    place.use_redis()
    data = os.path.join(place.folder, "data")
    with open(data, "w", encoding="ascii") as file:
        file.write("x" * 2**20)
    place.run("topic", "set", "g", "--queue")
    place.run("topic", "pause", "g")
    place.run("add", "--topic", "g", "--id", "large", "--in", "0", "--data-file", data)
    server = Server(place, "--http", "127.0.0.1:0", "--topic", "other", command="run")
    subprocess.run(["redis-cli", "-s", os.path.join(place.folder, "redis"), "CONFIG", "SET",
                    "client-query-buffer-limit", "1mb"], check=True, capture_output=True)
    place.run("topic", "resume", "g")
    words = (b'class="banner warn" role="status" data-key="banner">Firing, but 1 due wait: the '
             b"server closes the connection on a message of its size</p>")
    await_that(lambda: words in server.get("/").body, "the banner")


def test_reason_why_due_timers_wait_is_shown(place):
    """The banner tells each reason, and one timer its own."""
    place.run("add", "--topic", "nobody", "--id", "o", "--in", "0")
    shutil.copy("/usr/share/zoneinfo/UTC", os.path.join(place.folder, "Mine"))
    place.environment["TZDIR"] = place.folder
    place.run("add", "--topic", "mail", "--id", "z", "--every", "1s", "--zone", "Mine")
    os.remove(os.path.join(place.folder, "Mine"))
    server = Server(place, "--http", "127.0.0.1:0", "--topic", "mail", "--jobs", "1", "--exec",
                    "sleep 1000", "--stop-patience", "0s", command="run")
    zone = b"; 1 due wait: the owner does not know the time zone of its rule</p>"
    await_that(lambda: zone in server.get("/").body, "the zone")
    for name in "a", "b", "c":
        place.run("add", "--topic", "mail", "--id", name, "--in", "0")
    words = (b'class="banner warn" role="status" data-key="banner">Firing, but 1 due wait: the '
             b"owner has no handler for the topic; 1 due wait: the owner does not know the time "
             b"zone of its rule; 2 due wait: all workers or jobs are at work</p>")
    await_that(lambda: words in server.get("/").body, "the banner")
    topics = server.get("/topics").body
    assert b"waits: workers" in topics and b"waits: handler" in topics, topics
    for name, reason in ("a", "runs"), ("b", "workers"), ("o", "handler"), ("z", "zone"):
        timer = server.get("/api/v1/timers/" + name).json()
        assert timer.get("waits") == reason, timer
    assert server.get("/readyz").status == 200
    metrics = server.get("/metrics").body
    assert b'\ndurawheel_timers{topic="mail",state="due"} 3\n' in metrics, metrics


def test_times_are_shown_in_a_zone_on_demand(place):
    place.run("add", "--topic", "t", "--id", "a", "--at", "2100-07-01T09:00:00Z")
    place.run("add", "--topic", "t", "--id", "r", "--every", "1d", "--from", "2100-07-02T09:00:00Z")
    place.environment["TZ"] = "EST5"
    server = Server(place, *ANY)
    assert "T09:00:00.000000Z\">2100-07-01 09:00:00</time>" in server.get("/timers").body.decode()
    for path in "/", "/topics", "/timers", "/dead", "/schedules", "/timers?id=a", "/timers?topic=t":
        zone = "&" if "?" in path else "?"
        text = server.get(path + zone + "zone=Asia%2FKolkata").body.decode()
        if "timers" in path:
            assert "T09:00:00.000000Z\">2100-07-01 14:30:00 +05:30</time>" in text, text
        links = [html.unescape(link) for link in re.findall("href=\"(/[^\"]*)\"", text)]
        asked = [link for link in links if "zone=Asia%2FKolkata" in link]
        assert set(links) - set(asked) == {"/icon.svg", "/metrics", "/api/v1/status"}, links
        assert "value=\"Asia/Kolkata\"" in text, text
        for link in asked:
            assert server.ask(link).status in (200, 404), link  # no dead letter has the id
    assert b"+05:30" not in server.get("/timers?zone=&topic=").body
    assert b"-05:00</time>" in server.get("/timers?zone=local").body
    for bad in "No/Where", "..%2F..%2Fetc%2Fpasswd", "%3Cb%3E", 100 * "x":
        answer = server.ask("/timers?zone=" + bad)
        assert answer.status == 400 and b"zone: write an IANA name" in answer.body, bad
    assert server.ask("/api/v1/timers?zone=UTC").status == 400  # numbers have no zone


def test_standby_is_named(place):
    place.owner()
    server = Server(place, *ANY)

    def standby():
        return server.get("/api/v1/status").json()["standby"]
    assert standby() == "" and b"Standby" not in server.get("/").body
    assert b"\ndurawheel_standby 0\n" in server.get("/metrics").body
    waits = Process(place, "run", "--standby")
    await_that(standby, "the standby")
    words = standby()
    assert ", pid %d, durawheel " % waits.child.pid in words, words
    await_that(lambda: ('<bdi data-key="standby">%s</bdi>' % words).encode()
               in server.get("/").body, "the page")
    await_that(lambda: b"\ndurawheel_standby 1\n" in server.get("/metrics").body, "metrics")
    waits.end()
    await_that(lambda: standby() == "", "nobody")


if __name__ == "__main__":
    sys.exit(min(run_cases([item for item in list(globals().items())
                            if item[0].startswith("test_")], sys.argv[1], sys.argv[2:]), 1))
