"""The generated reference has all registered classes and public names, and the site loads no other site."""

from __future__ import annotations

import argparse
import inspect
import re
from pathlib import Path

import check_offline
import kind_pages
import overview_pages
import public_names
import pytest
import reference_pages

import cosim


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return reference_pages.reference_pages()


def section(page: str, title: str) -> str:
    """The text below a heading, to the next one."""
    match = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    assert match is not None, f"no section '{title}'"
    return match.group(1)


def test_everything_registered_has_a_section(pages: dict[str, str]) -> None:
    entries = [entry for found in kind_pages.registered().values() for entry in found]
    assert len(entries) > 130
    for entry in entries:
        title = f"cosim {entry.cls.name}" if entry.kind == "command" else entry.id
        text = section(pages[f"reference/{entry.kind}.md"], title)
        if issubclass(entry.cls, cosim.Component):
            for declaration in entry.cls.declarations.values():
                if declaration.kind == "parameter" and not declaration.options.get("internal"):
                    assert f"| {declaration.name} | parameter |" in text, entry.id


def test_the_keys_of_files_are_in_their_pages(pages: dict[str, str]) -> None:
    for kind, keys in {
        "model": (
            "bodies.NAME.mass",
            "elements.NAME.type",
            "simulation.accuracy",
            "simulation.output.signals",
        ),
        "scenario": ("participants.NAME.fmu", "connections[].factor", "master.algorithm", "output.inside"),
    }.items():
        page = pages[f"reference/{kind}-file.md"]
        schema = next(e.cls for e in cosim.registry().entries("file_schema") if e.cls.name == kind)().schema()
        for table in schema["properties"]:
            section(page, table)
        for key in keys:
            assert f"| `{key}` |" in page, key


def test_every_public_name_of_a_package_is_in_its_page(pages: dict[str, str]) -> None:
    for package in public_names.PACKAGES:
        names = public_names.public_names(package)
        assert names, package
        text = pages[f"reference/api/{package}.md"]
        for name, _ in names:
            headings = (f"## {name}\n", f'      heading: "{name}"\n', f"`{name}`")
            assert any(heading in text for heading in headings), f"{package}.{name}"
        without = [name for name, thing in names if inspect.isroutine(thing) and not inspect.getdoc(thing)]
        assert not without, f"help({package}) says nothing of {without}"
    contract = pages["reference/api/cosim.testing.md"].split('      heading: "MeasureContract"\n')[1]
    inherited = contract.split(":::")[0]
    assert "test_refuses_parameters_out_of_bounds" in inherited, "inherited from a base that is not public"


def test_every_package_that_exports_names_has_a_page() -> None:
    root = Path(__file__).parents[1]
    packages_with_names = set()
    for folder, packages in ((root, "cosim"), (root / "plugins", "cosim_*"), (root / "fmu", "cosim_*")):
        for path in folder.glob(f"{packages}/**/__init__.py"):
            if re.search(r"import (\w+) as \1$", path.read_text("utf-8"), re.MULTILINE):
                packages_with_names.add(".".join(path.parent.relative_to(folder).parts))
    workbench = {"cosim_workbench.arguments", "cosim_workbench.reports"}
    modules = {"cosim.kit", "cosim_fmu.abilities", "cosim_signals.series", *workbench}
    assert packages_with_names == set(public_names.PACKAGES) - modules


def test_the_gallery_and_the_page_of_numbers_link_to_all_examples_and_benchmarks() -> None:
    root = Path(__file__).parents[1]
    examples, numbers = (
        [path.relative_to(root).as_posix() for path in sorted(root.glob(f"{folder}/*/README.md"))]
        for folder in ("examples", "benchmarks")
    )
    gallery = overview_pages.gallery_page(examples)
    assert len(examples) >= 9 and all(f"]({page})**" in gallery for page in examples)
    pictures = re.findall(r"!\[\]\(([^)]+)\)", gallery)
    assert len(pictures) >= 8
    assert all((root / p).is_file() or (root / "docs" / p).is_file() for p in pictures)
    page = overview_pages.numbers_page(numbers)
    assert len(numbers) >= 12 and all(re.search(rf"\]\({path}\) \| `\w+\.py`", page) for path in numbers)


def test_options_of_commands_and_units_are_in_their_pages(pages: dict[str, str]) -> None:
    commands = pages["reference/command.md"]
    assert "`--until`" in section(commands, "cosim run")
    assert "`--strict`" in section(commands, "cosim plugins")
    assert "`--json`" in section(commands, "Options of all commands")
    assert argparse.SUPPRESS not in commands
    assert "| `rpm` | 0.1047197551 | `s-1.rad` |" in pages["reference/units.md"]


def test_all_rows_of_a_table_have_the_same_number_of_cells(pages: dict[str, str]) -> None:
    for path, text in pages.items():
        for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
            counts = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
            assert len(counts) == 1, f"{path}: {table[:200]}"


@pytest.mark.parametrize(
    "text",
    [
        '<link rel="stylesheet" href="https://fonts.example/a.css">',
        '<script async src="//cdn.example/x.js"></script>',
        "<style>@import 'https://cdn.example/x.css';</style>",
        '<img alt="" src="http://pictures.example/a.png">',
    ],
)
def test_a_resource_of_another_site_is_noticed(tmp_path: Path, text: str) -> None:
    (tmp_path / "page.html").write_text(f"<html>{text}</html>")
    assert len(check_offline.loads(tmp_path)) == 1


def test_links_and_own_files_are_allowed(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        '<a href="https://example.org">x</a><img src="a.png"><script src="b.js"></script>'
    )
    (tmp_path / "a.css").write_text("a { background: url(data:image/png;base64,x) }")
    assert check_offline.loads(tmp_path) == []
