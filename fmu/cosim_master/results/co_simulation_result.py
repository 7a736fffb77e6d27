"""CoSimulationResult: what a co-simulation recorded, and how far to trust it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cosim
from cosim_master.results.coupling_report import CouplingReport


class CoSimulationResult(cosim.Result):
    """A result that knows the error of its coupling.

    Parameters
    ----------
    *given, **more
        As for `Result`.
    """

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._judge: Callable[[], CouplingReport] = _unknown
        self._report: CouplingReport | None = None
        self._evidence: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """What goes to another process: without the participants, so with a report only if there is one."""
        return {**self.__dict__, "_evidence": None, "_judge": _unknown}

    @property
    def evidence(self) -> Any:
        """`CoupledParticipants`, with the samples of the coupling; None when it has none."""
        return self._evidence

    def take_evidence(self, coupled: Any) -> None:
        """Keep the samples of the coupling."""
        self._evidence = coupled

    @property
    def coupling(self) -> CouplingReport:
        """The error that the coupling made; worked out when first asked for, then also in `statistics`."""
        if self._report is None:
            self._report = self._judge()
            self.statistics["coupling"] = self._report.figures()
        return self._report

    def require(self, wanted: str) -> None:
        """Raise if the verdict on the coupling is not "fine", or with "known" if its error is not known.

        Raises
        ------
        CouplingError
            With the verdict and what to do.
        """
        self.coupling.require(wanted)

    def judged_by(self, judge: Callable[[], CouplingReport]) -> None:
        """Take this for the error of the coupling."""
        self._judge, self._report = judge, None


def _unknown() -> CouplingReport:
    """Of results that came without their samples."""
    return CouplingReport([], verdict="unknown", advice="these results came without the samples of their run")
