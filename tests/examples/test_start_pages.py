"""The files, commands, numbers and links of README and of the start pages."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cosim import kit
from cosim_workbench import ModelFile

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
PAGES = sorted((ROOT / "docs").glob("start-*.md"), key=lambda page: (page.stem != "start-model", page.stem))
"""The shortest page is first, because a short run has only the first one."""
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)"| (fails))?\n(.*?)^```$', re.DOTALL | re.MULTILINE)


def run_line(command: str, folder: Path, path: list[str]) -> tuple[int, str]:
    """Run a line of a terminal and return its status and its output without the lines about speed."""
    words = shlex.split(command)
    start = {"cosim": ["-m", "cosim"], "python": []}[words[0]]
    search_path = os.pathsep.join([*path, *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": search_path, "COLUMNS": "120", "MPLBACKEND": "Agg"}
    finished = subprocess.run(
        [sys.executable, *start, *words[1:]],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    lines = [line.rstrip() for line in finished.stdout.split("\n")]
    return finished.returncode, "\n".join(
        line for line in lines if "× real time" not in line and not line.startswith("compiling")
    )


def blocks_of_readme(language: str) -> list[str]:
    return [text for block_language, _, _, text in BLOCK.findall(README) if block_language == language]


def test_there_are_three_start_pages() -> None:
    assert len(PAGES) == 3


@pytest.mark.few(1)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_of_a_start_page_print_their_output(
    page: Path, tmp_path: Path, install: Callable[[Path], Any]
) -> None:
    commands, path = 0, [str(ROOT / "docs"), os.environ.get("PYTHONPATH", "")]
    for language, title, fails, text in BLOCK.findall(page.read_text("utf-8")):
        if title:
            (tmp_path / title).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / title).write_text(text, "utf-8")
        assert language != "console" or text.startswith("$ ")
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
            commands += 1
            if command.startswith("python -m pip install"):
                path.insert(0, str(install(tmp_path / command.split()[-1]).site))
                continue
            status, output = run_line(command, tmp_path, path)
            assert (status != 0) == bool(fails), output
            pattern = "".join(".*" if part == "…" else re.escape(part) for part in re.split("(…)", expected))
            assert re.fullmatch(pattern, output.rstrip() + "\n", re.DOTALL), f"$ {command}\n{output}"
    assert commands >= 3


def test_snippets_of_readme_have_eight_lines_at_most() -> None:
    snippets = blocks_of_readme("python") + blocks_of_readme("toml")
    assert len(snippets) == 3
    assert all(len(snippet.splitlines()) <= 8 for snippet in snippets)


def test_python_of_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    example_use = [
        'model.add(CubicSpring, "spring", coordinate="hinge", stiffness=3.0)',
        'angles = model.simulate(until=0.1)["hinge.angle"]',
    ]
    names = kit.run_source("\n".join([*blocks_of_readme("python"), *example_use]))
    assert (tmp_path / "pendulum.fmu").is_file()
    assert capsys.readouterr().out.startswith("0.16")
    assert len(names["angles"]) > 1


@pytest.mark.thorough
def test_scenario_of_readme_runs(tmp_path: Path, install: Callable[[Path], Any]) -> None:
    example = ROOT / "examples" / "engine_mount"
    (text,) = blocks_of_readme("toml")
    (tmp_path / "loop.toml").write_text(text.replace("until = 1.5", "until = 0.01"), "utf-8")
    with kit.use_registry(install(example / "plugin").registry):
        for name in ("plant", "controller"):
            ModelFile.read(example / f"{name}.toml").export_fmu(tmp_path / f"{name}.fmu", native=False)
        status, output = run_line("cosim cosimulate loop.toml", tmp_path, [str(example / "plugin")])
    assert status == 0, output
    assert "100 steps" in output


def test_numbers_of_readme_are_in_the_benchmarks() -> None:
    """Each number in a row that links to a benchmark must be in the linked file."""
    rows = [line for line in README.split("\n") if line.startswith("| ") and "](benchmarks/" in line]
    assert len(rows) == 5
    for row in rows:
        _, _, claim, _ = row.split("|")
        (link,) = re.findall(r"\]\((benchmarks/[^)]+)\)", claim)
        source = (ROOT / link).read_text("utf-8")
        numbers = re.findall(r"\d+(?:\.\d+)?", claim.replace(link, ""))
        assert numbers
        for number in numbers:
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.])", source), f"{number} is not in {link}"
    assert "six times numbalsoda's" in (ROOT / "benchmarks/step/README.md").read_text("utf-8")


def test_linked_files_of_readme_exist() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).exists()] == []
