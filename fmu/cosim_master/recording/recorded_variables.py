"""The variables of a co-simulation that are recorded, read, or get an error bar."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable, matches
from cosim_master.coupling.coupling import Coupling
from cosim_master.coupling.derived_signal import DerivedSignal
from cosim_master.coupling.link import Link
from cosim_master.recording.text_numbers import TABLED

Port = tuple[str, str]
"""A participant and its variable."""
MOST_EXAMPLES = 3
"""Variables that a remark names."""
MOST_STATES = 32
"""The largest number of states of one participant that are read although they are not recorded."""
CONSTANT = ("parameter", "calculatedParameter", "structuralParameter", "constant")


class RecordedVariables:
    """Columns of the table that a run records, and the signals that a result makes of them.

    Parameters
    ----------
    descriptions, links, patterns, inner, derived
        As `Recorder` takes them.

    Attributes
    ----------
    ports : list of (str, str)
        Participant and variable of each column.
    held : set of (str, str)
        Connected inputs.
    text_columns, boolean_columns : set of int
        The columns of numbers of texts, and of 0 or 1.
    real_outputs : list of int
        Columns of outputs that are real.
    is_input, is_continuous : ndarray of bool, shape (columns,)
        Whether a column is a connected input; a real variable that is not discrete.
    remarks : list of str
        Sentences about participants of which nothing is recorded, since no pattern names a variable of them.

    Raises
    ------
    LookUpError
        A pattern matches no variable.
    """

    def __init__(
        self,
        descriptions: Mapping[str, ParticipantDescription],
        links: Sequence[Link],
        patterns: Sequence[str] | None,
        inner: Sequence[Link],
        derived: Mapping[str, DerivedSignal],
    ) -> None:
        self.held = {link.end for link in links}
        connected = self.held | {link.start for link in links}
        connected |= {end for link in inner for end in (link.start, link.end)}
        needs_all = patterns is not None or bool(derived)  # else a few of very many
        variables = {
            (name, v.name): v
            for name, description in descriptions.items()
            for v in description.variables.values()
            if needs_all or v.causality == "output" or (name, v.name) in connected
        }
        paths = set(map(".".join, variables)) if derived else set()
        derived = {n: signal for n, signal in derived.items() if signal.port in variables and n not in paths}
        if patterns is None:
            self.ports = [p for p, v in variables.items() if v.causality == "output" or p in connected]
            self._derived = derived
        else:
            _check_patterns(patterns, variables, derived)
            chosen = [port for pattern in patterns for port in variables if _fits(port, pattern)]
            self.ports = list(dict.fromkeys(chosen))  # in the order of the patterns
            self._derived = {
                n: signal
                for n, signal in derived.items()
                if any(_fits((n,), pattern) for pattern in patterns)
            }
        self._shown = len(self.ports)
        self.ports += dict.fromkeys(d.port for d in self._derived.values() if d.port not in self.ports)
        recorded_participants = {name for name, _ in self.ports}
        self.remarks = [] if patterns is not None else _remarks(descriptions, recorded_participants)
        self._classify([variables[port] for port in self.ports], descriptions)

    def _classify(
        self, variables: Sequence[ParticipantVariable], descriptions: Mapping[str, ParticipantDescription]
    ) -> None:
        """Sort the columns by type and role."""
        self._units = [v.unit for v in variables]
        self.text_columns = {i for i, v in enumerate(variables) if v.type in TABLED}
        self.boolean_columns = {i for i, v in enumerate(variables) if v.type in ("boolean", "clock")}
        self.real_outputs = [
            i for i, v in enumerate(variables) if v.type == "real" and v.causality == "output"
        ]
        discrete = {name: description.discrete for name, description in descriptions.items()}
        self.is_continuous = np.array(
            [
                v.type == "real" and v.name not in discrete[participant]
                for (participant, _), v in zip(self.ports, variables, strict=True)
            ],
            dtype=bool,
        )
        self.is_input = np.array([port in self.held for port in self.ports], dtype=bool)

    @property
    def units(self) -> dict[str, str]:
        """The units of all signals of a result, by name."""
        units = {".".join(port): self._units[i] for i, port in enumerate(self.ports[: self._shown])}
        return units | {name: signal.unit for name, signal in self._derived.items()}

    def named(
        self, table: NDArray[np.float64], texts: Callable[[NDArray[np.float64]], NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        """Columns by name in the types of their variables, and the derived signals.

        Parameters
        ----------
        table : ndarray, shape (rows, columns)
        texts : callable
            Returns the texts of the numbers in a text column.
        """
        columns: list[NDArray[Any]] = list(table.T)
        for i in self.text_columns:
            columns[i] = texts(columns[i])
        for i in self.boolean_columns:
            columns[i] = columns[i] != 0.0
        by_port = dict(zip(self.ports, columns, strict=True))
        named = {".".join(port): by_port[port] for port in self.ports[: self._shown]}
        return named | {name: signal.of(by_port[signal.port]) for name, signal in self._derived.items()}


def _check_patterns(
    patterns: Sequence[str], variables: Mapping[Port, object], derived: Mapping[str, object]
) -> None:
    """Refuse a pattern that matches no variable."""
    names = [(name,) for name in derived]
    for pattern in patterns:
        if not any(_fits(port, pattern) for port in [*variables, *names]):
            raise cosim.LookUpError("signal", pattern, [*map(".".join, variables), *derived])


def _remarks(descriptions: Mapping[str, ParticipantDescription], recorded: set[str]) -> list[str]:
    remarks = []
    for name, description in descriptions.items():
        if name in recorded or not description.variables:
            continue
        paths = [f"{name}.{v.name}" for v in description.variables.values()]
        examples = ", ".join(f'"{path}"' for path in paths[:MOST_EXAMPLES])
        remarks.append(
            f"{name} has no outputs, so nothing of it is recorded: "
            f"name what is wanted: signals = [{examples}]"
        )
    return remarks


def _fits(port: tuple[str, ...], pattern: str) -> bool:
    path = ".".join(port)
    return path == pattern or matches(path, pattern)


def ports_with_error_bars(
    descriptions: Mapping[str, ParticipantDescription],
    recorded: Iterable[Port],
    fed: Collection[Port],
    exchanged: Collection[Port],
    largest_count: int,
) -> tuple[list[Port], list[str]]:
    """Recorded variables that get an error bar besides the exchanged outputs, and the paths of the others.

    Parameters
    ----------
    descriptions : mapping of str to ParticipantDescription
    recorded : iterable of (participant, variable)
    fed : collection of (participant, variable)
        Connected inputs; they need no bar, since the outputs that feed them have one.
    exchanged : collection of (participant, variable)
        Outputs that always have a bar.
    largest_count : int
        The largest number of variables that get a bar.
    """
    judged, not_judged = list[Port](), list[str]()
    for port in recorded:
        name, variable = port
        declared = descriptions[name].variables[variable]
        if port in fed or port in exchanged or declared.causality in (*CONSTANT, "input"):
            continue
        if declared.type == "real" and len(judged) < largest_count:
            judged.append(port)
        else:
            not_judged.append(f"{name}.{variable}")
    return judged, not_judged


def reads_with_states(
    reads: Mapping[str, Sequence[str]],
    descriptions: Mapping[str, ParticipantDescription],
    links: Iterable[Link],
) -> dict[str, list[str]]:
    """The variables to read of each participant; with its states if it has connected inputs."""
    connected = {link.target for link in links}
    with_states = {name: list(variables) for name, variables in reads.items()}
    for name, variables in with_states.items():
        states = descriptions[name].states
        if name in connected and len(states) <= MOST_STATES:
            variables += [state for state in states if state not in variables]
    return with_states


MOST_SAMPLED = 120
"""Exchanged variables are always sampled; others only up to this number of sampled variables."""


class SampledPorts:
    """The sampled outputs: the interface, recorded outputs, and states, which explain the outputs.

    Parameters
    ----------
    coupling : Coupling
    interface : collection of (str, str)
        The connected real outputs.
    on_board : callable
        Returns the places of the values of ports on the board.
    reads : mapping of str to sequence of str
        The variables that are read of each participant.
    recorded : sequence of (str, str)
        Participants and variables that are recorded: the errors of real ones are estimated.
    unit_of : mapping of str to str
        For each participant the name under which it steps.

    Attributes
    ----------
    ports : list of (str, str)
        Participants and outputs.
    places : list of (str, int)
        The place of the value of each port on the board.
    owners : list of str
        The name under which the participant of each port steps.
    jumping : list of int
        The numbers of the ports that change at instants alone.
    judged : list of (str, str)
        The ports that get an error bar.
    not_judged : list of str
        The recorded variables without an error bar.
    """

    def __init__(
        self,
        coupling: Coupling,
        interface: Collection[Port],
        on_board: Callable[[Iterable[Port]], list[tuple[str, int]]],
        reads: Mapping[str, Sequence[str]],
        recorded: Sequence[Port],
        unit_of: Mapping[str, str],
    ) -> None:
        descriptions = coupling.descriptions
        free_count = max(0, MOST_SAMPLED - 2 * len(coupling.links))
        targets = {link.end for link in coupling.links}
        judged, not_judged = ports_with_error_bars(descriptions, recorded, targets, interface, free_count)
        states = [(n, s) for n, d in descriptions.items() for s in d.states if s in reads[n]]
        states = states[: max(0, free_count - len(judged))]
        self.ports: list[Port] = list(dict.fromkeys([*interface, *judged, *states]))
        self.places = on_board(self.ports)
        self.owners: Sequence[str] = [unit_of[name] for name, _ in self.ports]
        self.jumping = [i for i, (name, y) in enumerate(self.ports) if y in descriptions[name].discrete]
        self.judged: Sequence[Port] = list(dict.fromkeys([*interface, *judged]))
        self.not_judged: Sequence[str] = not_judged

    def leave_out(self, ports: Sequence[Port]) -> None:
        """Give these outputs no error bar."""
        self.not_judged = [*self.not_judged, *(".".join(port) for port in ports if port in self.judged)]
        self.judged = [port for port in self.judged if port not in ports]
