"""Participants and their connections, checked and ordered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
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
    participants : dict of str to Participant
    descriptions : dict of str to ParticipantDescription
    links : list of Link
        The connections that pass values at communication points.
    parameter_links : list of Link
        The connections that pass a value once, in initialization.
    joint : JointSystem or None
        The participants that are solved as one system.
    inner_links : list of Link
        The connections between these participants.
    bonds : list of (Link, Link)
    order : list of str
        In which the participants are stepped.
    loops : list of FeedthroughLoop
        Closed loops of direct feedthrough, which the algorithm iterates.
    unreadable_before_step : frozenset of str
        Participants whose outputs cannot be read after inputs are set and before the next step.
    start_values : dict of str to dict
        The start values of each participant, in the units of its variables.
    tolerances : mapping of str to float or None
    feedthrough : mapping of str to object
        The user's declarations of feedthrough.
    step_multiple : mapping of str to int
        Participants with a longer step, in communication steps.
    algorithm : MasterAlgorithm or None
    options : dict of str to object
        The options of the algorithm.
    start, step : float
        s
    until : float or None
        The default end of a run, s.
    tolerance : float or None
    threads : int
    derived : dict of str to DerivedSignal
        Further signals of results: those of the connectors of an SSP's own system.
    findings : list of Problem
        Offences of an SSP against the standard, which were read nevertheless.
    ssp : SspCoupling or None
        The SSP from which it was read.
    python_files : dict of str to Path
        By participant: the Python file beside a scenario that was loaded for it.
    run_options : RunOptions
        The default recording of a run; in a scenario that of the file.
    """

    participants: dict[str, Any]
    descriptions: dict[str, ParticipantDescription]
    links: list[Link]
    parameter_links: list[Link]
    joint: Any
    inner_links: list[Link]
    bonds: list[tuple[Link, Link]]
    order: list[str]
    loops: list[FeedthroughLoop]
    unreadable_before_step: frozenset[str]
    start_values: dict[str, dict[str, Any]]
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
    findings: Sequence[cosim.Problem]
    ssp: Any
    python_files: dict[str, Path]
    run_options: RunOptions

    def read_from(
        self, ssp: Any, findings: Sequence[cosim.Problem], derived: Mapping[str, DerivedSignal]
    ) -> None:
        """Store the SSP of the coupling, its offences, and the signals of its own connectors."""
        self.__dict__.update(ssp=ssp, findings=findings, derived=derived)

    def read_from_scenario(
        self, until: float | None, python_files: Mapping[str, Path], options: RunOptions
    ) -> None:
        """Store a scenario's settings of the run, and the Python files that were loaded for participants."""
        self.__dict__.update(python_files=dict(python_files), run_options=options)
        self.until = until

    @property
    def all_links(self) -> list[Link]:
        """All connections: those of the exchange, of a joint system, and those that are passed once."""
        return [*self.links, *self.inner_links, *self.parameter_links]
