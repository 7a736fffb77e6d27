"""Co-simulations in studies: run again and again with other values."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import cosim
from cosim.kit import file_digest, matches, read_seconds
from cosim_fmu.co_simulation import CoSimulation
from cosim_fmu.scenario.scenario_file import is_scenario
from cosim_master.coupling.coupling import file_paths
from cosim_master.coupling.run_settings import CommunicationPoints
from cosim_master.participants.system_participant import SystemParticipant
from cosim_master.recording.kept_points import KeptPoints
from cosim_ssp.package import is_ssp
from cosim_workbench.contracts import StudySubject


def why_not_side_by_side(couple: Callable[[], CoSimulation], until: float) -> str:
    """Why runs may not go side by side in one process; "" where they may.

    An FMU that allows several instances may keep something that they share all the same: a static variable
    in C. So one run is done alone, and once more with a whole other run in its middle; if any variable of
    any participant differs at any communication point, in any bit, runs disturb each other.

    Parameters
    ----------
    couple : callable
        Makes the co-simulation, with participants of its own.
    until : float
        s
    """
    loop, other = couple(), couple()
    for name, description in loop.descriptions.items():
        if description.only_once:
            return f"{name} can be instantiated only once in a process"
    everything = everything_of(loop, until)
    middle, has_run = 0.5 * (loop.start + until), list[bool]()

    def observe(time: float, values: Mapping[str, float]) -> None:
        if time >= middle and not has_run:
            has_run.append(True)
            other.simulate(until, record=everything, inside="nothing")

    try:
        alone = loop.simulate(until, record=everything, inside="nothing")
        beside = loop.simulate(until, record=everything, inside="nothing", observe=observe)
    except cosim.SimulationError as error:
        return f"whether they may share a process is not known, since a run fails: {error}"
    return "" if are_same(alone, beside) else "runs in one process disturb each other: their values differ"


MOST_NUMBERS = 2**22
"""Numbers that are recorded to compare two runs: 32 MB."""
MOST_TRIES = 3
"""Attempts to compare; if all of them fail, instances are not reset."""
NUMBERS = ("real", "integer", "boolean")


class RunAgain:
    """Runs a co-simulation with other start values; instances of FMUs are reset where that will do.

    FMI says that a reset instance is as a new one, and not all are: some keep a file, a table, a random
    state. So the second run is done twice, once on instances that were reset after the first one and once
    on new ones; if any variable of any participant differs at any communication point, in any bit, each
    run makes new instances. A difference that shows in other runs only is not seen.

    Parameters
    ----------
    loop : CoSimulation

    Attributes
    ----------
    is_reset : bool or None
        Whether instances are reset; None as long as that is not known.
    """

    def __init__(self, loop: CoSimulation) -> None:
        self.loop = loop
        self.is_reset: bool | None = None
        self._has_begun, self._has_left, self._tries = False, False, 0

    def run(self, values: Mapping[str, float], until: float, signals: Sequence[str]) -> cosim.Result:
        """Make one run.

        Parameters
        ----------
        values : mapping of str to float
            Start values by path; those of the co-simulation count for all others.
        until : float
            s
        signals : sequence of str
            The recorded signals.
        """
        loop = self.loop
        before = loop.start_values
        changed = {name: dict(starts) for name, starts in before.items()}
        for path, value in values.items():
            participant, _, name = path.partition(".")
            changed[participant][name] = value
        loop.replace_starts(changed)
        try:
            if self.is_reset is None:
                self._find_out(until)
            self._has_left = False
            result = self._simulate(until, signals)
            self._has_left = True
            return result
        finally:
            loop.replace_starts(before)

    def _simulate(self, until: float, signals: Sequence[str]) -> cosim.Result:
        loop = self.loop
        return loop.simulate(until=until, record=list(signals), inside="nothing", interval=loop.step)

    def _find_out(self, until: float) -> None:
        """Compare two runs once, if a successful run has left instances to reset."""
        loop = self.loop
        if not self._has_begun:
            loop.order_participants()  # it makes instances of its own
            self._has_begun = True
            if not loop.reuse_instances():
                self.is_reset = False
        if not self._has_left:
            return
        everything = everything_of(loop, until)
        self._tries += 1
        try:
            reset = self._simulate(until, everything)
            loop.reuse_instances(False)
            loop.reuse_instances()
            new = self._simulate(until, everything)
        except cosim.SimulationError:
            loop.reuse_instances(False)
            if self._tries < MOST_TRIES:
                loop.reuse_instances()
            else:
                self.is_reset = False
            return
        self.is_reset = are_same(reset, new)
        if not self.is_reset:
            loop.reuse_instances(False)


def everything_of(loop: CoSimulation, until: float) -> list[str]:
    """Variables of all participants, as many as there is room for; outputs first."""
    listed = [
        (variable.causality != "output", f"{participant}.{name}")
        for participant, description in loop.descriptions.items()
        for name, variable in description.variables.items()
        if variable.type in NUMBERS
    ]
    count = CommunicationPoints(loop.start, until, loop.step).count + 1
    listed.sort(key=lambda item: item[0])
    return [path for _, path in listed[: max(1, MOST_NUMBERS // count)]]


def are_same(one: cosim.Result, other: cosim.Result) -> bool:
    """Whether two runs have the same bits."""
    if one.message != other.message or one.time.tobytes() != other.time.tobytes():
        return False
    return all(_bytes(one[name]) == _bytes(other[name]) for name in one.names)


def _bytes(values: Any) -> bytes:
    return np.ascontiguousarray(values, dtype=np.float64).tobytes()


NO_NUMBERS = ("string", "binary")


class ScenarioSubject(StudySubject):
    """A co-simulation: parameters and start values of its participants are varied (``plant.mass``).

    It is read and checked once in each process, and FMUs are unpacked once. Their instances are reset from
    run to run, if that makes them what new ones are (`RunAgain`). What objectives see are all communication
    points.

    Parameters
    ----------
    source : path or CoSimulation
        A scenario file, an SSP, or a co-simulation.
    settings : mapping of str to object
        ``until`` (s); of a file ``inputs``, values over time for its inputs, and ``variant``.
    """

    def __init__(self, source: Any, settings: Mapping[str, Any]) -> None:
        self.source = source if isinstance(source, CoSimulation) else Path(source)
        self._settings = dict(settings)
        names = ("until",) if isinstance(source, CoSimulation) else ("until", "inputs", "variant")
        unknown = [name for name in settings if name not in names]
        if unknown:
            text = "belongs to the co-simulation: into its table [master], or to CoSimulation(…)"
            raise cosim.ModelError.of(unknown[0], text)
        self._again: RunAgain | None = None

    def __getstate__(self) -> dict[str, Any]:
        """A library that is loaded changes the folder for a moment: other threads need the whole path."""
        source = self.source.absolute() if isinstance(self.source, Path) else self.source
        settings = dict(self._settings)
        if isinstance(inputs := settings.get("inputs"), (str, Path)):
            settings["inputs"] = Path(inputs).absolute()
        return {**self.__dict__, "source": source, "_settings": settings, "_again": None}

    @classmethod
    def reads(cls, path: Path) -> bool:
        """Whether it is a TOML file with participants, or an SSP."""
        return is_scenario(path)

    @classmethod
    def takes(cls, thing: Any) -> bool:
        """Whether it is a co-simulation."""
        return isinstance(thing, CoSimulation)

    def _make(self) -> CoSimulation:
        if isinstance(self.source, CoSimulation):
            return self.source
        make = CoSimulation.from_ssp if is_ssp(self.source) else CoSimulation.from_file
        settings = {name: value for name, value in self._settings.items() if name != "until"}
        return make(self.source, **settings)

    @property
    def _runs(self) -> RunAgain:
        if self._again is None:
            self._again = RunAgain(self._make())
        return self._again

    @property
    def _loop(self) -> CoSimulation:
        return self._runs.loop

    def unit(self, path: str) -> str:
        """The unit of a variable of a participant."""
        descriptions = self._loop.descriptions
        participant, _, name = path.partition(".")
        if participant not in descriptions:
            raise cosim.LookUpError("participant", participant, descriptions)
        variables = descriptions[participant].variables
        if name not in variables:
            raise cosim.LookUpError(f"variable of {participant}", name, variables)
        if variables[name].type in NO_NUMBERS:
            text = f"is {variables[name].type}: a study can vary and record numbers only"
            raise cosim.ModelError.of(path, text)
        return str(variables[name].unit or "1")

    def start(self, path: str) -> float | None:
        """The default start value of a variable."""
        participant, _, name = path.partition(".")
        start = self._loop.start_values[participant].get(name)
        value = self._loop.descriptions[participant].variables[name].start if start is None else start
        return None if value is None else float(value)

    @property
    def start_time(self) -> float:
        """The start of runs, s."""
        return self._loop.start

    def signals(self) -> list[str]:
        """The numbers that the co-simulation records."""
        loop = self._loop
        names = [f"{p}.{n}" for p, d in loop.descriptions.items() for n, v in d.variables.items()
                 if v.causality == "output" and v.type not in NO_NUMBERS]  # fmt: skip
        listed = loop.run_options.record
        return names if listed is None else [n for n in names if any(matches(n, s) for s in listed)]

    def description(self) -> dict[str, Any]:
        """Digests of the file, of those of the participants, and how they are coupled."""
        loop = self._loop
        paths = {**file_paths(loop.participants), **loop.python_files}
        made_of: dict[str, Any] = {}
        if isinstance(self.source, Path) and self.source.is_file():
            made_of[self.source.name] = file_digest(self.source)
        inputs = self._settings.get("inputs")
        if isinstance(inputs, (str, Path)):
            made_of["inputs"] = file_digest(Path(inputs))
        for name, participant in loop.participants.items():
            path = paths[name]
            if path is not None and path.is_file():
                made_of[name] = file_digest(path)
            elif isinstance(participant, SystemParticipant):
                made_of[name] = participant.system.digest
        if isinstance(self.source, CoSimulation):
            made_of |= {"connections": repr([str(link) for link in loop.all_links])}
            made_of |= {"starts": repr(loop.start_values), "step": repr((loop.start, loop.step))}
            made_of |= {"algorithm": repr((type(loop.algorithm).__name__, dict(loop.options)))}
        shown = {key: str(value) for key, value in self._settings.items() if key != "inputs"}
        return {"model": made_of, "settings": shown}

    def why_not_parallel(self) -> str:
        """Why runs cannot share a process: FMUs that allow one instance, or that disturb each other."""
        return why_not_side_by_side(lambda: copy.deepcopy(self._loop), self._until)

    @property
    def _until(self) -> float:
        until = self._settings.get("until", self._loop.until)
        if until is None:
            raise cosim.ModelError.of("until", "is missing: give the end of the runs, in seconds")
        return read_seconds(until, "until")

    def run(self, values: Mapping[str, float], signals: Sequence[str]) -> cosim.Result:
        """Make one run to the given end, or to that of the co-simulation."""
        return self._runs.run(values, self._until, signals)

    def kept(self, result: cosim.Result) -> cosim.Result:
        """The rows that a file of a run has: those of ``[output] interval``."""
        loop = self._loop
        every = loop.run_options.steps_between_rows(loop.step)
        if every == 1 or not len(result):
            return result
        rows = KeptPoints(loop.start, loop.step, every).of(result.time, ends=True)
        columns = {name: values[rows] for name, values in result.signals.items()}
        return cosim.Result(result.time[rows], columns, result.units)
