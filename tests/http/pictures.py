#!/usr/bin/env python3
"""tests/http/pictures.py BUILD_DIR [NAME...]: the pictures of the page in headless Chromium: what
comes due, the times of handlers, and the last hour. Each function test_* is a case in a store of its
own. Prints what became of each; exit 1 if a case failed, 77 without Chromium. DW_SHOTS=FOLDER keeps
screenshots."""
import re
import signal
import sys
import time

import browser
from browser import Browser
from page import ANY, CONTRAST, HOSTILE, fill
from place import Server, await_that, run_cases

KEYS = ["next_minutes", "next_hours", "late", "took", "started", "ended", "failed"]
LENGTHS = {"next_minutes": 60, "next_hours": 24, "late": 20, "took": 20, "started": 60, "ended": 60,
           "failed": 60}

# Each picture: its rows, its bars as [place, y, height, words], and the places that are not known.
PICTURES = """Object.fromEntries(Array.from(document.querySelectorAll('figure'), (one) => [
  one.dataset.picture, {
    rows: Array.from(one.querySelectorAll('tbody tr'), (row) =>
      Array.from(row.children, (cell) => cell.textContent)),
    bars: Array.from(one.querySelectorAll('rect'), (bar) =>
      [...['x', 'y', 'height'].map((name) => Number(bar.getAttribute(name))), bar.textContent]),
    gaps: Array.from(one.querySelectorAll('.gap'), (gap) =>
      gap.getAttribute('d').match(/M([0-9]+) 0H([0-9]+)/).slice(1).map(Number)),
    drawn: Array.from(one.querySelectorAll('rect'), (bar) => {
      const box = bar.getBoundingClientRect(); return [box.width, box.height]; }),
    peak: one.querySelector('.peak').textContent }]))"""


def number(text):
    return int(text.replace(",", ""))


def numbers(picture):
    return [0 if words == "not known" else number(words) for _, words in picture["rows"]]


def height_of(value, most):
    return max(25, int(value * 1000 / most + .5))


def is_even(picture):
    """The bars are the numbers of the table."""
    most = max(numbers(picture))
    expected = [[i, 1000 - height_of(number(words), most), height_of(number(words), most),
                 "%s: %s" % (label, words)]
                for i, (label, words) in enumerate(picture["rows"]) if words not in ("0", "not known")]
    assert picture["bars"] == expected, (picture["bars"], expected)
    gaps = {i for begin, end in picture["gaps"] for i in range(begin, end)}
    assert gaps == {i for i, (_, words) in enumerate(picture["rows"]) if words == "not known"}, gaps
    assert all(width > 1 and height > 1 for width, height in picture["drawn"]), picture["drawn"]
    peak = picture["peak"]
    assert peak == "{:,}".format(most) if most else not re.search("[0-9]", peak), peak


def pictures(web, server, path="/"):
    web.open(server, path)
    found = web.value(PICTURES)
    assert {key: len(one["rows"]) for key, one in found.items()} == LENGTHS, found.keys()
    for one in found.values():
        is_even(one)
    return found


FAR = [{"id": "%s %d" % (at, i), "topic": "far", "in": at}
       for at, count in (("115s", 5), ("1855s", 3), ("19855s", 7), ("86000s", 1200), ("90000s", 2))
       for i in range(count)]


def see_far(place, web):
    """Opens the page soon after the timers were put: 55 s later they are in another minute. The
    server is new, because it counts them only every 10 s. False: the machine is too busy."""
    began = time.monotonic()
    place.run("import", lines=FAR)
    server = Server(place, *ANY)
    found = pictures(web, server)
    minutes, hours = numbers(found["next_minutes"]), numbers(found["next_hours"])
    totals = [web.number_of(key) for key in ("next_minute", "next_hour", "next_day")]
    if time.monotonic() - began > 50:
        return False
    assert [minutes[1], minutes[30], sum(minutes)] == [5, 3, 8], minutes
    assert [hours[0], hours[5], hours[23], sum(hours)] == [8, 7, 1200, 1215], hours
    assert totals == [0, 8, 1215], totals
    return server


def test_pictures_are_the_numbers_of_their_tables(place):
    place.run("import", lines=[{"id": "now %d" % i, "topic": "near", "in": "0"} for i in range(40)])
    place.run("topic", "set", "near", "--retries", "1")
    place.owner("--topic", "near", "--exec", "test \"$DW_ID\" != 'now 7' && sleep 0.01")
    await_that(lambda: place.json("stats")[0]["owner_report"]["settled"] >= 39, "39 done")
    with Browser() as web:
        server = await_that(lambda: see_far(place, web), "a page within 50 s")

        def same():
            found = pictures(web, server)
            report = place.json("stats")[0]["owner_report"]
            return (numbers(found["late"]) == report["lateness_buckets"] and
                    numbers(found["took"]) == report["handler_buckets"] and
                    web.number_of("lateness_max_us") == report["lateness_max_us"])
        await_that(same, "the histograms of stats --json")
    return "a bar of 5 beside one of 1,200"


def test_the_last_hour_is_counted_by_the_server(place):
    """A server that was there before the timers started has their starts, and one after it has not."""
    place.run("import", lines=[{"id": "b%d" % i, "topic": "b", "in": "6s"} for i in range(30)])
    place.run("topic", "set", "b", "--retries", "1")
    place.owner("--topic", "b", "--exec", "test $DW_ID != b7")
    before = Server(place, *ANY)
    await_that(lambda: (lambda told: told["settled"] >= 29 and told["dead"] == 1)(
        place.json("stats")[0]["owner_report"]), "the end of all")
    after = Server(place, *ANY)
    with Browser() as web:
        def same():
            found = pictures(web, before)
            report = place.json("stats")[0]["owner_report"]
            kinds = ("started", report["fired"]), ("ended", report["settled"]), (
                "failed", report["retried"] + report["dead"])
            # A minute before the server began is not known. A slow machine takes minutes here.
            assert len([1 for row in found["started"]["rows"] if row[1] == "not known"]) > 20
            return all(sum(numbers(found[key])) == count == web.number_of(key)
                       for key, count in kinds)
        await_that(same, "the counters of stats --json")
        web.open(after, "/")
        assert web.number_of("started") == web.number_of("ended") == 0
        assert web.value(PICTURES)["started"]["rows"][-1][1] == "0"


def test_nothing_and_too_much(place):
    """An empty store has pictures without bars; of 20,100 timers the store counts 20,000."""
    server = Server(place, *ANY)
    with Browser() as web:
        web.open(server, "/")
        found = web.value(PICTURES)
        assert list(found) == KEYS[:2] and not found["next_minutes"]["bars"], found
        assert found["next_minutes"]["peak"] == "Nothing comes due"
    place.run("import", lines=[{"id": str(i), "topic": "t", "in": "%dms" % (600000 + 200 * i)}
                               for i in range(20100)])
    server = Server(place, *ANY)
    with Browser() as web:
        web.open(server, "/")
        assert web.number_of("next_day") == 20000 and web.text("[data-key=next_day]") == "20,000+"
        assert re.search("counted as far as .*[0-9]{2}:[0-9]{2}", web.text(
            "[data-picture=next_hours] figcaption"))
        assert web.text("[data-key=next_hour]") == "{:,}".format(web.number_of("next_hour"))


def test_pictures_need_no_javascript(place):
    fill(place)
    server = Server(place, *ANY)
    with Browser() as web:
        web.call("Emulation.setScriptExecutionDisabled", value=True)
        found = pictures(web, server)
        assert sum(numbers(found["next_hours"])) > 30, found["next_hours"]
        assert web.value("Array.from(document.querySelectorAll('details'), (one) => one.open)") == [
            False] * len(KEYS)
        assert "Due from, UTC" not in web.value("document.body.innerText")
        web.value("document.querySelector('summary').focus()")
        web.press("Enter", 13)
        await_that(lambda: "Due from, UTC" in web.value("document.body.innerText"), "the table")


def test_pictures_are_told_to_screen_readers(place):
    fill(place)
    server = Server(place, *ANY)
    with Browser() as web:
        pictures(web, server)
        nodes = [node for node in web.call("Accessibility.getFullAXTree")["nodes"]
                 if not node.get("ignored")]
        names = [node["name"]["value"] for node in nodes if node["role"]["value"] == "image"]
        titles = web.value("Array.from(document.querySelectorAll('h3'), (one) => one.textContent)")
        assert len(names) == len(titles) == len(KEYS), names
        for name, title in zip(names, titles):
            assert name.startswith(title) and name.endswith("in the table below."), (name, title)
        assert re.match("In the next day At most [0-9,]+: [0-9]{2}:[0-9]{2}", names[1]), names
        tables = web.value("""Array.from(document.querySelectorAll('figure table'), (one) =>
            [one.caption.textContent, one.closest('[role=region]').getAttribute('aria-label'),
             one.querySelectorAll('th[scope]').length - one.rows.length])""")
        assert tables == [[title, title + ", as numbers", 1] for title in titles], tables


def test_pictures_in_a_zone(place):
    place.run("add", "--topic", "t", "--id", "a", "--in", "30m")
    server = Server(place, *ANY)
    with Browser() as web:
        utc = pictures_of_none(web, server, "/")
        there = pictures_of_none(web, server, "/?zone=Asia/Kathmandu")
        label = lambda found: found["next_minutes"]["bars"][0][3].split(":")
        shift = (int(label(there)[0]) * 60 + int(label(there)[1]) -
                 int(label(utc)[0]) * 60 - int(label(utc)[1])) % 1440
        assert abs(shift - 345) <= 1, shift
        assert web.text("figure thead th") == "Due from, Asia/Kathmandu"
        for zone in HOSTILE:
            answer = server.ask("/?zone=" + "".join("%%%02x" % c for c in zone.encode()))
            assert answer.status == 400, answer.status


def pictures_of_none(web, server, path):
    """The pictures of a store without an owner."""
    web.open(server, path)
    return web.value(PICTURES)


OLD = "!!document.querySelector('.old') && document.querySelector('.banner').textContent === " \
      "'The store does not answer'"


def test_redis_outage_keeps_the_numbers(place):
    """In grey, with the time of the last answer; also in a page that is opened during the outage."""
    place.use_redis()
    fill(place)
    server = Server(place, *ANY)
    redis = place.processes[0].child
    with Browser() as web:
        web.size(1280)
        before = pictures(web, server)
        coloured = web.value("getComputedStyle(document.querySelector('rect')).fill")
        pending = await_that(lambda: web.number_of("pending"), "pending timers")
        redis.send_signal(signal.SIGSTOP)
        stopped = time.time()
        web.wait(OLD)
        for scheme in "light", "dark":
            web.size(1280, scheme=scheme)
            web.open(server, "/")
            web.wait(OLD)
            found = web.value(PICTURES)
            assert numbers(found["next_hours"]) == numbers(before["next_hours"])
            assert web.number_of("pending") == pending
            assert web.value("getComputedStyle(document.querySelector('rect')).fill") != coloured
            told = re.search(r"old: they are those of [0-9-]+ ([0-9:]{8})", web.text(".under"))
            since = time.strftime("%H:%M:%S", time.gmtime(stopped))
            assert told and told.group(1) <= since or since < "00:01:00", (told, since)
            assert web.value(CONTRAST) == [], web.value(CONTRAST)
            web.shot("outage_" + scheme)
        web.open(server, "/topics")
        web.wait(OLD)
        assert web.value("document.querySelectorAll('tbody tr').length") > 5
        assert server.ask("/").status == 503
        redis.send_signal(signal.SIGCONT)
        web.open(server, "/")
        web.wait("!document.querySelector('.old') && !!document.querySelector('.banner.ok')")


def test_news_come_into_the_pictures(place):
    """The script of the page moves bars and keeps a table open."""
    place.run("add", "--topic", "t", "--id", "a", "--in", "30m")
    server = Server(place, *ANY)
    with Browser() as web:
        web.open(server, "/")
        web.value("document.querySelector('details').open = true; window.mark = 1")
        assert len(web.value(PICTURES)["next_minutes"]["bars"]) == 1
        place.run("import", lines=[{"id": "b%d" % i, "topic": "t", "in": "10m"} for i in range(9)])
        web.wait("document.querySelectorAll('[data-picture=next_minutes] rect').length === 2")
        found = web.value(PICTURES)
        is_even(found["next_minutes"])
        is_even(found["next_hours"])
        assert web.value("document.querySelector('details').open && window.mark === 1")
        assert not web.faults(), web.faults()


def test_pictures_fit_every_width(place):
    """Columns side by side on a wide screen, one column on a narrow one; nothing is cut."""
    fill(place)
    server = Server(place, *ANY)
    columns = {}
    with Browser() as web:
        for width in 390, 1280, 1920:
            web.size(width)
            pictures(web, server)
            boxes = web.value("""Array.from(document.querySelectorAll('figure'), (one) => {
                const box = one.getBoundingClientRect(); return [box.left, box.right]; })""")
            columns[width] = len({round(left) for left, _ in boxes})
            assert all(left >= 0 and right <= width for left, right in boxes), boxes
            cut = web.value("""Array.from(document.querySelectorAll('figure *')).filter((one) =>
                one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline' &&
                one.namespaceURI.endsWith('xhtml') && !one.classList.contains('hid')).length""")
            assert cut == 0, (width, cut)
            if width == 1920:
                assert max(right for _, right in boxes) > 1800, boxes
    assert columns[390] == 1 and columns[1280] >= 2 and columns[1920] >= 4, columns
    return "columns: %s" % columns


if __name__ == "__main__":
    if not browser.COMMAND:
        print("NOT TESTED: chromium is not installed")
        sys.exit(77)
    sys.exit(min(run_cases([item for item in list(globals().items())
                            if item[0].startswith("test_")], sys.argv[1], sys.argv[2:]), 1))
