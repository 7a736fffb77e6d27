"""Everything that is checked of an FMU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import cosim
from cosim_fmi.archive.fmu_archive import VERSIONS, FmuArchive
from cosim_fmi.archive.private_folder import remove_folder
from cosim_fmi.description.model_description import ModelDescription
from cosim_fmi.description.read_model_description import read_model_description
from cosim_fmi.instances.unpacked_fmu import place_of_library
from cosim_fmi.validate.finding import Finding
from cosim_fmi.validate.fmu_probe import FmuProbe
from cosim_fmi.validate.static_checks import static_checks

TIMEOUT = 120.0
RUN = {"CoSimulation": "Co-Simulation", "ModelExchange": "Model Exchange"}
"""Interfaces that are run, and what they are called."""


def check_file(path: Path) -> Iterator[Finding]:
    """What can be said of an FMU without running its code.

    Parameters
    ----------
    path : Path
        It is not trusted: a bad archive is one finding.

    Examples
    --------
    >>> print(*check_file(Path("missing.fmu")))
    error    archive: no such file
    """
    try:
        archive = FmuArchive(path)
    except cosim.FmuError as error:
        yield Finding("error", "archive", str(error).removeprefix(f"{path}: "))
        return
    yield from static_checks(archive, _read(archive))


def check_run(path: Path, timeout: float = TIMEOUT) -> Iterator[Finding]:
    """What an FMU does when it is run; in processes of its own, so that it may crash.

    Parameters
    ----------
    path : Path
    timeout : float
        For each process, s.
    """
    try:
        archive = FmuArchive(path)
    except cosim.FmuError:
        return  # `check_file` has said it
    read = _read(archive)
    if read is None:
        yield Finding("note", "run", "not run: its model description cannot be read")
        return
    if archive.version not in VERSIONS:
        yield Finding("note", "run", f"not run: FMI {archive.version}; FMI {', '.join(VERSIONS)} are run")
        return
    interfaces = [name for name in RUN if name in archive.interfaces]
    others = [name for name in archive.interfaces if name not in RUN]
    if others:
        yield Finding("note", "run", f"{' and '.join(others)} is not run")
    platform, suffix = place_of_library(archive.version)
    for interface in interfaces:
        try:
            archive.check_binary(interface, platform, suffix)
        except cosim.FmuError as error:
            yield Finding("note", "run", f"not run: {str(error).removeprefix(f'{path}: ')}")
            continue
        folder = archive.unpack()
        library = folder / "binaries" / platform / f"{read.abilities(interface).identifier}{suffix}"
        try:
            if not library.exists():
                text = f"not run: holds no {library.name}, as its modelIdentifier demands"
                yield Finding("error", f"binaries/{platform}", text)
                continue
            for finding in FmuProbe(folder, read, library, timeout, interface).findings():
                where = f"{RUN[interface]}, {finding.where}" if len(interfaces) > 1 else finding.where
                yield replace(finding, where=where)
        finally:
            remove_folder(folder)


def _read(archive: FmuArchive) -> ModelDescription | None:
    """The model description; None where it cannot be understood (what is wrong is a finding)."""
    try:
        return read_model_description(archive.take_description())
    except (ValueError, TypeError):
        return None
