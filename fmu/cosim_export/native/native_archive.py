"""The archive of a native FMU: libraries, sources, description and documentation."""

from __future__ import annotations

import importlib.metadata
import logging
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from cosim_export.interface.archive import write_archive
from cosim_export.interface.documentation import license_entry
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.icon import icon
from cosim_export.native.compilers import Compiler, Library
from cosim_export.native.native_sources import SHELL
from cosim_export.native.platforms import Platform
from cosim_export.native.terminals import ICON, PLACE
from cosim_export.native.universal_library import universal_library
from cosim_lowering.machine_code import MachineCode

log = logging.getLogger("cosim.native")
DESCRIPTION = "modelDescription.xml"


class NativeParts(Protocol):
    """The parts of a native FMU of a model (`NativeSources`) or of a co-simulation."""

    version: int
    interface: ExportedInterface
    description: bytes
    terminals: bytes | None

    @property
    def files(self) -> Sequence[Path]:
        """C files that all FMUs share."""

    @property
    def printed(self) -> Mapping[str, bytes]:
        """The files of the folder ``sources``, by name."""

    @property
    def codes(self) -> Sequence[MachineCode]:
        """Compiled functions."""

    @property
    def generated(self) -> Mapping[str, str]:
        """C files that are written for it, by name."""


def write_native_fmu(
    target: Path,
    parts: NativeParts,
    compilers: Mapping[str, Compiler],
    platforms: Sequence[Platform],
    page: str,
    more: Mapping[str, bytes] | None = None,
) -> str:
    """Build the libraries and write the archive. Returns text that lists platforms and sources.

    Parameters
    ----------
    target : Path
    parts : NativeParts
    compilers : mapping of str to Compiler
        By platform.
    platforms : sequence of Platform
    page : str
        The documentation.
    more : mapping of str to bytes, optional
        Other files of the archive.
    """
    archive = dict(more or {})
    archive |= _libraries(compilers, platforms, parts)
    archive |= {f"sources/{file}": content for file, content in parts.printed.items()}
    licences = _licence()
    archive |= {DESCRIPTION: parts.description, "documentation/index.html": page.encode(), **licences}
    archive |= license_entry(parts.interface.about, licences)
    archive["model.png" if parts.version == 2 else ICON] = icon()
    if parts.terminals is not None:
        archive[PLACE] = parts.terminals
    write_archive(target, archive)
    return ", ".join([*(platform.name for platform in platforms), *["C99 sources"] * bool(parts.printed)])


def _libraries(
    compilers: Mapping[str, Compiler], platforms: Sequence[Platform], sources: NativeParts
) -> dict[str, bytes]:
    """The shared libraries, by their names in the archive."""
    libraries = {}
    count, number = sum(len(platform.targets) for platform in platforms), 0
    for platform in platforms:
        built = {}
        for target in platform.targets:
            number += 1
            log.info("building library %d of %d, for %s", number, count, target.folder3)
            with tempfile.TemporaryDirectory(prefix="cosim_export_") as name:
                folder = Path(name)
                files = list(sources.files)
                for file, text in sources.generated.items():
                    files.append(folder / file)
                    files[-1].write_text(text, "utf-8")
                parts = Library(files, SHELL, sources.codes, target, platform.suffix)
                built[target.folder3] = compilers[platform.name].library(parts, folder)
        if sources.version == 2:
            built = {platform.name: universal_library(list(built.values()))}
        for place, data in built.items():
            libraries[f"binaries/{place}/{sources.interface.identifier}{platform.suffix}"] = data
    return libraries


def needs_of(platforms: Sequence[Platform]) -> list[str]:
    """The requirements of the machine on which the FMU runs."""
    if not platforms:
        return ["A C99 compiler and the C library: the FMU has sources alone."]
    return [
        f"One of these platforms: {', '.join(p.name for p in platforms)}. Nothing has to be installed: the "
        "library needs the C library of the operating system alone."
    ]


def _licence() -> dict[str, bytes]:
    """The licence of cosim, which applies to the C files and the lowered functions."""
    try:
        files = importlib.metadata.files("cosim-framework") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    paths = [Path(str(file.locate())) for file in files if file.name == "LICENSE"]
    name = "documentation/licenses/cosim-framework/LICENSE"
    return {name: paths[0].read_bytes()} if paths and paths[0].is_file() else {}
