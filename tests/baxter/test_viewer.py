"""The page of --view in a headless browser."""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import io
import itertools
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlparse

import numpy as np
import pytest

from diffpbd.runtime import Robot
from diffpbd.runtime.arms.viewer import Viewer
from diffpbd.runtime.arms.viewer_page import skeleton
from diffpbd.runtime.records.messages import Header, Tick

from .conftest import PATIENCE, wait_until

CHROMIUM = next((path for name in ("chromium", "chromium-browser", "google-chrome")
                 if (path := shutil.which(name))), None)  # fmt: skip


def tick(robot: Robot, time: float) -> Tick:
    q = np.array([0.1, -0.55 + 0.2 * np.sin(time), 0.1, 0.9, 0.0, 0.8, 0.0])
    torque = 3.0 * np.sin(time + np.arange(robot.n))
    return Tick(Header(), time, 0.004, 3, 0, robot.joints, q, 0 * q, torque, 0 * q, torque, torque)


def test_the_skeleton_ends_at_the_tip(arm_robot: Robot) -> None:
    q = np.array([0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0])
    points = skeleton(arm_robot, q)
    np.testing.assert_array_equal(points[-1], np.ravel(arm_robot.tip_pose(q).position))
    assert np.linalg.norm(np.diff(points, axis=0), axis=1).max() < 0.6


def screenshots(url: str, folder: Path, meanwhile: Callable[[], None]) -> Iterator[bytes]:
    """PNGs of the page, one after the other, through the browser's debugging port."""
    client = pytest.importorskip("websockets.sync.client")
    browser = subprocess.Popen(
        [CHROMIUM, "--headless", "--no-sandbox", "--enable-unsafe-swiftshader", "--use-angle=swiftshader",
         "--disable-dev-shm-usage", "--remote-debugging-port=0", f"--user-data-dir={folder}",
         "--window-size=1280,900", url],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        port = folder / "DevToolsActivePort"
        wait_until(port.is_file, "the browser did not start")
        number = port.read_text().split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{number}/json") as answer:
            pages = json.load(answer)
        target = next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page")
        with client.connect(target, max_size=None) as connection:
            for count in itertools.count():
                end = time.monotonic() + 0.5
                while time.monotonic() < end:
                    meanwhile()
                connection.send(json.dumps({"id": count, "method": "Page.captureScreenshot"}))
                while (message := json.loads(connection.recv(timeout=20.0))).get("id") != count:
                    meanwhile()
                yield base64.b64decode(message["result"]["data"])
    finally:
        browser.terminate()
        browser.wait(10.0)


def test_a_browser_shows_the_arm(arm_robot: Robot, tmp_path: Path) -> None:
    if importlib.util.find_spec("viser") is None or CHROMIUM is None:
        pytest.skip("viser or Chromium is not installed")
    pil = pytest.importorskip("PIL.Image")
    with Viewer(arm_robot, port=0) as viewer:
        address = urlparse(viewer.url)
        assert address.hostname == "127.0.0.1"
        with pytest.raises(OSError), socket.create_connection((own_address(), address.port), 1.0):
            pass  # not served to other machines
        for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(urllib.request.Request(viewer.url, headers=headers), timeout=5.0)
        start = time.monotonic()

        def move() -> None:
            viewer.tick(tick(arm_robot, time.monotonic() - start))
            time.sleep(0.02)

        with contextlib.closing(screenshots(viewer.url, tmp_path / "profile", move)) as pictures:
            for picture in pictures:
                pixels = np.asarray(pil.open(io.BytesIO(picture)).convert("RGB"), dtype=int)
                # The scene's blue balls are on the page, and a panel with text and curves.
                red, green, blue = pixels[..., 0], pixels[..., 1], pixels[..., 2]
                balls = ((blue > red + 30) & (blue > green + 15)).sum()
                colours = len(np.unique(pixels.reshape(-1, 3), axis=0))
                if balls > 200 and colours > 500:
                    break
                assert time.monotonic() - start < PATIENCE, (balls, colours)


def own_address() -> str:
    """This machine's address on its network, or one that nobody has."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            found = str(probe.getsockname()[0])
        except OSError:
            return "192.0.2.1"
    return found if not found.startswith("127.") else "192.0.2.1"
