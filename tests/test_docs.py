"""The Markdown pages: their code blocks run, their links, tables, lengths and names of files are right."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Callable
from pathlib import Path

import how_many
import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(p for p in (ROOT / "docs").glob("*.md") if "```python" in p.read_text(encoding="utf-8"))
BLOCK = re.compile(r"(?<!-->\n)```python\n(.*?)```", re.DOTALL)
WITH_GRADIENTS = "Optimization(model"
"""In blocks of a thorough run alone: gradients of a whole model take long to compile."""
QUOTED = re.compile(r"<!-- from (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)


def test_there_are_pages() -> None:
    assert len(PAGES) >= 3


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_blocks_of_a_page_run_as_one_script(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = [b for b in BLOCK.findall(page.read_text(encoding="utf-8")) if not b.startswith(" ")]
    if how_many.FACTOR == 1:
        blocks = [block for block in blocks if WITH_GRADIENTS not in block]
    script = tmp_path / f"{page.stem.replace('-', '_')}.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script))


def test_quoted_blocks_are_in_their_files() -> None:
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
"""Pages for looking up, which may be longer than others."""


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$|^ {4}[^\n]*$", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The anchors that mkdocs and GitHub give to the headings of a page."""
    titles = re.findall(r"^#+ (.*)$", without_code(page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def dead_links(page: Path) -> list[str]:
    dead = []
    for target, anchor in re.findall(
        r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)", without_code(page.read_text("utf-8"))
    ):
        there = page.parent / target if target else page
        if not there.exists() or (anchor and there.suffix == ".md" and anchor not in anchors(there)):
            dead.append(f"{target}#{anchor}")
    return dead


def blocks_indented_by_less_than_four(page: Path) -> list[str]:
    """Blocks that GitHub shows as code and the site as text."""
    text = page.read_text("utf-8")
    # and an item after a second paragraph for the end of that paragraph
    after_paragraphs = re.findall(r"\n\n(?: {4}\S.*\n)+((?:\d+\.|-) .*)", text)
    return [*re.findall(r"^ {1,3}(?:```|\|).*", text, re.MULTILINE), *after_paragraphs]


def torn_tables(page: Path) -> list[str]:
    """Tables without a head, such as the rest of a table after an empty line."""
    text = without_code(page.read_text("utf-8")) + "\n"
    tables = [table.splitlines() for table in re.findall(r"(?:^ *\|.*\n)+", text, re.MULTILINE)]
    return [table[0] for table in tables if not (len(table) > 2 and re.fullmatch(r" *\|[\s:|-]+", table[1]))]


def more_words_than_1500(page: Path) -> list[str]:
    text = re.sub(r"\]\([^)]*\)", "]", without_code(page.read_text("utf-8")))
    count = len(re.findall(r"[^\W\d_][\w'’-]*", text))
    return [f"{count} words"] if count > 1500 and name_of(page) not in LONG else []


def paragraphs_of_more_words_than_120(page: Path) -> list[str]:
    """An item of a list counts by itself; a table is not a paragraph."""
    long = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", without_code(page.read_text("utf-8"))):
        words = [] if paragraph.lstrip().startswith("|") else re.findall(r"[^\W\d_][\w'’-]*", paragraph)
        if len(words) > 120 and name_of(page) not in LONG:
            long.append(f"{len(words)} words: {paragraph.strip()[:80]} …")
    return long


FAULTS = {
    dead_links: "[a](none.md)",
    blocks_indented_by_less_than_four: "- a\n\n  ```\n",
    torn_tables: "| a |\n|---|\n| 1 |\n\n| 2 |\n",
    more_words_than_1500: "word " * 1501,
    paragraphs_of_more_words_than_120: "word " * 121,
}
"""The checks of pages, and for each the smallest text with such a fault."""


@pytest.mark.parametrize("check", FAULTS)
def test_no_page_has_a_fault(check: Callable[[Path], list[str]]) -> None:
    assert len(TEXTS) > 150
    assert {name_of(page): found for page in TEXTS if (found := check(page))} == {}


@pytest.mark.parametrize("check", FAULTS)
def test_a_check_finds_the_fault_in_a_page_that_has_it(
    check: Callable[[Path], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(FAULTS[check], "utf-8")
    assert len(check(page)) == 1
    page.write_text("# Title\n\nA [link](#title).\n", "utf-8")
    assert check(page) == []


WRITES = re.compile(r"cosim \w+ [^`\n]*(?:-o|--output|--checkpoint|--animate|--report|--log)\b")
WRITING = [
    p
    for p in (ROOT / "docs").glob("*.md")
    if p.name != "command-line.md" and WRITES.search(p.read_text("utf-8"))
]


@pytest.mark.parametrize("page", WRITING, ids=name_of)
def test_a_page_with_commands_that_write_files_links_to_the_rules_for_files(page: Path) -> None:
    assert "command-line.md#files" in page.read_text("utf-8")


def test_there_are_pages_with_commands_that_write() -> None:
    assert len(WRITING) > 10


NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.thorough  # the site runs them too
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


MAINTAINERS_PAGES = [ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("how-*.md"), *DECISIONS]
PATH_IN_TEXT = re.compile(r"`((?:[\w-]+/)*(?:[\w-]+/|[\w-]+\.py))`")
# Files of an example in CONTRIBUTING; folders of the build, of a run or of an SSP; replaced folders.
NOT_IN_THE_TREE = {
    "plugins/cosim_mechanics/forces/quadratic_damper.py",
    "tests/mechanics/test_quadratic_damper.py",
    "compiler/cosim_compiler/shipped/",
    "benchmarks/measured/",
    "typings/",
    "resources/",
    "cosim/compiled/",
}


def test_files_that_pages_for_maintainers_name_exist() -> None:
    rooms = ("cosim", "compiler", "plugins", "fmu", "tests", "benchmarks", "examples", "release")
    files = [path.relative_to(ROOT) for room in rooms for path in (ROOT / room).rglob("*.py")]
    paths = (
        {"/toxfile.py"}
        | {f"/{path}" for path in files}
        | {f"/{parent}/" for path in files for parent in path.parents}
    )
    for page in MAINTAINERS_PAGES:
        for name in set(PATH_IN_TEXT.findall(page.read_text(encoding="utf-8"))) - NOT_IN_THE_TREE:
            assert any(path.endswith(f"/{name}") for path in paths), f"{page.name} names {name}"
