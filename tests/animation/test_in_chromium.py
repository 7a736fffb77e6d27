"""The page of an animation in Chromium, if it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cosim.cli import main
from cosim_mechanics import Multibody

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = "--headless --no-sandbox --disable-dev-shm-usage --use-angle=swiftshader --enable-unsafe-swiftshader"
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]


def browse(page: Path, *options: str, fragment: str = "") -> str:
    """Open the page and return the output of the browser."""
    command = [
        str(CHROMIUM),
        *FLAGS.split(),
        f"--user-data-dir={page.parent / 'profile'}",
        "--window-size=600,400",
    ]
    finished = subprocess.run(
        [*command, *options, f"{page.as_uri()}#{fragment}"], capture_output=True, text=True, timeout=300
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def chain(count: int) -> Multibody:
    model = Multibody("chain")
    parent = "ground"
    for i in range(count):
        model.body(f"b{i}", mass=1.0, inertia=(0.02, 0.02, 0.02), center_of_mass=(0, -0.5, 0))
        model.joint("pin", f"b{i}", parent, name=f"j{i}", frame_on_parent=(0, -1.0 * (i > 0), 0), q=0.1)
        parent = f"b{i}"
    return model


def test_pictures_change_with_time(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    chain(3).simulate(until=1.0, signals=["*.q"]).animate(path=page)
    pictures = []
    for time in ("0", "0", "0.7"):
        picture = tmp_path / f"{len(pictures)}.png"
        browse(page, f"--screenshot={picture}", fragment=f"t={time}")
        pictures.append(picture.read_bytes())
    assert pictures[0] == pictures[1]
    assert pictures[0] != pictures[2]
    document = browse(page, "--dump-dom", fragment="t=0.7&follow=2&traces=1")
    assert '<span id="now">0.700 s</span>' in document
    view = re.search(r'<div id="view">(.*?)</div>', document, re.S)
    assert view is not None and "fault" not in view[1]  # WebGL works


def test_a_second_run_is_drawn(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    first, second = chain(2), chain(2)
    second.set_start("j0.q", 0.8)
    results = [model.simulate(until=0.2, signals=["*.q"]) for model in (first, second)]
    results[0].animate(path=page, compared=results[1])
    pictures = []
    for is_drawn in ("1", "0"):
        picture = tmp_path / f"{is_drawn}.png"
        browse(page, f"--screenshot={picture}", fragment=f"second={is_drawn}")
        pictures.append(picture.read_bytes())
    assert pictures[0] != pictures[1]


def test_two_hundred_bodies_take_at_most_four_milliseconds_of_script(tmp_path: Path) -> None:
    """This is the median of 300 frames without drawing, which a software renderer does in this test."""
    model = Multibody("many")
    for i in range(200):
        model.body(f"b{i}", mass=1.0, inertia=(0.1, 0.1, 0.1))
        pose = (1, 0, 0, 0, i % 20, i // 20, 0)
        model.joint("free", child=f"b{i}", name=f"j{i}", q=pose, u=(1, 0, 0, 0, 0, 0))
    page = tmp_path / "page.html"
    text = model.simulate(until=0.1, signals=["*.q"]).animate().text
    script = """<script>WebGLRenderingContext.prototype.drawArrays = () => {}; const taken = [];
    for (let i = 0; i < 300; i++) {
      const begun = performance.now(); player.show(i / 3000); taken.push(performance.now() - begun);
    }
    taken.sort((a, b) => a - b); document.title = `median ${taken[150]} ms`;</script></body>"""
    page.write_text(script.join(text.rsplit("</body>", 1)), "utf-8")
    median = re.search(r"<title>median ([\d.]+) ms", browse(page, "--dump-dom"))
    assert median is not None
    assert float(median[1]) <= 4.0


def test_a_narrow_window_shows_a_time(tmp_path: Path) -> None:
    """Signals are hidden below 700 pixels; moving to a time must still work."""
    page = tmp_path / "page.html"
    text = chain(2).simulate(until=0.2, signals=["*.q"]).animate().text
    script = "<script>player.show(0.1); document.title = `at ${player.time}`;</script></body>"
    page.write_text(script.join(text.rsplit("</body>", 1)), "utf-8")
    assert "<title>at 0.1</title>" in browse(page, "--dump-dom")


def test_the_page_of_the_engine_mount_is_small(tmp_path: Path) -> None:
    mount = Path(__file__).parent.parent.parent / "examples" / "engine_mount" / "engine_mount.toml"
    page = tmp_path / "mount.html"
    assert main(["animate", str(mount), "-o", str(page), "-q"]) == 0
    assert page.stat().st_size < 1.5e6
