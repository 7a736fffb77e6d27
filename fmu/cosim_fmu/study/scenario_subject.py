"""Scenarios in studies."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import file_digest, matches
from cosim_fmu.co_simulation import CoSimulation
from cosim_fmu.scenario.scenario import Scenario
from cosim_fmu.study.run_again import RunAgain
from cosim_fmu.study.side_by_side import why_not_side_by_side
from cosim_workbench.contracts import StudySubject

NO_NUMBERS = ("string", "binary")


class ScenarioSubject(StudySubject):
    """A scenario file: parameters and start values of its participants are varied (``plant.mass``).

    It is read and checked once in each process, and FMUs are unpacked once. Their instances are reset from
    run to run, if that makes them what new ones are (`RunAgain`). What is recorded are the communication
    points.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path, self._settings = path, dict(settings)
        unknown = [name for name in settings if name != "until"]
        if unknown:
            raise cosim.ModelError.of(unknown[0], "belongs into the scenario's table [master]")
        self._again: RunAgain | None = None
        self._scenario: Scenario | None = None

    def __getstate__(self) -> dict[str, Any]:
        """A library that is loaded changes the folder for a moment: other threads need the whole path."""
        return {**self.__dict__, "path": self.path.absolute(), "_again": None, "_scenario": None}

    @classmethod
    def reads(cls, path: Path) -> bool:
        """Whether it is a TOML file with participants."""
        if not path.is_file():  # who reads a pipe waits for whoever writes to it
            return False
        try:
            data = tomllib.loads(path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return False
        return "participants" in data

    @property
    def _coupled(self) -> tuple[Scenario, CoSimulation]:
        if self._again is None or self._scenario is None:
            self._scenario = Scenario.read(self.path)
            self._again = RunAgain(self._scenario.couple(CoSimulation), self._scenario.time_limit)
        return self._scenario, self._again.loop

    def unit(self, path: str) -> str:
        """Of a variable of a participant."""
        descriptions = self._coupled[1].descriptions
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

    def signals(self) -> list[str]:
        """The numbers that the scenario records."""
        scenario, loop = self._coupled
        names = [f"{p}.{n}" for p, d in loop.descriptions.items() for n, v in d.variables.items()
                 if v.causality == "output" and v.type not in NO_NUMBERS]  # fmt: skip
        listed = scenario.signals
        return names if listed is None else [n for n in names if any(matches(n, s) for s in listed)]

    def description(self) -> dict[str, Any]:
        """Digests of the scenario and the files of its participants."""
        scenario, _ = self._coupled
        files = {str(self.path.name): file_digest(self.path)}
        for name, given in scenario.participants.items():
            place = getattr(given, "path", given)
            if isinstance(place, (str, Path)) and Path(place).is_file():
                files[name] = file_digest(Path(place))
        return {"model": files, "settings": {key: repr(value) for key, value in self._settings.items()}}

    def why_not_beside(self) -> str:
        """Why runs cannot share a process: FMUs that allow one instance, or that disturb each other."""
        scenario = self._coupled[0]
        return why_not_side_by_side(
            lambda: Scenario.read(self.path).couple(CoSimulation), self._until(scenario)
        )

    def _until(self, scenario: Scenario) -> float:
        return float(self._settings.get("until", scenario.until))

    def run(self, values: Mapping[str, float], signals: Sequence[str]) -> cosim.Result:
        """One run to the end that is set, or that of the scenario."""
        scenario, _ = self._coupled
        assert self._again is not None
        return self._again.run(values, self._until(scenario), signals)
