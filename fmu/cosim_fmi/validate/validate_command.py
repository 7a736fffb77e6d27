"""``cosim validate X.fmu``."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import cosim
from cosim_fmi.validate.check_fmu import TIMEOUT, check_file, check_run
from cosim_fmi.validate.finding import SEVERITIES, Finding


class ValidateCommand(cosim.Command):
    """Check FMUs, whoever made them: one line for each finding."""

    name: ClassVar[str] = "validate"
    summary: ClassVar[str] = "check an FMU: its description, and what it does when it is run"
    examples = (
        ("cosim validate mount.fmu", ""),
        ("cosim validate mount.fmu small.fmu --static", "without running their code"),
    )
    failure: ClassVar[str] = "an FMU has errors"

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """The FMUs, and whether their code may be run."""
        parser.add_argument("fmus", type=Path, nargs="+", metavar="FMU", help="the .fmu file")
        parser.add_argument("--static", action="store_true", help="do not run its code")
        parser.add_argument(
            "--timeout", default=f"{TIMEOUT:g} s", metavar="TIME", help="for a process that runs it (120 s)"
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Print the findings of each; 1 when there is an error among them."""
        timeout = cosim.parse_quantity(arguments.timeout, "s")
        if not timeout > 0.0:
            raise cosim.CosimError(f"--timeout is {arguments.timeout}, needs more than 0")
        failed = 0
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
        return int(failed > 0)

    @staticmethod
    def _print_findings(findings: Iterable[Finding], printed: list[Finding]) -> None:
        """Print each as it comes, and keep it."""
        for finding in findings:
            print(f"  {finding}", flush=True)
            printed.append(finding)
