"""The sources of an FMU, made a library by this machine's compiler, with no Python in reach."""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from c_programs import c_compiler

import cosim
from cosim_export.native.native_exporter import NativeFmuExporter

OPTIMIZED = ("-std=c99", "-O3")
CLEAN = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror")


def export_sources(model: cosim.Model, path: Path, **options: Any) -> Path:
    """As `export_native`, sources alone."""
    return NativeFmuExporter().export(model, path, **{"all": True, "sources": True, **options}).path


def opened(fmu: Path) -> tuple[Path, list[Path]]:
    """The folder of the sources of an FMU, unpacked beside it, and what is compiled of them."""
    folder = fmu.with_suffix("")
    with zipfile.ZipFile(fmu) as archive:
        archive.extractall(folder)
    tree = ElementTree.parse(folder / "modelDescription.xml")
    names = [file.get("name") for file in tree.iter("File")]
    if not names:
        build = ElementTree.parse(folder / "sources" / "buildDescription.xml")
        names = [file.get("name") for file in build.iter("SourceFile")]
    assert names[0] in ("code.c", "arrays.c")  # of a model, of a co-simulation
    return folder / "sources", [folder / "sources" / str(name) for name in dict.fromkeys(names)]


def compiled(fmu: Path, *flags: str) -> Path:
    """The same FMU with a library for this machine."""
    sources, files = opened(fmu)
    tree = ElementTree.parse(sources.parent / "modelDescription.xml")
    version = str(tree.getroot().get("fmiVersion"))
    (identifier,) = {kind.get("modelIdentifier") for kind in tree.iter() if kind.get("modelIdentifier")}
    machine = os.uname().machine
    place = f"{machine}-linux" if version.startswith("3") else {"x86_64": "linux64"}.get(machine, machine)
    library = sources.parent / "binaries" / place / f"{identifier}.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    words = [*(flags or OPTIMIZED), "-fPIC", "-shared", "-o", str(library), *map(str, files), "-lm"]
    run_alone([c_compiler(), *words], sources)
    target = fmu.with_name(f"{fmu.stem}_compiled.fmu")
    shutil.make_archive(str(target), "zip", sources.parent)
    return Path(f"{target}.zip").rename(target)


def run_alone(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """A program that finds no Python."""
    path = os.pathsep.join(p for p in ("/usr/bin", "/bin") if Path(p).is_dir())
    done = subprocess.run(
        words, cwd=folder, env={"PATH": path}, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done
