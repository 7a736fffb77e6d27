"""``cosim new KIND NAME``."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote, urlsplit

import cosim
from cosim.kit import python_command, run_process, write_whole
from cosim_workbench.arguments import completes
from cosim_workbench.scaffold import NewFiles, distribution_of


class NewCommand(cosim.Command):
    """Make a small complete package for a kind of plugin, or a folder with a model or a scenario."""

    name: ClassVar[str] = "new"
    known_as: ClassVar[tuple[str, ...]] = ("init", "create", "make", "scaffold")
    summary: ClassVar[str] = "create a package for your own component, or a first model or scenario"
    examples = (
        (
            "cosim new force_element acme.soft_damper",
            "a package `acme`: a force element, its test, installed",
        ),
        ("cosim new measure acme.smoothed", "another one in the same package"),
        ("cosim new model rocker", "a folder with a model file and its test"),
        ("cosim new --list", "all kinds"),
        ("cosim new --stubs", "typings/: editors and type checkers know all parts, parameters and options"),
    )
    failure: ClassVar[str] = "the package was written, but could not be installed"

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Kind, name, folder."""
        kind = parser.add_argument(
            "kind", nargs="?", help="force_element, measure, component … model, scenario"
        )
        completes(kind, _kinds)
        parser.add_argument("new_name", nargs="?", metavar="NAME", help="PLUGIN.NAME of a class; else NAME")
        parser.add_argument("--list", action="store_true", help="list the kinds")
        parser.add_argument(
            "--stubs",
            action="store_true",
            help="write stubs of all installed parts into typings/, for editors, pyright and mypy",
        )
        parser.add_argument(
            "-C", "--folder", type=Path, default=Path(), help="parent folder (the current one)"
        )
        parser.add_argument("--no-install", action="store_true", help="write the files only")

    def run(self, arguments: argparse.Namespace) -> int:
        """Write the files, install the package."""
        from cosim_workbench.scaffold import new_files

        if arguments.list:
            self.report(kinds=_kinds())
            print("\n".join(_kinds()))
            return 0
        if arguments.stubs:
            return self._write_stubs(arguments.folder / "typings")
        if arguments.kind is None or arguments.new_name is None:
            lines = "\n".join(f"  {words}" for words, _ in self.examples)
            raise cosim.CosimError(f"give a kind and a name, such as\n{lines}")
        project = new_files(arguments.kind, arguments.new_name, arguments.folder)
        is_new_package = bool(project.id) and Path("pyproject.toml") in project.files
        if is_new_package and not arguments.no_install:
            _check_free(project.id.partition(".")[0])
        self._write_files(project)
        if not project.id:
            verb = "run" if arguments.kind == "model" else "cosimulate"
            print(f"next       cosim {verb} {project.folder / arguments.new_name}.toml")
        elif arguments.no_install:
            print(f"next       pip install -e {project.folder}; cosim check {project.id}")
        elif is_new_package and not _installed(project.folder):
            return 1
        else:
            print(f"next       cosim check {project.id}")
        return 0

    def _write_files(self, project: NewFiles) -> None:
        """Write and report the files."""
        for path, text in project.files.items():
            _write(project.folder / path, text)
        for path in project.files:  # after all are written: printing fails if the output is closed
            print(f"written    {project.folder / path}")
        written = [project.folder / path for path in project.files]
        self.report(id=project.id, folder=project.folder, written=written)

    def _write_stubs(self, folder: Path) -> int:
        """Write the stubs of what is installed, and remove those of removed plugins."""
        from cosim_workbench.stubs import HEADER, stub_files

        files = stub_files()
        for stub in folder.rglob("*.pyi"):
            if stub.relative_to(folder) not in files and stub.read_text("utf-8").startswith(HEADER):
                stub.unlink()
        for path, text in files.items():
            _write(folder / path, text)
        self.report(folder=folder, written=sorted(folder / path for path in files))
        print(f"written    {len(files)} stubs in {folder}")
        print("next       pyright and its editors read them; mypy does with MYPYPATH=" + str(folder))
        return 0


def _write(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode())


def _kinds(words: Sequence[str] = ()) -> list[str]:
    from cosim_workbench.scaffold import FILES, kinds_with_template

    return [*kinds_with_template(), *FILES]


def _check_free(plugin: str) -> None:
    """Raise `CosimError` if installing a package of this name would replace another one."""
    name = distribution_of(plugin)
    with suppress(importlib.metadata.PackageNotFoundError):
        installed = importlib.metadata.distribution(name)
        source = json.loads(installed.read_text("direct_url.json") or "{}").get("url", "")
        folder = unquote(urlsplit(source).path) if source.startswith("file:") else ""
        origin = f" from {folder}" if folder else ""
        remedy = f"add to it with -C {Path(folder).parent}, or " if folder else ""
        raise cosim.CosimError(
            f"{name} {installed.version} is installed{origin}, and would be replaced: {remedy}choose another "
            "name, or write the files alone with --no-install"
        )


def _installed(folder: Path) -> bool:
    """Install the package so that changes of its files count at once; say what to do where this fails."""
    call = python_command("-m", "pip", "install", "--quiet", "--no-deps", "--editable", str(folder))
    if all(importlib.util.find_spec(name) is not None for name in ("hatchling", "editables")):
        call.insert(-2, "--no-build-isolation")  # so pip downloads nothing
    installation = run_process(call, capture_output=True, text=True)
    if installation.returncode == 0:
        print(f"installed  {folder}")
        return True
    reason = (installation.stderr.strip() or installation.stdout.strip()).splitlines()[-1:]
    print(f"the package was written but not installed: {' '.join(reason)}", file=sys.stderr)
    print(f"install it with: pip install -e {folder}", file=sys.stderr)
    return False
