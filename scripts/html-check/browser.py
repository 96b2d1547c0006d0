"""A headless Chromium, driven by its DevTools protocol over two pipes: nothing to install beside Debian's chromium."""

import base64
import json
import os
import select
import subprocess
import time


class Failed(Exception):
    """A check that did not hold; says which."""


class Browser:
    """One browser with one page."""

    def __init__(self, profile):
        ours_read, theirs_write = os.pipe()
        theirs_read, ours_write = os.pipe()
        # The protocol is on descriptors 3 and 4 of the browser.
        def place():
            os.dup2(theirs_read, 63)
            os.dup2(theirs_write, 64)
            os.dup2(63, 3)
            os.dup2(64, 4)

        command = [
            "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
            f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank",
        ]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=place,
            pass_fds=(3, 4),
        )
        os.close(theirs_read)
        os.close(theirs_write)
        self.reader, self.writer = ours_read, ours_write
        self.buffer = b""
        self.number = 0
        self.events = []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=20)

    def receive(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            if not select.select([self.reader], [], [], max(0, end - time.monotonic()))[0]:
                raise Failed(f"the browser did not answer within {seconds} s")
            piece = os.read(self.reader, 1 << 20)
            if not piece:
                raise Failed("the browser ended")
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, seconds=120, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive(seconds)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failed(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def problems(self):
        """What the page did wrong so far: exceptions, console errors, and requests beside the page itself."""
        found = []
        for event in self.events:
            parameters = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                found.append(details.get("exception", {}).get("description") or details["text"])
            elif event.get("method") == "Log.entryAdded":
                found.append(parameters["entry"]["text"])
            elif event.get("method") == "Page.javascriptDialogOpening":
                found.append("a dialog: " + parameters["message"])
            elif event.get("method") == "Network.requestWillBeSent" and parameters["documentURL"] != parameters["request"]["url"]:
                found.append("a request: " + parameters["request"]["url"])
        return found

    def open(self, path, seconds=120, ready="document.documentElement?.dataset.ready ?? ''"):
        """Opens a page and waits until it says that it is ready, or until `ready` is "true". - Returns: seconds."""
        self.events = []
        began = time.monotonic()
        self.call("Page.navigate", url="file://" + path)
        while time.monotonic() - began < seconds:
            if self.value(ready) == "true":
                # What was drawn, not only what was made.
                self.value("new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(1))))")
                return time.monotonic() - began
            if self.problems():
                break
            time.sleep(0.02)
        raise Failed(f"{path} did not become ready: {self.problems()}")

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise Failed(f"{expression}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def key(self, key, text=None):
        codes = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9, "Home": 36, "End": 35}
        for kind in ("keyDown", "keyUp"):
            parameters = {"type": kind, "key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
            if kind == "keyDown" and (text or key == "Enter"):
                parameters["text"] = text or "\r"
            self.call("Input.dispatchKeyEvent", **parameters)

    def type(self, text):
        for letter in text:
            self.key(letter, letter)

    def click(self, selector, x=0.5, y=0.5):
        place = self.value(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
            f" const r = e.getBoundingClientRect(); return [r.left + r.width * {x}, r.top + r.height * {y}]; }})()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, is_dark):
        scheme = "dark" if is_dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
