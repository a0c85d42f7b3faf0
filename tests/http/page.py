#!/usr/bin/env python3
"""tests/http/page.py BUILD_DIR [NAME...]: the page in headless Chromium. Each function test_* is a
case in a store of its own. Prints what became of each; exit 1 if a case failed, 77 without
Chromium. DW_SHOTS=FOLDER keeps pictures."""
import json
import signal
import sys
import time
import urllib.parse

import browser
from browser import Browser
from hostile_rule import set_rule
from lists import shown_as
from place import Server, await_that, run_cases

ANY = ("--http", "127.0.0.1:0")
VIEWS = ["/", "/topics", "/timers", "/dead", "/schedules"]
HOSTILE = ["<img src=x onerror=alert(1)>", "\"><script>alert(2)</script>", "a\"b'c`d&amp;<!--",
           "\u202eright to left \u05d0\u05d1", "\u00e9\u4e2d\U0001f600", 255 * "x", "]]>'\"</style>",
           "javascript:alert(3)", "  two  blanks ", "order\u202e7\u202c\u2066\u2069\u061c\u200f\u200b",
           "\u2014\u2019\u6771\u3093\U0001f61c\uacb0 \u034f\ufe0f\U000e0041"]

RULES = [("exam.today", "--cron", "0 8 * * mon-fri", "--zone", "Europe/London"),
         ("exam.report", "--cron", "30 7 L * ?", "--zone", "Asia/Kathmandu"),
         ("clock.moves", "--cron", "30 1 28 3 ?", "--zone", "Europe/London"),
         ("sweep <b>", "--every", "6h")]

CONTRAST = """(() => {
  const light = (c) => { const v = c.map((x) => { x /= 255;
      return x <= .03928 ? x / 12.92 : Math.pow((x + .055) / 1.055, 2.4); });
    return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const back = (node) => { for (; node; node = node.parentElement) {
      const c = rgb(getComputedStyle(node).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c; }
    return [255, 255, 255]; };
  const bad = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode());) {
    const at = node.parentElement;
    if (!node.textContent.trim() || !at.getClientRects().length) continue;
    const a = light(rgb(getComputedStyle(at).color).slice(0, 3)), b = light(back(at).slice(0, 3));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) bad.push(at.className + ' ' + node.textContent.slice(0, 20) + ' ' + ratio); }
  return bad; })()"""


def fill(place):
    """Timers with hostile names, a queue, a paused topic, dead letters."""
    place.run("import", lines=[{"id": one, "topic": "t " + one[:50], "in": "1h", "data": one}
                               for one in HOSTILE])
    place.add(120, topic="order.timeout")
    place.run("topic", "set", "game.x", "--queue", "--max", "50")
    place.run("push", "--topic", "game.x", "--id", HOSTILE[0], "--data", HOSTILE[1])
    place.run("topic", "pause", "mail")
    for one, *rule in RULES:
        place.run("add", "--topic", "exam", "--id", one, *rule)
    place.run("import", lines=[{"id": "dead " + one[:200], "topic": "late" + one[:50],
                                "at": "2020-01-01T00:00:00Z", "late_after": "1s"}
                               for one in HOSTILE[:4]])
    owner = place.owner()
    await_that(lambda: place.json("stats")[0]["dead"] == 4, "dead letters")
    return owner


def test_numbers_are_those_of_stats(place):
    fill(place)
    server = Server(place, *ANY)
    with Browser() as web:
        def same():
            stats, topics = place.json("stats")[0], place.json("topic", "list")
            hour = (time.time() + 3600) * 1e6
            soon = sum(1 for one in place.json("list") if one["due"] < hour)
            web.open(server, "/")
            return (web.number_of("pending") == stats["pending"] == 124 + len(HOSTILE) and
                    web.number_of("dead") == stats["dead"] == 4 and
                    web.number_of("fired") == stats["owner_report"]["fired"] and
                    web.number_of("waiting") == sum(one["waiting"] for one in topics) == 1 and
                    web.number_of("next_hour") == soon >= 9 and
                    stats["owner"] in web.text("[data-key=owner]"))
        await_that(same, "the page as stats --json")
        web.open(server, "/topics")
        rows = web.value("""Array.from(document.querySelectorAll('tbody tr')).map((row) =>
            [row.querySelector('bdi').textContent,
             Number(row.querySelector('[data-key=pending]').dataset.value)])""")
    assert rows == [[shown_as(one["topic"]), one["pending"]]
                    for one in place.json("topic", "list")], rows


def test_pending_is_without_what_is_due(place):
    """Beside the timers that are due, those that are not; without an owner all that are stored."""
    place.add(3)
    place.run("topic", "pause", "stop")
    place.run("import", lines=[{"id": "due%d" % i, "topic": "stop", "in": "0"} for i in range(4)])
    owner = place.owner("--topic", "mail", "--topic", "stop")
    server = Server(place, *ANY)
    with Browser() as web:
        web.open(server, "/")
        web.wait("document.querySelector('[data-key=due]')?.dataset.value === '4' && "
                 "document.querySelector('[data-key=pending]').dataset.value === '3'")
        assert place.json("stats")[0]["pending"] == 7
        owner.end()
        web.wait("document.querySelector('[data-key=pending]').dataset.value === '7'")


def hostile_rules(place, owner):
    """Schedules with hostile ids, topics, and rules that no durawheel would have written."""
    owner.end()
    for one in HOSTILE:
        place.run("add", "--topic", "r" + one[:50], "--id", "rule " + one[:250], "--every", "1h")
        set_rule(place.store[len("sqlite:"):], "rule " + one[:250], "every 1h; zone " + one)


def test_hostile_text_runs_nothing(place):
    owner = fill(place)
    server = Server(place, *ANY, "--show-data")
    paths = VIEWS + ["/timers?id=" + urllib.parse.quote(one, safe="") for one in HOSTILE]
    hostile_rules(place, owner)
    with Browser() as web:
        for path in paths:
            web.call("Page.navigate", url="http://%s%s" % (server.host, path))
            web.wait("document.readyState === 'complete' && !!document.querySelector('footer')")
            assert web.value("document.querySelectorAll('main img, main script, main b').length") == 0
        for one in HOSTILE:
            web.call("Page.navigate", url="http://%s/timers?id=%s" % (
                server.host, urllib.parse.quote(one, safe="")))
            web.wait("document.readyState === 'complete' && !!document.querySelector('pre') && "
                     "document.querySelector('pre').textContent === " + json.dumps(one))
            shown = web.value("Array.from(document.querySelectorAll('dd bdi'), (b) => b.textContent)")
            assert shown_as(one) in shown, (one, shown)
        web.open(server, "/timers")
        for what in "textContent", "innerText":  # the second one as it is seen
            shown = web.value("Array.from(document.querySelectorAll('tbody th bdi'), (b) => b.%s)" % what)
            assert not set(map(shown_as, HOSTILE)) - set(shown), shown
        web.open(server, "/schedules")
        shown = web.value("Array.from(document.querySelectorAll('main bdi'), (b) => b.textContent)")
        for one in HOSTILE:
            for name in "rule " + one[:250], "r" + one[:50], "every 1h; zone " + one:
                assert shown_as(name) in shown, (name, shown)
        assert web.value("document.querySelectorAll('main img, main script, main b').length") == 0
        assert not web.faults(), web.faults()
        # That a fault would have been seen:
        web.value("document.body.append(Object.assign(document.createElement('script'), "
                  "{textContent: 'alert(9)'}))")
        assert any("Content Security Policy" in one for one in web.faults()), web.faults()
    return "%d pages" % len(paths)


def test_without_javascript_tables_stand(place):
    fill(place)
    server = Server(place, *ANY)
    with Browser() as web:
        web.call("Emulation.setScriptExecutionDisabled", value=True)
        for path, words in ("/", "Pending"), ("/topics", "order.timeout"), ("/timers", "order.timeout:000"), (
                "/schedules", "cron 0 8 * * mon-fri"), ("/dead", "LATE"):
            web.open(server, path)
            text = web.value("document.body.innerText")
            assert words in text and "Firing" in text and "Without JavaScript" in text, text
            assert web.value("document.getElementById('pause').offsetHeight") == 0
        assert web.value("document.querySelectorAll('tbody tr').length") == 4


def test_schedules_are_those_of_when(place):
    fill(place)
    server = Server(place, *ANY)
    with Browser() as web:
        web.open(server, "/schedules")
        rows = dict(web.value("""Array.from(document.querySelectorAll('.schedule'), (row) =>
            [row.querySelector('bdi').textContent, row.querySelector('.times').innerText])"""))
    assert list(rows) == [one["id"] for one in place.json("list", "--recurring")], rows
    for one, *rule in RULES[:3]:
        shown = " ".join(rows[one].split())
        for at in place.json("when", *rule, "--count", "3"):
            text = at["local"].replace("T", " ") + (" " + at["note"] if at["note"] else "")
            assert text in shown, (text, shown)
            assert time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(
                at["occurrence"] / 1e6)) in shown, (at, shown)
    assert "does not exist" in rows["clock.moves"], rows
    return "%d schedules" % len(rows)


def test_news_come_without_a_reload(place):
    owner = fill(place)
    server = Server(place, *ANY)
    with Browser() as web:
        web.open(server, "/timers")
        web.value("window.mark = 1; document.querySelector('input').value = 'kept'; "
                  "document.querySelector('input').focus()")
        place.run("import", lines=[{"id": "first", "topic": "t", "in": "30s"}])
        web.wait("document.querySelector('tbody th bdi').textContent === 'first'")
        place.run("cancel", "first")
        web.wait("document.querySelector('tbody th bdi').textContent !== 'first'")
        assert web.value("window.mark + document.querySelector('input').value + "
                         "document.activeElement.name") == "1keptid"
        web.open(server, "/")
        owner.end(signal.SIGKILL)
        seconds = web.wait("document.querySelector('[data-key=banner]').textContent === "
                           "'Nothing fires: no owner'")
        web.size(390)
        web.shot("no_owner_390")
        place.owner()
        web.wait("document.querySelector('[data-key=banner]').textContent === 'Firing'")
        assert not web.faults(), web.faults()
    return "no owner: shown after %.1f s" % seconds


LOST = """(() => { const banner = document.querySelector('[data-key=banner]');
  return /^No answer since [0-9:]{8} UTC: these numbers are old$/.test(banner.textContent) &&
    banner.className === 'banner bad' && document.title.startsWith('No answer since ') &&
    document.getElementById('live').textContent.startsWith('No answer since '); })()"""
FOUND = """document.querySelector('.banner.ok')?.textContent === 'Firing' && document.title.startsWith('Now - ')"""


def test_no_answer_is_told_at_the_top(place):
    """Of a server that hangs, and of one that is gone with the owner that it belongs to."""
    server = Server(place, *ANY, command="run")
    with Browser() as web:
        web.open(server, "/")
        web.wait(FOUND)
        server.process.child.send_signal(signal.SIGSTOP)
        hung = web.wait(LOST)
        server.process.child.send_signal(signal.SIGCONT)
        web.wait(FOUND)
        server.process.end(signal.SIGKILL)
        gone = web.wait(LOST)
    return "told after %.1f s of a hung server, %.1f s of a killed one" % (hung, gone)


def test_letters_are_found(place):
    """By their id, from the timer's page, and from their row to that page."""
    fill(place)
    server = Server(place, *ANY)
    ids = ["dead " + one[:200] for one in HOSTILE[:4]]
    with Browser() as web:
        web.open(server, "/dead")
        assert web.text(".dead caption code") == "durawheel dead requeue '%s'" % ids[0]
        for one in ids:
            quoted = urllib.parse.quote(one, safe="")
            web.open(server, "/dead")
            web.value("document.querySelector('input[name=id]').value = %s; "
                      "document.querySelector('form').submit()" % json.dumps(one))
            web.wait("document.readyState === 'complete' && !!location.search && %s === %s" % (
                ROWS, json.dumps(shown_as(one))))
            web.value("document.querySelector('tbody th a').click()")
            web.wait("document.readyState === 'complete' && location.pathname === '/timers' && "
                     "!!document.querySelector('footer')")
            assert web.text(".facts bdi") == shown_as(one) and "dead" in web.text(".facts"), one
            web.value("document.querySelector('.more a').click()")
            web.wait("location.pathname === '/dead' && location.search === '?id=%s' && "
                     "!!document.querySelector('tbody th')" % quoted)
    for path in "/dead?id=nothing", "/timers?id=nothing":
        answer = server.ask(path)
        assert answer.status == 404 and b"no dead letter" in answer.body, answer.body
    assert b"no dead letter" in server.ask("/dead?id=order.timeout%3A000").body
    assert server.ask("/api/v1/dead?id=nothing").status == 400


FOCUS = "(document.activeElement.getAttribute('href') || document.activeElement.className)"
ROWS = "Array.from(document.querySelectorAll('tbody th bdi'), (b) => b.textContent).join(' ')"


def test_focus_stays_on_its_timer(place):
    """Timers come, go and move above the one that has the focus, and then that one goes."""
    place.add(5)
    place.owner("--topic", "nothing")
    server = Server(place, *ANY)
    rows = ["mail:%03d" % i for i in range(5)]

    def shows(*expected):
        web.wait("%s === '%s'" % (ROWS, " ".join(expected)))
        return web.value(FOCUS)

    with Browser() as web:
        web.open(server, "/timers")
        web.value("document.querySelectorAll('tbody th a')[2].focus()")
        mine = "/timers?id=mail%3A002"
        assert web.value(FOCUS) == mine, web.value(FOCUS)
        place.run("cancel", "mail:000")
        assert shows(*rows[1:]) == mine, web.value(FOCUS)
        place.run("add", "--topic", "mail", "--id", "first", "--in", "50m")
        assert shows("first", *rows[1:]) == mine, web.value(FOCUS)
        place.run("move", "mail:002", "--in", "40h")
        assert shows("first", rows[1], *rows[3:], rows[2]) == mine, web.value(FOCUS)
        place.run("move", "mail:002", "--in", "40m")
        assert shows(rows[2], "first", rows[1], *rows[3:]) == mine, web.value(FOCUS)
        place.run("cancel", "mail:002")
        assert shows("first", rows[1], *rows[3:]) == "scroll", web.value(FOCUS)
        web.press("Tab", 9)
        assert web.value(FOCUS) == "/timers?id=first", web.value(FOCUS)
        assert not web.faults(), web.faults()


def test_keyboard_and_names(place):
    fill(place)
    server = Server(place, *ANY)
    with Browser() as web:
        web.open(server, "/")
        reached = []
        for _ in range(14):
            web.press("Tab", 9)
            reached.append(web.value("document.activeElement.textContent"))
        assert reached == ["Skip to the content", "Now", "Topics", "Timers", "Dead", "Schedules",
                           "Pause"] + 7 * ["Numbers"], reached
        web.value("document.getElementById('pause').focus()")
        web.press("Enter", 13)
        web.wait("document.getElementById('pause').textContent === 'Go on'")
        assert web.text("#live").startswith("Paused at "), web.text("#live")
        for view in VIEWS:
            web.open(server, view)
            nodes = web.call("Accessibility.getFullAXTree")["nodes"]
            named = {"button", "link", "textbox", "searchbox", "region", "table", "navigation"}
            for node in nodes:
                if not node.get("ignored") and node["role"]["value"] in named:
                    assert node.get("name", {}).get("value"), (view, node)
            roles = [node["role"]["value"] for node in nodes if not node.get("ignored")]
            assert roles.count("main") == 1 and roles.count("status") >= 2, roles
            assert web.value("document.documentElement.lang + document.querySelectorAll('h1').length "
                             "+ document.querySelectorAll('[aria-current=page]').length") == "en11"


LATE = """(() => {
  const send = window.fetch;
  window.fetch = async (...given) => {
    window.fetch = send;
    const answer = await send(...given);
    await new Promise((done) => { window.letCome = done; });
    return answer; }; })()"""


def test_paused_page_does_not_change(place):
    """An answer that was on its way when the page was paused changes nothing."""
    place.add(5)
    server = Server(place, *ANY)
    with Browser() as web:
        web.open(server, "/timers")
        web.value(LATE)
        web.wait("window.letCome !== undefined")
        rows = web.value(ROWS)
        place.run("cancel", "mail:000")
        web.value("document.getElementById('pause').click(); window.letCome()")
        time.sleep(1)
        assert web.text("#live").startswith("Paused at "), web.text("#live")
        assert web.value(ROWS) == rows, web.value(ROWS)
        web.value("document.getElementById('pause').click()")
        web.wait("%s !== '%s'" % (ROWS, rows))


CARDS = """(() => {
  const heads = [...document.querySelectorAll('.scroll thead th')].map((one) => one.textContent);
  const bad = [];
  for (const box of document.querySelectorAll('.scroll'))
    if (box.scrollWidth > box.clientWidth) bad.push('cut: ' + box.scrollWidth);
  for (const row of document.querySelectorAll('.scroll tbody tr'))
    [...row.children].forEach((cell, i) => {
      const label = getComputedStyle(cell, '::before').content;
      if (i > 0 && label !== JSON.stringify(heads[i])) bad.push(heads[i] + ' has ' + label);
      if (cell.getBoundingClientRect().height > 400) bad.push('high: ' + cell.textContent); });
  return bad; })()"""


def test_narrow_rows_are_cards(place):
    """At 390 pixels nothing is cut, each value has its heading, and it is a table all the same."""
    fill(place)
    place.run("add", "--topic", 63 * "t", "--id", 255 * "W", "--in", "1m")
    server = Server(place, *ANY)
    with Browser() as web:
        web.size(390)
        for view, rows in ("/topics", 10), ("/timers", 50), ("/dead", 4):
            web.open(server, view)
            assert web.value("document.querySelectorAll('.scroll tbody tr').length") >= rows, view
            assert web.value(CARDS) == [], (view, web.value(CARDS))
            nodes = web.call("Accessibility.getFullAXTree")["nodes"]
            roles = [node["role"]["value"] for node in nodes if not node.get("ignored")]
            assert roles.count("table") == 1 and roles.count("row") > rows, (view, roles)
            assert roles.count("rowheader") >= rows and "columnheader" in roles, (view, roles)


def test_every_width_and_scheme(place):
    fill(place)
    server = Server(place, *ANY)
    with Browser() as web:
        for scheme in "light", "dark":
            for width in 360, 390, 768, 1280, 1920:
                web.size(width, scheme=scheme)
                for view in VIEWS:
                    web.open(server, view)
                    wide = web.value("document.documentElement.scrollWidth")
                    assert wide <= width, (view, width, wide)
                    web.shot("%s_%d_%s" % (view.strip("/") or "now", width, scheme))
            for view in VIEWS + ["/timers?id=nothing"]:
                web.open(server, view)
                assert web.value(CONTRAST) == [], (scheme, view, web.value(CONTRAST))
        sizes = [len(server.ask(view).body) for view in VIEWS]
        assert max(sizes) <= 60 * 1024, sizes
    return "the largest page has %d KiB" % (max(sizes) // 1024)


def test_forced_colours_show_the_view(place):
    """Only the chosen view is underlined when the browser sets all colours."""
    server = Server(place, *ANY)
    with Browser() as web:
        web.size(1280)
        web.call("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
        web.open(server, "/topics")
        lines = web.value("""Array.from(document.querySelectorAll('nav a'), (one) =>
            getComputedStyle(one).borderBottomStyle)""")
        assert lines == ["none", "solid", "none", "none", "none"], lines


if __name__ == "__main__":
    if not browser.COMMAND:
        print("NOT TESTED: chromium is not installed")
        sys.exit(77)
    sys.exit(min(run_cases([item for item in list(globals().items())
                            if item[0].startswith("test_")], sys.argv[1], sys.argv[2:]), 1))
