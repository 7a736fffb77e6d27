"""The site: its moving picture, the checks of its links, and a search that needs no server."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import check_offline
import kind_pages
import moving_picture
import numpy as np
import public_names
import pytest
import reference_pages
from test_in_chromium import CHROMIUM, browse

import cosim
import cosim.kit

ROOT = Path(__file__).parents[1]


def test_the_moving_picture_shows_a_run_that_repeats_without_a_jump() -> None:
    result = moving_picture.run()
    assert len(result.time) == moving_picture.FRAMES + 1
    crank = result["crank_joint.angle"]
    np.testing.assert_allclose(np.diff(crank), 2.0 * np.pi / moving_picture.FRAMES, atol=1e-9)
    for signal in ("coupler_joint.angle", "rocker_joint.angle"):
        revolutions = (result[signal][-1] - result[signal][0]) / (2.0 * np.pi)
        assert revolutions == pytest.approx(round(revolutions), abs=1e-7)
    assert moving_picture.draw(result) == moving_picture.PICTURE.read_text("utf-8")


def test_the_page_of_ids_links_to_the_section_of_each_id() -> None:
    pages = reference_pages.reference_pages()
    listed = pages["reference/ids.md"]
    for kind, entries in kind_pages.registered().items():
        for entry in entries:
            row = re.search(
                rf"^\| \[`{re.escape(entry.id)}`\]\({kind}\.md#([^)]+)\) \|", listed, re.MULTILINE
            )
            assert row is not None, entry.id
            heading = f"## {entry.id if kind != 'command' else f'cosim {entry.cls.name}'}"
            assert heading in pages[f"reference/{kind}.md"].splitlines()
            assert row[1] == heading[3:].replace(".", "").replace(" ", "-")


def site_with_link(folder: Path, link: str) -> Path:
    """A site of two pages, the first with a link."""
    (folder / "inner").mkdir()
    (folder / "index.html").write_text(f'<h1 id="top">a</h1><a class="x" href="{link}">b</a>')
    (folder / "inner" / "page.html").write_text("<h2 id=a&amp;b>c</h2><h2 id='second'>d</h2>")
    (folder / "search").mkdir()
    (folder / "search" / "search_index.js").write_text("var __index = {}")
    return folder


@pytest.mark.parametrize(
    "link", ["inner/nowhere.html", "inner/page.html#third", "#bottom", "../x/index.html"]
)
def test_a_broken_link_is_reported(tmp_path: Path, link: str) -> None:
    assert check_offline.broken(site_with_link(tmp_path, link)) == [f"index.html: {link}"]


@pytest.mark.parametrize(
    "link",
    ["inner/page.html", "inner/page.html#second", "#top", "#", ".", "https://example.org/x#y", "mailto:a@b"],
)
def test_a_good_link_is_not_reported(tmp_path: Path, link: str) -> None:
    assert check_offline.broken(site_with_link(tmp_path, link)) == []


def test_a_site_without_the_index_of_its_search_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["check_offline.py", str(site_with_link(tmp_path, "#top"))])
    assert check_offline.main() == 0
    shutil.rmtree(tmp_path / "search")
    assert check_offline.main() == 1
    assert "search_index.js is missing" in capsys.readouterr().out


@pytest.mark.thorough
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_page_that_is_opened_from_the_disk_has_a_worker(tmp_path: Path) -> None:
    """Messages arrive in order, also those that are sent before its script is loaded."""
    shutil.copy(ROOT / "docs" / "javascripts" / "iframe-worker.js", tmp_path)
    (tmp_path / "double.js").write_text('addEventListener("message", (e) => postMessage(2 * e.data))')
    page = tmp_path / "page.html"
    page.write_text(
        '<script src="iframe-worker.js"></script><body><p id="answers"></p><script>'
        'const worker = new Worker("double.js");'
        'worker.addEventListener("message", (e) => {'
        '  document.getElementById("answers").append(e.data + ";");'
        "  if (e.data === 6) worker.postMessage(10); });"
        "worker.postMessage(1); worker.postMessage(3);</script></body>"
    )
    shown = browse(page, "--virtual-time-budget=3000", "--dump-dom")
    assert '<p id="answers">2;6;20;</p>' in shown


def test_functions_without_a_definition_in_a_source_are_only_listed() -> None:
    """mkdocstrings reads sources: a function that a call has returned would stop the site."""
    assert public_names.has_definition(cosim.Result)
    assert public_names.has_definition(cosim.kit.History.append)
    for name in ("call_step", "advance_run", "step_without_states"):
        assert not public_names.has_definition(getattr(cosim.kit, name))
        assert f"`{name}`" in reference_pages.reference_pages()["reference/api/cosim.kit.md"]
