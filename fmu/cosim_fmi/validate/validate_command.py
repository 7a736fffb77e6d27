"""``cosim validate X.fmu``: everything that is checked of an FMU."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import cosim
from cosim.kit import remove_folder
from cosim_fmi.description.model_description import ModelDescription
from cosim_fmi.description.read_model_description import read_model_description
from cosim_fmi.fmu_archive import VERSIONS, FmuArchive
from cosim_fmi.instances import place_of_library
from cosim_fmi.validate.experiments import read_experiments
from cosim_fmi.validate.finding import SEVERITIES, Finding
from cosim_fmi.validate.fmu_probe import FmuProbe
from cosim_fmi.validate.report_page import CheckedFmu, report_page
from cosim_fmi.validate.static_checks import static_checks

DEFAULT_TIMEOUT = 120.0
INTERFACE_TITLES = {"CoSimulation": "Co-Simulation", "ModelExchange": "Model Exchange"}
"""The interfaces that are run, by their elements in the model description."""


def check_file(path: Path) -> Iterator[Finding]:
    """The findings about an FMU without running its code.

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
    yield from static_checks(archive, _description(archive))


def check_run(path: Path, timeout: float = DEFAULT_TIMEOUT) -> Iterator[Finding]:
    """Findings of running an FMU, in separate processes, so that it may crash.

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
    description = _description(archive)
    if description is None:
        yield Finding("note", "run", "not run: its model description cannot be read")
        return
    if archive.version not in VERSIONS:
        yield Finding("note", "run", f"not run: FMI {archive.version}; supported: FMI {', '.join(VERSIONS)}")
        return
    interfaces = [name for name in INTERFACE_TITLES if name in archive.interfaces]
    others = [name for name in archive.interfaces if name not in INTERFACE_TITLES]
    if others:
        yield Finding("note", "run", f"{' and '.join(others)} is not run")
    for interface in interfaces:
        yield from _check_interface(archive, description, interfaces, interface, timeout)


def _check_interface(
    archive: FmuArchive, description: ModelDescription, interfaces: list[str], interface: str, timeout: float
) -> Iterator[Finding]:
    """Findings of running an FMU in one of the interfaces that are run."""
    platform, suffix = place_of_library(archive.version)
    try:
        archive.check_binary(interface, platform, suffix)
    except cosim.FmuError as error:
        yield Finding("note", "run", f"not run: {str(error).removeprefix(f'{archive.path}: ')}")
        return
    folder = archive.unpack()
    library = folder / "binaries" / platform / f"{description.interfaces[interface].identifier}{suffix}"
    try:
        if not library.exists():
            text = f"not run: {library.name} is missing, which its modelIdentifier names"
            yield Finding("error", f"binaries/{platform}", text)
            return
        experiments, faults = read_experiments(folder)
        if interface == interfaces[0]:
            yield from (Finding("warning", "experiments", text) for text in faults)
        if experiments and interface != "CoSimulation":
            if "CoSimulation" not in interfaces:
                yield Finding("note", "experiments", "not run: experiments run in Co-Simulation only")
            experiments = []
        prefix = f"{INTERFACE_TITLES[interface]}, " if len(interfaces) > 1 else ""
        for finding in FmuProbe(folder, description, library, timeout, interface, experiments).findings():
            yield replace(finding, where=prefix + finding.where)
    finally:
        remove_folder(folder)


def _description(archive: FmuArchive) -> ModelDescription | None:
    """The model description; None where it cannot be understood (what is wrong is a finding)."""
    try:
        return read_model_description(archive.pop_description())
    except (ValueError, TypeError):
        return None


def _checked(path: Path, findings: list[Finding], *, is_run: bool) -> CheckedFmu:
    """A row of the page."""
    try:
        archive = FmuArchive(path)
        folder = archive.unpack()
    except cosim.FmuError:
        return CheckedFmu.of(path, None, 0, is_run, findings)
    try:
        count = len(read_experiments(folder)[0])
    finally:
        remove_folder(folder)
    return CheckedFmu.of(path, _description(archive), count, is_run, findings)


class ValidateCommand(cosim.Command):
    """Check FMUs, whoever made them: one line for each finding."""

    name: ClassVar[str] = "validate"
    summary: ClassVar[str] = "check FMUs: their descriptions and their behaviour"
    examples = (
        ("cosim validate mount.fmu", ""),
        ("cosim validate mount.fmu small.fmu --static", "without running their code"),
        ("cosim validate *.fmu --report page.html", "a table of tools, versions, kinds and findings"),
    )
    failure: ClassVar[str] = "an FMU has errors"

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """The FMUs, and whether their code may be run."""
        parser.add_argument("fmus", type=Path, nargs="+", metavar="FMU", help="the .fmu files")
        parser.add_argument("--static", action="store_true", help="static checks only, without running code")
        parser.add_argument(
            "--report", type=Path, metavar="FILE", help="write a table of all FMUs to this HTML file"
        )
        parser.add_argument(
            "--timeout",
            default=f"{DEFAULT_TIMEOUT:g} s",
            metavar="TIME",
            help="limit for each process that runs an FMU (120 s)",
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Print the findings of each; 1 when there is an error among them."""
        timeout = cosim.parse_quantity(arguments.timeout, "s")
        if not timeout > 0.0:
            raise cosim.CosimError(f"--timeout is {arguments.timeout}, needs more than 0")
        if arguments.report is not None and not arguments.report.absolute().parent.is_dir():
            raise cosim.CosimError(f"--report {arguments.report}: its folder does not exist")
        failed, rows = 0, list[CheckedFmu]()
        checked: list[dict[str, Any]] = []
        self.report(fmus=checked)
        for path in arguments.fmus:
            print(path)
            findings: list[Finding] = []
            checked.append({"fmu": path, "findings": findings})
            self._print_findings(check_file(path), findings)
            if not arguments.static:
                self._print_findings(check_run(path, timeout), findings)
            counts = Counter(finding.severity for finding in findings)
            totals = ", ".join(f"{counts[s]} {s}{'s' * (counts[s] != 1)}" for s in SEVERITIES if counts[s])
            print(f"  {totals or 'no findings'}")
            failed += bool(counts["error"])
            if arguments.report is not None:
                rows.append(_checked(path, findings, is_run=not arguments.static))
        if arguments.report is not None:
            try:
                arguments.report.write_text(report_page(rows), "utf-8")
            except OSError as error:
                raise cosim.CosimError(f"{arguments.report}: cannot be written: {error.strerror}") from error
            print(f"report → {arguments.report}")
            self.report(page=arguments.report)
        return int(failed > 0)

    @staticmethod
    def _print_findings(findings: Iterable[Finding], printed: list[Finding]) -> None:
        """Print each as it comes, and keep it."""
        for finding in findings:
            print(f"  {finding}", flush=True)
            printed.append(finding)
