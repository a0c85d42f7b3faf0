#!/usr/bin/env python3
"""tests/http/alerts.py BUILD_DIR [NAME...]: the alerts and the dashboard of examples/. Each function
test_* is a case. Prints what became of each; exit 1 if a case failed, 77 without promtool."""
import json
import os
import re
import shutil
import subprocess
import sys

from place import Server, await_that, run_cases

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
RULES = os.path.join(EXAMPLES, "prometheus", "durawheel.rules.yml")
DASHBOARD = os.path.join(EXAMPLES, "grafana", "durawheel.json")


def expressions():
    """What the alerts and the panels ask for."""
    with open(RULES, encoding="utf-8") as rules:
        yield from re.findall(r"expr: (>(?:\n {10}[^\n]+)+|[^\n]+)", rules.read())
    with open(DASHBOARD, encoding="utf-8") as dashboard:
        for panel in json.load(dashboard)["panels"]:
            for target in panel["targets"]:
                yield target["expr"]


def series(place):
    """The names of all series, and the labels of each, when every kind of number is known."""
    place.run("add", "--topic", "t", "--id", "now", "--in", "0")
    place.run("add", "--topic", "nobody", "--id", "waits", "--in", "0")
    place.run("topic", "set", "q", "--queue")
    place.run("push", "--topic", "q", "--id", "m")
    server = Server(place, "--http", "127.0.0.1:0", "--topic", "t", "--exec", "true",
                    command="run")
    wanted = ["durawheel_queue_messages{", "durawheel_topic_lateness_seconds{",
              "durawheel_topic_handler_seconds{",
              "durawheel_oldest_due_timestamp_seconds{"]

    def look():
        text = server.get("/metrics").body.decode()
        return text if all(name in text for name in wanted) else None

    names = {}
    for line in await_that(look, "all numbers").splitlines():
        found = re.match(r"(durawheel_[a-z0-9_]+)(?:\{(.*)\})? ", line)
        if found:
            labels = names.setdefault(found.group(1), set())
            labels.update(re.findall(r'([a-z]+)="', found.group(2) or ""))
    return names


def test_every_metric_exists(place):
    names = series(place)
    found = 0
    for expression in expressions():
        for name, selector in re.findall(r"(durawheel_[a-z0-9_]+)(?:\{([^}]*)\})?", expression):
            assert name in names, "%s is not told" % name
            for label in re.findall(r'([a-z]+)="', selector):
                assert label == "job" or label in names[name], "%s has no %s" % (name, label)
            found += 1
    assert found > 20, found
    return "%d names in %d expressions" % (found, len(list(expressions())))


def test_alerts_hold_in_promtool(_):
    if not shutil.which("promtool"):
        print("promtool is not installed: apt-get install prometheus")
        sys.exit(77)
    folder = os.path.dirname(RULES)
    for arguments in ["check", "rules", "durawheel.rules.yml"], \
                     ["test", "rules", "durawheel.test.yml"]:
        done = subprocess.run(["promtool", *arguments], cwd=folder, capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(min(run_cases([item for item in list(globals().items())
                            if item[0].startswith("test_")], sys.argv[1], sys.argv[2:]), 1))
