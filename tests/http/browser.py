"""A headless Chromium, by the DevTools protocol over two pipes."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

from place import await_that

COMMAND = shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        take, their_write = os.pipe()
        their_read, self.give = os.pipe()
        line = ("exec %s --headless --remote-debugging-pipe --disable-gpu --no-first-run "
                "--disable-dev-shm-usage %s --user-data-dir=%s 3<&%d 4>&%d" % (
                    COMMAND, "--no-sandbox" if os.geteuid() == 0 else "", self.folder.name,
                    their_read, their_write))
        self.child = subprocess.Popen(["bash", "-c", line], pass_fds=(their_read, their_write),
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(their_read)
        os.close(their_write)
        self.pipe = os.fdopen(take, "rb", buffering=0)
        self.number, self.rest, self.events, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log", "DOM", "Accessibility":
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()
        self.pipe.close()
        os.close(self.give)
        self.folder.cleanup()

    def read(self):
        while b"\0" not in self.rest:
            more = self.pipe.read(65536)
            assert more, "the browser has ended"
            self.rest += more
        one, _, self.rest = self.rest.partition(b"\0")
        return json.loads(one)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.give, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                assert "result" in answer, "%s: %s" % (method, answer)
                return answer["result"]
            self.events.append(answer)
            if answer["method"] == "Page.javascriptDialogOpening":
                self.number += 1
                os.write(self.give, json.dumps({
                    "id": self.number, "method": "Page.handleJavaScriptDialog",
                    "params": {"accept": True}, "sessionId": self.session}).encode() + b"\0")
                self.number += 1

    def open(self, server, path):
        self.call("Page.navigate", url="http://%s%s" % (server.host, path))
        self.wait("document.readyState === 'complete' && location.pathname + location.search === "
                  + json.dumps(path))

    def value(self, script):
        try:
            answer = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                               awaitPromise=True)
        except AssertionError as failure:
            if "navigated" in str(failure): # by the script itself, or by what it waits for
                return None
            raise
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, script):
        began = time.monotonic()
        await_that(lambda: self.value(script), script)
        return time.monotonic() - began

    def text(self, selector):
        return self.value("document.querySelector(%s).textContent" % json.dumps(selector))

    def number_of(self, key):
        return self.value("Number(document.querySelector('[data-key=%s]').dataset.value)" % key)

    def size(self, width, height=900, scheme="light"):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def press(self, key, code):
        for kind in "keyDown", "keyUp":
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=code, **text)

    def faults(self):
        """What the page did that it must not: dialogs, errors, refusals of its policy."""
        self.value("1")  # the events before it are here now
        found = []
        for event in self.events:
            params = event.get("params", {})
            if event["method"] == "Page.javascriptDialogOpening":
                found.append("dialog " + params["message"])
            elif event["method"] == "Runtime.exceptionThrown":
                found.append("exception " + json.dumps(params)[:300])
            elif event["method"] == "Log.entryAdded" and params["entry"]["level"] == "error":
                found.append("%s %s" % (params["entry"]["text"], params["entry"].get("url", "")))
        return found

    def shot(self, name):
        folder = os.environ.get("DW_SHOTS")
        if not folder:
            return
        data = self.call("Page.captureScreenshot", captureBeyondViewport=False)["data"]
        with open(os.path.join(folder, name + ".png"), "wb") as file:
            file.write(base64.b64decode(data))


