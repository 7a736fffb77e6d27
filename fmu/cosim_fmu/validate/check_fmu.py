"""Everything that is checked of an FMU."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cosim
from cosim_fmu.master.fmu_archive import FmuArchive
from cosim_fmu.validate.finding import Finding
from cosim_fmu.validate.fmu_probe import FmuProbe
from cosim_fmu.validate.static_checks import static_checks

TIMEOUT = 120.0


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
    yield from static_checks(archive, _read(path))


def check_run(path: Path, timeout: float = TIMEOUT) -> Iterator[Finding]:
    """What an FMU does when it is run; in processes of its own, so that it may crash.

    Parameters
    ----------
    path : Path
    timeout : float
        For each process, s.
    """
    from fmpy import platform, sharedLibraryExtension

    try:
        archive = FmuArchive(path)
    except cosim.FmuError:
        return  # `check_file` has said it
    read = _read(path)
    if read is None:
        yield Finding("note", "run", "not run: its model description cannot be read")
        return
    if archive.version != "2.0" or "CoSimulation" not in archive.interfaces:
        kinds = " and ".join(archive.interfaces) or "no interface"
        text = f"not run: FMI {archive.version} {kinds}; only FMI 2.0 Co-Simulation is run"
        yield Finding("note", "run", text)
        return
    try:
        archive.check_binary("CoSimulation", platform, sharedLibraryExtension)
    except cosim.FmuError as error:
        yield Finding("note", "run", f"not run: {str(error).removeprefix(f'{path}: ')}")
        return
    folder = archive.unpack()
    try:
        name = f"{read.coSimulation.modelIdentifier}{sharedLibraryExtension}"
        library = folder / "binaries" / platform / name
        yield from FmuProbe(folder, read, library, timeout).findings()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read(path: Path) -> Any:
    """The model description as fmpy reads it; None when it cannot (what is wrong is a finding by itself)."""
    from fmpy import read_model_description

    try:
        return read_model_description(str(path), validate=False)
    except Exception:  # fmpy lets all kinds through
        return None
