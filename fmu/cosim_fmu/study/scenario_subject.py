"""Co-simulations in studies."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import file_digest, matches, seconds
from cosim_fmu.co_simulation import CoSimulation
from cosim_fmu.study.run_again import RunAgain
from cosim_fmu.study.side_by_side import why_not_side_by_side
from cosim_master.coupling.file_paths import file_paths
from cosim_master.participants.system_participant import SystemParticipant
from cosim_master.recording.kept_points import KeptPoints
from cosim_ssp.package import is_ssp
from cosim_workbench.contracts import StudySubject

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
        known = ("until",) if isinstance(source, CoSimulation) else ("until", "inputs", "variant")
        unknown = [name for name in settings if name not in known]
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
        if is_ssp(path):
            return True
        if not path.is_file():  # who reads a pipe waits for whoever writes to it
            return False
        try:
            data = tomllib.loads(path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return False
        return "participants" in data

    @classmethod
    def takes(cls, thing: Any) -> bool:
        """Whether it is a co-simulation."""
        return isinstance(thing, CoSimulation)

    def _make(self) -> CoSimulation:
        if isinstance(self.source, CoSimulation):
            return self.source
        make = CoSimulation.from_ssp if is_ssp(self.source) else CoSimulation.from_file
        given = {name: value for name, value in self._settings.items() if name != "until"}
        return make(self.source, **given)

    @property
    def _runs(self) -> RunAgain:
        if self._again is None:
            self._again = RunAgain(self._make())
        return self._again

    @property
    def _loop(self) -> CoSimulation:
        return self._runs.loop

    def unit(self, path: str) -> str:
        """Of a variable of a participant."""
        descriptions = self._loop.descriptions
        participant, _, name = path.partition(".")
        if participant not in descriptions:
            raise cosim.LookUpError("participant", participant, descriptions)
        variables = descriptions[participant].variables
        if name not in variables:
            raise cosim.LookUpError(f"variable of {participant}", name, variables)
        if variables[name].type in NO_NUMBERS:
            text = f"is {variables[name].type}: a study varies and keeps numbers"
            raise cosim.ModelError.of(path, text)
        return str(variables[name].unit or "1")

    def start(self, path: str) -> float | None:
        """Where a variable begins unless it is varied."""
        participant, _, name = path.partition(".")
        given = self._loop.start_values[participant].get(name)
        value = self._loop.descriptions[participant].variables[name].start if given is None else given
        return None if value is None else float(value)

    @property
    def begin(self) -> float:
        """Where runs begin, s."""
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
        paths = file_paths(loop.participants) | loop.python_files
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
            made_of |= {"algorithm": repr((type(loop.algorithm).__name__, loop.options))}
        shown = {key: str(value) for key, value in self._settings.items() if key != "inputs"}
        return {"model": made_of, "settings": shown}

    def why_not_beside(self) -> str:
        """Why runs cannot share a process: FMUs that allow one instance, or that disturb each other."""
        return why_not_side_by_side(lambda: copy.deepcopy(self._loop), self._until)

    @property
    def _until(self) -> float:
        until = self._settings.get("until", self._loop.until)
        if until is None:
            raise cosim.ModelError.of("until", "is missing: give the end of the runs, in seconds")
        return seconds(until, "until")

    def run(self, values: Mapping[str, float], signals: Sequence[str]) -> cosim.Result:
        """One run to the end that is set, or that of the co-simulation."""
        return self._runs.run(values, self._until, signals)

    def kept(self, result: cosim.Result) -> cosim.Result:
        """The rows that a file of a run has: those of ``[output] interval``."""
        loop = self._loop
        every = loop.run_options.every(loop.step)
        if every == 1 or not len(result):
            return result
        rows = KeptPoints(loop.start, loop.step, every).of(result.time, ends=True)
        columns = {name: values[rows] for name, values in result.signals.items()}
        return cosim.Result(result.time[rows], columns, result.units)
