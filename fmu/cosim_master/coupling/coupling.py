"""The data of a coupling: what a run is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import FeedthroughLoop, ParticipantDescription
from cosim_master.abilities import HasFile
from cosim_master.coupling.communication_points import RunOptions
from cosim_master.coupling.connection import Link


def file_paths(participants: Mapping[str, Any]) -> dict[str, Path | None]:
    """For each participant its file, None where there is none."""
    return {name: p.path if isinstance(p, HasFile) else None for name, p in participants.items()}


@dataclass(frozen=True)
class DerivedSignal:
    """What a connector of a system shows: a variable of a participant, mapped and scaled.

    Attributes
    ----------
    port : tuple of (str, str)
        Participant and variable.
    unit : str
    factor, offset : float
    table : mapping of int to int
        Of values that are no real numbers, before factor and offset; others stay as they are.
    """

    port: tuple[str, str]
    unit: str = "1"
    factor: float = 1.0
    offset: float = 0.0
    table: Mapping[int, int] = field(default_factory=dict, hash=False)

    def of(self, given: NDArray[Any]) -> NDArray[Any]:
        """Its values, from those of the variable; what nothing changes on its way keeps its type."""
        is_scaled = (self.factor, self.offset) != (1.0, 0.0)
        if not self.table and not is_scaled:
            return given
        values = given.astype(np.float64)
        for source, target in self.table.items():
            values[given == source] = target
        if is_scaled:
            return self.factor * values + self.offset
        return values != 0.0 if given.dtype == np.bool_ and set(self.table.values()) <= {0, 1} else values


class Coupling:
    """Participants and their connections, checked and ordered; whoever runs or writes it needs no more.

    Attributes
    ----------
    participants : dict of str to Participant
    descriptions : dict of str to ParticipantDescription
    links : list of Link
        What is exchanged at communication points.
    parameter_links : list of Link
        What is passed once, in initialization.
    joint : JointSystem or None
        The participants that are solved as one system.
    bonds : list of (Link, Link)
    order : list of str
        In which the participants are stepped.
    loops : list of FeedthroughLoop
        Closed loops of direct feedthrough, which the algorithm iterates.
    unreadable_before_step : frozenset of str
        Participants whose outputs cannot be read after inputs are set and before the next step.
    start_values : dict of str to dict
        Of each participant by name, in the units of its variables.
    tolerances : dict of str to float or None
    feedthrough : dict of str to object
        What the user says of it.
    step_multiple : dict of str to int
        Participants with a longer step, in communication steps.
    algorithm : MasterAlgorithm or None
    options : dict of str to object
        Of the algorithm, as given.
    start, step : float
        s
    until : float or None
        Where a run ends unless told, s.
    tolerance : float or None
    threads : int
    derived : dict of str to DerivedSignal
        What results show beside the variables: what the connectors of an SSP's own system give.
    findings : list of Problem
        Offences of an SSP against the standard, which were read nevertheless.
    ssp : SspCoupling or None
        What it was read from.
    python_files : dict of str to Path
        By participant: the Python file beside a scenario that was loaded for it.
    run_options : RunOptions
        What a run records unless told otherwise; of a scenario what its file says.
    """

    participants: dict[str, Any]
    descriptions: dict[str, ParticipantDescription]
    links: list[Link]
    parameter_links: list[Link]
    joint: Any
    bonds: list[tuple[Link, Link]]
    order: list[str]
    loops: list[FeedthroughLoop]
    unreadable_before_step: frozenset[str]
    start_values: dict[str, dict[str, Any]]
    tolerances: dict[str, float | None]
    feedthrough: dict[str, Any]
    step_multiple: dict[str, int]
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
        """Note the SSP that it was made of, its offences, and what its own connectors show."""
        self.__dict__.update(ssp=ssp, findings=findings, derived=derived)

    def read_from_scenario(
        self, until: float | None, python_files: Mapping[str, Path], options: RunOptions
    ) -> None:
        """Note what a scenario says of its run, and the Python files that were loaded for participants."""
        self.__dict__.update(python_files=dict(python_files), run_options=options)
        self.until = until

    @property
    def inner_links(self) -> list[Link]:
        """Connections between participants that are solved as one system."""
        return [] if self.joint is None else self.joint.links

    @property
    def all_links(self) -> list[Link]:
        """All connections: those of the exchange, of a joint system, and those that are passed once."""
        return [*self.links, *self.inner_links, *self.parameter_links]
