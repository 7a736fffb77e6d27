"""The page in a browser, where Chromium is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cosim_mechanics import Multibody

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = "--headless --no-sandbox --disable-dev-shm-usage --use-angle=swiftshader --enable-unsafe-swiftshader"
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]


def browse(page: Path, *words: str, begin: str = "") -> str:
    command = [
        str(CHROMIUM),
        *FLAGS.split(),
        f"--user-data-dir={page.parent / 'profile'}",
        "--window-size=600,400",
    ]
    done = subprocess.run(
        [*command, *words, f"{page.as_uri()}#{begin}"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


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
        browse(page, f"--screenshot={picture}", begin=f"t={time}")
        pictures.append(picture.read_bytes())
    assert pictures[0] == pictures[1]
    assert pictures[0] != pictures[2]
    shown = browse(page, "--dump-dom", begin="t=0.7&follow=2&traces=1")
    assert '<span id="now">0.700 s</span>' in shown
    view = re.search(r'<div id="view">(.*?)</div>', shown, re.S)
    assert view is not None and "fault" not in view[1]  # WebGL is there


def test_a_second_run_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    first, other = chain(2), chain(2)
    other.set_start("j0.q", 0.8)
    results = [model.simulate(until=0.2, signals=["*.q"]) for model in (first, other)]
    results[0].animate(path=page, compared=results[1])
    pictures = []
    for chosen in ("1", "0"):
        picture = tmp_path / f"{chosen}.png"
        browse(page, f"--screenshot={picture}", begin=f"second={chosen}")
        pictures.append(picture.read_bytes())
    assert pictures[0] != pictures[1]


def test_two_hundred_bodies_take_at_most_four_milliseconds_of_script(tmp_path: Path) -> None:
    """The median of 300 frames; what the software renderer of this test takes is left out."""
    model = Multibody("many")
    for i in range(200):
        model.body(f"b{i}", mass=1.0, inertia=(0.1, 0.1, 0.1))
        place = (1, 0, 0, 0, i % 20, i // 20, 0)
        model.joint("free", child=f"b{i}", name=f"j{i}", q=place, u=(1, 0, 0, 0, 0, 0))
    page = tmp_path / "page.html"
    text = model.simulate(until=0.1, signals=["*.q"]).animate().text
    script = """<script>WebGLRenderingContext.prototype.drawArrays = () => {}; const taken = [];
    for (let i = 0; i < 300; i++) {
      const begun = performance.now(); player.show(i / 3000); taken.push(performance.now() - begun);
    }
    taken.sort((a, b) => a - b); document.title = `median ${taken[150]} ms`;</script></body>"""
    page.write_text(script.join(text.rsplit("</body>", 1)), "utf-8")
    found = re.search(r"<title>median ([\d.]+) ms", browse(page, "--dump-dom"))
    assert found is not None
    assert float(found[1]) <= 4.0


def test_a_narrow_window_plays(tmp_path: Path) -> None:
    """Below 700 pixels the signals are hidden; moving to a time raises nothing."""
    page = tmp_path / "page.html"
    text = chain(2).simulate(until=0.2, signals=["*.q"]).animate().text
    script = "<script>player.show(0.1); document.title = `at ${player.time}`;</script></body>"
    page.write_text(script.join(text.rsplit("</body>", 1)), "utf-8")
    assert "<title>at 0.1</title>" in browse(page, "--dump-dom")


def test_the_page_of_the_engine_mount_is_small(tmp_path: Path) -> None:
    from cosim.cli import main

    mount = Path(__file__).parent.parent.parent / "examples" / "engine_mount" / "engine_mount.toml"
    page = tmp_path / "mount.html"
    assert main(["animate", str(mount), "-o", str(page), "-q"]) == 0
    assert page.stat().st_size < 1.5e6
