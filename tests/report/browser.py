"""Headless Chromium, driven over the WebDriver protocol (W3C) with nothing but Python's own library.

with Browser() as browser:
    browser.open("file:///...")
"""
import base64
import contextlib
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Enter": "\ue007",
        "Tab": "\ue004", "Home": "\ue011", "End": "\ue010", "Backspace": "\ue003", "Space": " "}
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # never by way of a proxy
SHIFT = "\ue008"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars"]


class Browser:
    """One browser with a profile of its own; everything it started ends with it."""

    def __init__(self, width=1360, height=900, dark=False):
        self.folder = tempfile.mkdtemp(prefix="nplus1-report-")
        self.downloads = pathlib.Path(self.folder, "downloads")
        self.downloads.mkdir()
        self.driver = subprocess.Popen([program("chromedriver"), "--port=0"], stdout=subprocess.PIPE, text=True)
        try:
            self.base = f"http://127.0.0.1:{self.port()}"
            self.session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": self.capabilities(width, height, dark)}})["sessionId"]
        except BaseException:
            self.driver.kill()
            raise

    def port(self):
        for line in self.driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                return int(found.group(1))
        raise RuntimeError("chromedriver did not start")

    def capabilities(self, width, height, dark):
        flags = FLAGS + [f"--window-size={width},{height}", f"--user-data-dir={self.folder}/profile"]
        flags += ["--blink-settings=preferredColorScheme=0"] if dark else ["--blink-settings=preferredColorScheme=1"]
        return {"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
                "goog:chromeOptions": {"binary": program("chromium"), "args": flags,
                                       "prefs": {"download.default_directory": str(self.downloads)}}}

    def call(self, method, path, body=None):
        request = urllib.request.Request(self.base + path, method=method, headers={"Content-Type": "application/json"},
                                         data=json.dumps(body or {}).encode() if method == "POST" else None)
        try:
            with DIRECT.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.read().decode()[:500]}") from None

    def post(self, path, body=None):
        return self.call("POST", f"/session/{self.session}{path}", body)

    def get(self, path):
        return self.call("GET", f"/session/{self.session}{path}")

    # --- what tests use ---
    def open(self, url, ready="#report[data-ready=true]"):
        self.post("/url", {"url": url})
        self.wait(f"document.querySelector('{ready}') != null")

    def run(self, script, *arguments):
        return self.post("/execute/sync", {"script": script, "args": list(arguments)})

    def value(self, expression, *arguments):
        return self.run(f"return {expression}", *arguments)

    def wait(self, expression, seconds=20):
        end = time.monotonic() + seconds
        while not self.value(expression):
            if time.monotonic() > end:
                raise AssertionError(f"it never came true that {expression}")
            time.sleep(0.05)

    def find(self, selector):
        return self.post("/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.post(f"/element/{self.find(selector)}/click")

    def click_text(self, text, within="body"):
        """The visible button with that text."""
        element = self.value("[...document.querySelector(arguments[0]).querySelectorAll('button')].find("
                             "(b) => b.textContent.trim() === arguments[1] && b.offsetParent)", within, text)
        if element is None:
            raise AssertionError(f"there is no button '{text}' in {within}")
        self.post(f"/element/{element[ELEMENT]}/click")

    def press(self, *keys, shift=False):
        """To whatever has the focus."""
        actions = [{"type": "keyDown", "value": SHIFT}] if shift else []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        actions += [{"type": "keyUp", "value": SHIFT}] if shift else []
        self.post("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def pointer(self, selector, x, y, *, drag_to=None, click=True):
        """Moves to (x, y) from the element's centre; clicks, or drags on from there."""
        origin = {ELEMENT: self.find(selector)}
        actions = [{"type": "pointerMove", "origin": origin, "x": x, "y": y, "duration": 20}]
        if click or drag_to:
            actions.append({"type": "pointerDown", "button": 0})
        if drag_to:
            actions.append({"type": "pointerMove", "origin": origin, "x": drag_to[0], "y": drag_to[1], "duration": 50})
        if click or drag_to:
            actions.append({"type": "pointerUp", "button": 0})
        self.post("/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]})

    def wheel(self, selector, delta):
        self.post("/actions", {"actions": [{"type": "wheel", "id": "wheel", "actions": [
            {"type": "scroll", "origin": {ELEMENT: self.find(selector)}, "x": 0, "y": 0, "deltaX": 0, "deltaY": delta, "duration": 20}]}]})

    def focus(self, selector):
        self.run("document.querySelector(arguments[0]).focus()", selector)

    def text(self, selector):
        return self.value("document.querySelector(arguments[0]).textContent", selector)

    def downloaded(self, name, seconds=20):
        """The text of a file that the page offered, which is removed."""
        path, end = self.downloads / name, time.monotonic() + seconds
        while not path.exists() or path.stat().st_size == 0 or list(self.downloads.glob("*.crdownload")):
            if time.monotonic() > end:
                raise AssertionError(f"{name} was not downloaded; there is {[p.name for p in self.downloads.iterdir()]}")
            time.sleep(0.05)
        text = path.read_text()
        path.unlink()
        return text

    def console(self):
        """Warnings and errors since the last call."""
        return [e["message"] for e in self.post("/se/log", {"type": "browser"}) if e["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """Addresses that pages asked for since the last call."""
        entries = [json.loads(e["message"])["message"] for e in self.post("/se/log", {"type": "performance"})]
        return [e["params"]["request"]["url"] for e in entries if e["method"] == "Network.requestWillBeSent"]

    def screenshot(self, path, whole=True):
        if whole:
            height = self.value("document.documentElement.scrollHeight")
            self.post("/window/rect", {"width": 1360, "height": min(max(height + 20, 600), 6000)})
        pathlib.Path(path).write_bytes(base64.b64decode(self.get("/screenshot")))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(Exception):
            self.call("DELETE", f"/session/{self.session}")
        self.driver.terminate()
        self.driver.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def program(name):
    path = shutil.which(name)
    if path is None:
        raise SystemExit(f"{name} is missing: tools/install_dependencies.sh installs it")
    return path
