"""A store with its owner and a web server beside it, and requests over raw sockets."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from types import SimpleNamespace

PATIENCE = 600  # s; a busy machine needs a while


def await_that(what, words):
    end = time.monotonic() + PATIENCE
    while True:
        got = what()
        if got:
            return got
        assert time.monotonic() < end, "not in time: " + words
        time.sleep(0.02)


def of_idle(seconds):
    """A limit that holds on an idle machine; a busy one gets as many times longer as it has tasks
    for each processor."""
    return seconds * max(1, os.getloadavg()[0] / os.cpu_count())


class Process:
    """A command of durawheel in the background."""

    def __init__(self, place, *arguments):
        self.log = os.path.join(place.folder, "log%d" % len(place.processes))
        with open(self.log, "wb") as log:
            self.child = subprocess.Popen(
                [place.command, *arguments], env=place.environment, stderr=log,
                stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        place.processes.append(self)

    def says(self, pattern):
        def look():
            with open(self.log, encoding="utf-8") as log:
                found = re.search(pattern, log.read())
            assert found or self.child.poll() is None, "it has ended: " + open(self.log).read()
            return found
        return await_that(look, pattern)

    def end(self, number=signal.SIGTERM):
        self.child.send_signal(number)
        return self.child.wait(PATIENCE)


class Answer:
    def __init__(self, raw, is_head=False):
        head, _, rest = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1]) if lines[0].startswith("HTTP/1.1 ") else 0
        self.headers = dict((line.split(": ", 1) + [""])[:2] for line in lines[1:])
        size = 0 if is_head else int(self.headers.get("Content-Length", 0))
        self.body, self.rest = rest[:size], rest[size:]
        self.is_whole = len(self.body) == size and bool(self.status)

    def json(self):
        return json.loads(self.body)


class Server:
    def __init__(self, place, *arguments, command="serve"):
        self.place = place
        self.process = Process(place, command, *arguments)
        where = self.process.says(r"serving (http://(\S+):(\d+)/|unix:(\S+))")
        self.path = where.group(4)
        self.host = "localhost" if self.path else where.group(2) + ":" + where.group(3)
        self.port = None if self.path else int(where.group(3))
        self.address = "127.0.0.1"  # to connect to

    def connect(self):
        if self.path:
            link = socket.socket(socket.AF_UNIX)
            link.settimeout(PATIENCE)
            link.connect(self.path)
            return link
        link = socket.create_connection((self.address, self.port), PATIENCE)
        return link

    def send(self, raw):
        """What the server sends until it has answered, or has closed the connection."""
        is_head = raw.startswith(b"HEAD ")
        with self.connect() as link:
            try:
                link.sendall(raw)
            except OSError:
                pass  # closed before it was read: perhaps there is an answer
            return self.rest_of(link, is_head)

    def rest_of(self, link, is_head=False):
        """The answer to what was sent."""
        got = b""
        while not (b"\r\n\r\n" in got and Answer(got, is_head).is_whole):
            try:
                more = link.recv(65536)
            except OSError:
                break
            if not more:
                break
            got += more
        return Answer(got or b"none", is_head)

    def ask(self, path, method="GET", headers=(), host=None, version="1.1"):
        lines = ["%s %s HTTP/%s" % (method, path, version)]
        if host != "":
            lines.append("Host: " + (host or self.host))
        lines += headers
        return self.send(("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape"))

    def get(self, path):
        answer = self.ask(path)
        assert answer.status == 200, "%s: %d %r" % (path, answer.status, answer.body)
        return answer


class Place:
    def __init__(self, build):
        self.command = os.path.join(os.path.abspath(build), "durawheel")
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = self.scratch.name
        self.store = "sqlite:" + os.path.join(self.folder, "timers.db")
        self.environment = dict(os.environ, DURAWHEEL_STORE=self.store, LC_ALL="C")
        self.processes = []
        self.run("import", lines=[])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.child.poll() is None:
                process.child.kill()
                process.child.wait()
        self.scratch.cleanup()

    def use_redis(self):
        """Keeps the timers in a Redis server of its own from now on."""
        server = os.path.join(self.folder, "redis-server")
        if not os.path.exists(server):  # Debian's redis-tools has the server under another name
            os.symlink(shutil.which("redis-server") or shutil.which("redis-check-rdb"), server)
        path = os.path.join(self.folder, "redis")
        child = subprocess.Popen([server, "--port", "0", "--unixsocket", path, "--save", "",
                                  "--dir", self.folder], stdout=subprocess.DEVNULL)
        self.processes.append(SimpleNamespace(child=child))
        await_that(lambda: os.path.exists(path), "redis-server")
        self.store = self.environment["DURAWHEEL_STORE"] = "unix://" + path
        self.environment["DURAWHEEL_NAME"] = "shop"

    def run(self, *arguments, lines=None, code=0, output=False):
        text = None if lines is None else "".join(json.dumps(line) + "\n" for line in lines)
        done = subprocess.run([self.command, *arguments], env=self.environment, input=text,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert code in (done.returncode, None), "%s exits %d: %s" % (
            arguments, done.returncode, done.stderr)
        return done.stdout if code == 0 or output else done.stderr

    def json(self, *arguments):
        return [json.loads(line) for line in self.run(*arguments, "--json").splitlines()]

    def add(self, count, topic="mail", data="secret data"):
        self.run("import", lines=[
            {"id": "%s:%03d" % (topic, i), "topic": topic, "in": "%dh" % (i + 1), "data": data}
            for i in range(count)])

    def owner(self, *arguments):
        process = Process(self, "run", *arguments)
        process.says("running, ")
        return process

    def file(self, name, text, mode=0o600):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path


def run_cases(cases, build, names):
    """Runs each function of cases that is a test, and prints what it returns. The number of
    failures."""
    unknown = set(names) - {name for name, _ in cases}
    for name in unknown:
        print("%-34s FAILED: no such case" % name)
    failed = len(unknown)
    for name, case in cases:
        if names and name not in names:
            continue
        try:
            with Place(build) as place:
                words = case(place)
            print("%-34s %s" % (name[5:], words or "ok"), flush=True)
        except Exception as fault:  # any: the other cases still run
            failed += 1
            print("%-34s FAILED: %s %s" % (name[5:], type(fault).__name__, fault), flush=True)
    return failed
