"""The Python blocks of the docs run, page by page, each page as one script."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(p for p in (ROOT / "docs").glob("*.md") if "```python" in p.read_text(encoding="utf-8"))
BLOCK = re.compile(r"(?<!-->\n)```python\n(.*?)```", re.DOTALL)
QUOTED = re.compile(r"<!-- from (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)


def test_there_are_pages() -> None:
    assert len(PAGES) >= 3


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [b for b in BLOCK.findall(page.read_text(encoding="utf-8")) if not b.startswith(" ")]
    script = tmp_path / f"{page.stem.replace('-', '_')}.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script))


def test_quoted_blocks_stand_in_their_files() -> None:
    quoted = [q for page in PAGES for q in QUOTED.findall(page.read_text(encoding="utf-8"))]
    assert len(quoted) >= 5
    for path, block in quoted:
        assert block in (ROOT / path).read_text(encoding="utf-8"), f"{path} has changed: {block[:60]!r}"


TEXTS = sorted(
    [
        *(ROOT / "docs").rglob("*.md"),
        *ROOT.glob("*.md"),
        *ROOT.glob("examples/*/README.md"),
        *ROOT.glob("benchmarks/*/README.md"),
    ]
)
LONG = {"CHANGELOG.md", "docs/decisions/README.md", "docs/known-gaps.md"}
"""Lists that are looked up, not read."""


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$|^ {4}[^\n]*$", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """What mkdocs and GitHub call the headings of a page."""
    titles = re.findall(r"^#+ (.*)$", without_code(page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(
        r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)", without_code(page.read_text("utf-8"))
    ):
        there = page.parent / target if target else page
        assert there.exists(), f"{page.name} links to {target}"
        if anchor and there.suffix == ".md":
            assert anchor in anchors(there), f"{page.name} links to {target}#{anchor}"


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_blocks_in_lists_are_indented_by_four(page: Path) -> None:
    """The site takes those that are indented by less for text; GitHub does not mind."""
    text = page.read_text("utf-8")
    assert re.findall(r"^ {1,3}(?:```|\|).*", text, re.MULTILINE) == []
    # and an item after a second paragraph for the end of that paragraph
    assert re.findall(r"\n\n(?: {4}\S.*\n)+((?:\d+\.|-) .*)", text) == []


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_tables_are_whole(page: Path) -> None:
    """After an empty line the rest of a table is text."""
    for table in re.findall(r"(?:^ *\|.*\n)+", without_code(page.read_text("utf-8")) + "\n", re.MULTILINE):
        lines = table.splitlines()
        assert len(lines) > 2 and re.fullmatch(r" *\|[\s:|-]+", lines[1]), f"{page.name}: {lines[0]}"


@pytest.mark.parametrize("page", [page for page in TEXTS if name_of(page) not in LONG], ids=name_of)
def test_pages_have_1500_words_at_most(page: Path) -> None:
    text = re.sub(r"\]\([^)]*\)", "]", without_code(page.read_text("utf-8")))
    assert len(re.findall(r"[^\W\d_][\w'’-]*", text)) <= 1500


@pytest.mark.parametrize("page", [page for page in TEXTS if name_of(page) not in LONG], ids=name_of)
def test_paragraphs_have_120_words_at_most(page: Path) -> None:
    """An item of a list counts by itself; a table is not a paragraph."""
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", without_code(page.read_text("utf-8"))):
        words = [] if paragraph.lstrip().startswith("|") else re.findall(r"[^\W\d_][\w'’-]*", paragraph)
        assert len(words) <= 120, f"{len(words)} words: {paragraph.strip()[:80]} …"


WRITES = re.compile(r"cosim \w+ [^`\n]*(?:-o|--output|--checkpoint|--animate|--report|--log)\b")
WRITING = [
    p
    for p in (ROOT / "docs").glob("*.md")
    if p.name != "command-line.md" and WRITES.search(p.read_text("utf-8"))
]


@pytest.mark.parametrize("page", WRITING, ids=name_of)
def test_pages_with_commands_that_write_say_where_the_rule_on_files_stands(page: Path) -> None:
    assert "command-line.md#files" in page.read_text("utf-8")


def test_there_are_such_pages() -> None:
    assert len(WRITING) > 10


NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebooks_run_and_have_no_outputs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 5
    assert [cell["outputs"] for cell in code if cell["outputs"] or cell["execution_count"]] == []
    script = tmp_path / f"{path.stem.replace('-', '_')}.py"
    script.write_text("\n".join("".join(cell["source"]) for cell in code), "utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script))
    for target in re.findall(r"\]\(([^)#:]+)", "".join("".join(cell["source"]) for cell in cells)):
        assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_there_are_two_notebooks() -> None:
    assert len(NOTEBOOKS) >= 2


DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))


def test_decisions_have_a_number_of_their_own_a_title_and_a_status() -> None:
    numbers = [page.name[:4] for page in DECISIONS]
    assert 60 < len(numbers) == len(set(numbers)) <= 85
    for page in DECISIONS:
        title, empty, status = page.read_text("utf-8").split("\n")[:3]
        assert title.startswith(f"# {page.name[:4]}: "), f"{page.name}: {title}"
        assert empty == "" and re.match(r"Status: (accepted|replaced by)", status), f"{page.name}: {status}"


def test_the_index_of_decisions_is_complete() -> None:
    index = (ROOT / "docs" / "decisions" / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| \[(\d{4})\]\((\S+)\) \| (.*) \| ", index, re.MULTILINE)
    assert sorted(name for _, name, _ in rows) == [page.name for page in DECISIONS]
    for number, name, title in rows:
        first = (ROOT / "docs" / "decisions" / name).read_text("utf-8").split("\n")[0]
        assert first == f"# {number}: {title}"
