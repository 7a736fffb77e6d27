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
