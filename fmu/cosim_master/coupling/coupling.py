"""Participants and their connections, checked and ordered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import cosim
from cosim.kit import FeedthroughLoop, ParticipantDescription
from cosim_master.abilities import HasFile
from cosim_master.coupling.derived_signal import DerivedSignal
from cosim_master.coupling.link import Link
from cosim_master.coupling.run_settings import RunOptions


def file_paths(participants: Mapping[str, Any]) -> dict[str, Path | None]:
    """For each participant its file, None where there is none."""
    return {name: p.path if isinstance(p, HasFile) else None for name, p in participants.items()}


class Coupling:
    """Participants and their connections, checked and ordered: all that a run or a file needs.

    Attributes
    ----------
    participants : mapping of str to Participant
    descriptions : mapping of str to ParticipantDescription
    links : tuple of Link
        The connections that pass values at communication points.
    parameter_links : tuple of Link
        The connections that pass a value once, in initialization.
    joint : JointSystem or None
        The participants that are solved as one system.
    inner_links : tuple of Link
        The connections between these participants.
    bonds : tuple of (Link, Link)
    order : tuple of str
        In which the participants are stepped.
    loops : tuple of FeedthroughLoop
        Closed loops of direct feedthrough, which the algorithm iterates.
    unreadable_before_step : frozenset of str
        Participants whose outputs cannot be read after inputs are set and before the next step.
    start_values : mapping of str to mapping
        The start values of each participant, in the units of its variables.
    tolerances : mapping of str to float or None
    feedthrough : mapping of str to object
        The user's declarations of feedthrough.
    step_multiple : mapping of str to int
        Participants with a longer step, in communication steps.
    algorithm : MasterAlgorithm or None
    options : mapping of str to object
        The options of the algorithm.
    start, step : float
        s
    until : float or None
        The default end of a run, s.
    tolerance : float or None
    threads : int
    derived : mapping of str to DerivedSignal
        Further signals of results: those of the connectors of an SSP's own system.
    ssp : SspCoupling or None
        The SSP from which it was read.
    python_files : mapping of str to Path
        By participant: the Python file beside a scenario that was loaded for it.
    run_options : RunOptions
        The default recording of a run; in a scenario that of the file.
    """

    participants: Mapping[str, Any]
    descriptions: Mapping[str, ParticipantDescription]
    links: tuple[Link, ...]
    parameter_links: tuple[Link, ...]
    joint: Any
    inner_links: tuple[Link, ...]
    bonds: tuple[tuple[Link, Link], ...]
    order: tuple[str, ...]
    loops: tuple[FeedthroughLoop, ...]
    unreadable_before_step: frozenset[str]
    start_values: Mapping[str, Mapping[str, Any]]
    tolerances: Mapping[str, float | None]
    feedthrough: Mapping[str, Any]
    step_multiple: Mapping[str, int]
    algorithm: cosim.MasterAlgorithm | None
    options: Mapping[str, Any]
    start: float
    step: float
    until: float | None
    tolerance: float | None
    threads: int
    derived: Mapping[str, DerivedSignal]
    _ssp_findings: Sequence[cosim.Problem] = ()
    ssp: Any
    python_files: Mapping[str, Path]
    run_options: RunOptions

    def read_from(
        self, ssp: Any, findings: Sequence[cosim.Problem], derived: Mapping[str, DerivedSignal]
    ) -> None:
        """Store the SSP of the coupling, its offences, and the signals of its own connectors."""
        self.__dict__.update(ssp=ssp, _ssp_findings=findings, derived=MappingProxyType(dict(derived)))

    def read_from_scenario(
        self, until: float | None, python_files: Mapping[str, Path], options: RunOptions
    ) -> None:
        """Store a scenario's settings of the run, and the Python files that were loaded for participants."""
        self.__dict__.update(python_files=MappingProxyType(dict(python_files)), run_options=options)
        self.until = until

    @property
    def findings(self) -> tuple[cosim.Problem, ...]:
        """Offences of an SSP against the standard, read nevertheless; and what was written otherwise."""
        return tuple(self._ssp_findings)

    @property
    def all_links(self) -> tuple[Link, ...]:
        """All connections: those of the exchange, of a joint system, and those that are passed once."""
        return (*self.links, *self.inner_links, *self.parameter_links)
