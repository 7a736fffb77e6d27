"""Each measured figure of README and documentation has a claim with the command that measures it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from claims import PAGE, claims_page, read_claims, read_exempt

ROOT = Path(__file__).parent.parent

FIGURE = re.compile(
    r"\d[\d.,]* times\b|\d µs\b|\d ns\b|\d (?:kB|MB|GB)\b|\d (?:ms|s) of (?:CPU|processor) time"
    r"|\b(?:takes?|costs?|took)\b[^.|]{0,60}?\d (?:ms|s)\b"
)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CLAIMS = read_claims()


def figures(page: Path) -> list[tuple[int, str]]:
    """The line and the text of each measured figure outside code."""
    text = re.sub(
        r"^```.*?^```", lambda code: "\n" * code[0].count("\n"), page.read_text("utf-8"), flags=re.S | re.M
    )
    return [(text.count("\n", 0, m.start()) + 1, m[0]) for m in FIGURE.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_figure_has_a_claim(page: Path) -> None:
    if page == PAGE:
        return
    name = page.relative_to(ROOT).as_posix()
    known = [claim.figure for claim in CLAIMS if name in claim.pages] + list(read_exempt().get(name, []))
    lines = page.read_text("utf-8").split("\n")
    for line, figure in figures(page):
        around = " ".join(lines[line - 1 : line + 1])
        assert any(text in around and (figure in text or text in figure) for text in known), (
            f"{name}:{line}: {figure!r} has no row in benchmarks/claims.toml"
        )


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_the_figure_of_a_claim_is_in_its_pages_and_its_script_exists(claim) -> None:
    for page in claim.pages:
        assert claim.figure in (ROOT / page).read_text("utf-8").replace("\n", " "), page
    scripts = [word for word in shlex.split(claim.command) if word.endswith(".py")]
    assert scripts and all((ROOT / script).is_file() for script in scripts)
    assert claim.measured and claim.commit and claim.machine


def test_the_page_of_claims_is_generated_from_them() -> None:
    assert PAGE.read_text("utf-8") == claims_page(CLAIMS), "run python benchmarks/claims.py --page"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It takes 3 ms.", 1),
        ("a run 4.2 times as long", 1),
        ("a step of 3 ms", 0),
        ("12 µs", 1),
        ("```\n12 µs\n```", 0),
    ],
)
def test_times_sizes_and_factors_are_figures(tmp_path: Path, text: str, count: int) -> None:
    page = tmp_path / "page.md"
    page.write_text(text + "\n", "utf-8")
    assert len(figures(page)) == count
