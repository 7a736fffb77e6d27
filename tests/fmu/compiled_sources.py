"""Exports FMUs as C sources, and compiles these with this machine's compiler where no Python is found."""

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
    """Export an FMU with all variables that has sources and no library."""
    return NativeFmuExporter().export(model, path, **{"all": True, "sources": True, **options}).path


def unpack_sources(fmu: Path) -> tuple[Path, list[Path]]:
    """Unpack an FMU beside its file; return the folder of its sources and the files to compile."""
    folder = fmu.with_suffix("")
    with zipfile.ZipFile(fmu) as archive:
        archive.extractall(folder)
    tree = ElementTree.parse(folder / "modelDescription.xml")
    names = [file.get("name") for file in tree.iter("File")]
    if not names:
        build = ElementTree.parse(folder / "sources" / "buildDescription.xml")
        names = [file.get("name") for file in build.iter("SourceFile")]
    assert names[0] in ("code.c", "arrays.c")  # the first is that of a model, the second of a co-simulation
    return folder / "sources", [folder / "sources" / str(name) for name in dict.fromkeys(names)]


def compile_sources(fmu: Path, *flags: str) -> Path:
    """Compile an FMU of sources; return the path of a copy with a library for this machine."""
    sources, files = unpack_sources(fmu)
    tree = ElementTree.parse(sources.parent / "modelDescription.xml")
    version = str(tree.getroot().get("fmiVersion"))
    (identifier,) = {kind.get("modelIdentifier") for kind in tree.iter() if kind.get("modelIdentifier")}
    machine = os.uname().machine
    platform = f"{machine}-linux" if version.startswith("3") else {"x86_64": "linux64"}.get(machine, machine)
    library = sources.parent / "binaries" / platform / f"{identifier}.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    arguments = [*(flags or OPTIMIZED), "-fPIC", "-shared", "-o", str(library), *map(str, files), "-lm"]
    run_alone([c_compiler(), *arguments], sources)
    target = fmu.with_name(f"{fmu.stem}_compiled.fmu")
    shutil.make_archive(str(target), "zip", sources.parent)
    return Path(f"{target}.zip").rename(target)


def run_alone(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program that finds no Python; it has to succeed."""
    path = os.pathsep.join(p for p in ("/usr/bin", "/bin") if Path(p).is_dir())
    process = subprocess.run(
        arguments, cwd=folder, env={"PATH": path}, capture_output=True, text=True, check=False, timeout=600
    )
    assert process.returncode == 0, process.stderr[-3000:]
    return process
