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
    yield from panels()


def panels():
    with open(DASHBOARD, encoding="utf-8") as dashboard:
        for panel in json.load(dashboard)["panels"]:
            for target in panel["targets"]:
                yield target["expr"].replace("$__rate_interval", "5m")


def lines_of(place):
    """The name and the labels of each series, when every kind of number is known."""
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

    for line in await_that(look, "all numbers").splitlines():
        found = re.match(r"(durawheel_[a-z0-9_]+)(?:\{(.*)\})? ", line)
        if found:
            yield found.group(1), re.findall(r'[a-z]+="[^"]*"', found.group(2) or "")


def series(place):
    """The names of all series, and the labels of each."""
    names = {}
    for name, labels in lines_of(place):
        names.setdefault(name, set()).update(one.partition("=")[0] for one in labels)
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


def promtool(folder, *arguments):
    if not shutil.which("promtool"):
        print("NOT TESTED: promtool is not installed: apt-get install prometheus")
        sys.exit(77)
    done = subprocess.run(["promtool", *arguments], cwd=folder, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_alerts_hold_in_promtool(_):
    folder = os.path.dirname(RULES)
    promtool(folder, "check", "rules", "durawheel.rules.yml")
    promtool(folder, "test", "rules", "durawheel.test.yml")


def test_panels_count_each_number_once(place):
    """Whether one process is scraped, or three that show the same: each panel shows the same."""
    given, asked = [], []
    for i, (name, labels) in enumerate(lines_of(place)):
        for where in 'job="1",instance="a"', 'job="3",instance="a"', 'job="3",instance="b"':
            given.append({"series": "%s{%s}" % (name, ",".join([where] + labels)),
                          "values": "%d+%dx80" % (i + 1, i + 1)})
    for one in panels():
        single, triple = one.replace("$job", "1"), one.replace("$job", "3")
        # Prometheus adds in any order, so the last digits of a sum may differ.
        asked += [{"expr": "count(abs((%s) - (%s)) <= 1e-6) > bool 0" % (single, triple),
                   "eval_time": "15m", "exp_samples": [{"labels": "{}", "value": 1}]},
                  {"expr": "abs((%s) - (%s)) > 1e-6" % (single, triple), "eval_time": "15m",
                   "exp_samples": []}]
    place.file("panels.yml", json.dumps({"tests": [
        {"interval": "15s", "input_series": given, "promql_expr_test": asked}]}))
    promtool(place.folder, "test", "rules", "panels.yml")
    return "%d panels over %d series" % (len(asked) // 2, len(given))


if __name__ == "__main__":
    sys.exit(min(run_cases([item for item in list(globals().items())
                            if item[0].startswith("test_")], sys.argv[1], sys.argv[2:]), 1))
