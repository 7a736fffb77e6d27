"""Scenario: a co-simulation as a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import cosim
from cosim.kit import ClosedAttributes, path_below, read_seconds, refuse_attribute
from cosim_fmu.scenario.scenario_changes import NAME, make_changes
from cosim_fmu.scenario.scenario_participants import NAME as FED
from cosim_fmu.scenario.scenario_participants import fed_inputs, make_participant, python_file
from cosim_fmu.scenario.scenario_variant import flat, lay_over, read_parameters
from cosim_master.coupling.connection import KEYS, Connection
from cosim_master.coupling.coupling import Coupling, file_paths
from cosim_master.coupling.errors import WiringProblem, either, problem
from cosim_master.coupling.run_settings import (
    INSIDE,
    CommunicationPoints,
    RunOptions,
    only_experiment,
    step_of,
)
from cosim_master.participants.isolation import DECLARED, Isolation
from cosim_master.recording.recorder import Recorder
from cosim_toml.toml_file import TomlFile
from cosim_toml.toml_lines import KeyPath

Coupled = TypeVar("Coupled", bound=Coupling)
TABLES = (
    "participants",
    "connections",
    "parameters",
    "parameter_files",
    "changes",
    "bonds",
    "master",
    "output",
    "variants",
)
"""Keys of the file, of ``[master]`` and of ``[output]``."""
MASTER = ("algorithm", "options", "step", "until", "start", "tolerance", "threads", "time_limit")
OUTPUT = ("signals", "file", "inside", "interval", "decimation")


@dataclass
class Scenario(ClosedAttributes):
    """The content of a scenario file.

    Made by `Scenario.read`; `couple` makes the co-simulation of it.

    Attributes
    ----------
    source : TomlFile
        The file itself.
    participants : dict of str to object
        As `CoSimulation` takes them.
    python_files : dict of str to Path
        By participant: the Python file beside the scenario that was loaded for it.
    connections : list of str or dict
    starts : dict of str to object
    origins : dict of str to str
        Place of a start value that is from another file.
    steps : dict of str to object
        Participants with a communication step of their own.
    tolerances, feedthrough : dict of str to object
        Settings of single participants, as for `CoSimulation`.
    algorithm : str
    options : dict of str to object
        For the algorithm.
    step, until, start : float
        s.
    tolerance : float or None
    threads : int
    bonds : list of list of str
        Pairs of variables whose product is a power.
    time_limit : float or None
        The limit of wall time, s.
    signals : list of str or None
    inside : str
        The values that are recorded inside the steps (`CoSimulation.simulate`).
    interval : float or None
        Between recorded communication points, s.
    decimation : int
        Each so many communication points one is recorded.
    file : Path or None
        For the results.
    isolation : Isolation
        The options of the command line for separate processes.
    """

    source: TomlFile
    participants: dict[str, Any] = field(default_factory=dict)
    python_files: dict[str, Path] = field(default_factory=dict)
    connections: list[Any] = field(default_factory=list)
    starts: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    steps: dict[str, Any] = field(default_factory=dict)
    tolerances: dict[str, Any] = field(default_factory=dict)
    feedthrough: dict[str, Any] = field(default_factory=dict)
    algorithm: str = "gauss_seidel"
    options: dict[str, Any] = field(default_factory=dict)
    step: float = 1.0
    until: float = 0.0
    start: float = 0.0
    tolerance: Any = None
    threads: int = 1
    bonds: Any = ()
    time_limit: float | None = None
    signals: list[str] | None = None
    inside: str = "events"
    interval: float | None = None
    decimation: int = 1
    file: Path | None = None
    isolation: Isolation = DECLARED
    _problems: list[WiringProblem] = field(default_factory=list)
    _outer: set[str] = field(default_factory=set)
    _is_coupled: bool = False

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_coupled and name in vars(self) and not name.startswith("_"):
            text = "a co-simulation was already made of this scenario: read another one and set it there"
            refuse_attribute(self, name, [], text)
        super().__setattr__(name, value)

    @classmethod
    def read(cls, path: str | Path, variant: str | None = None, isolation: Isolation = DECLARED) -> Scenario:
        """Read a file; what is wrong with its contents is reported by `couple`, together with the wiring.

        Parameters
        ----------
        path : path
        variant : str, optional
            Name of a table of ``[variants]``, which is laid over the others.
        isolation : Isolation
            As the attribute.

        Raises
        ------
        ModelError
            It cannot be read, is not TOML, or is a model.
        """
        return cls.of(TomlFile.read(Path(path)), variant, isolation)

    @classmethod
    def of(cls, source: TomlFile, variant: str | None = None, isolation: Isolation = DECLARED) -> Scenario:
        """A scenario from the content of a file; see `read`."""
        scenario, path = cls(source, isolation=isolation), source.path
        tables = scenario.source.data
        if "participants" not in tables and {"model", "bodies", "elements", "components"} & set(tables):
            raise cosim.ModelError.of(str(path), "is a model, not a scenario: run it with `cosim run`")
        lay_over(scenario.source, variant)
        scenario._read_tables(scenario.source.data)
        return scenario

    @property
    def remarks(self) -> list[str]:
        """None: what is wrong with a scenario is an error."""
        return []

    def late_changes(self, until: float) -> list[str]:
        """Sentences about ``[[changes]]`` that a run to this time (s) does not see."""
        entries = self.source.data.get(NAME, [])
        return [
            f"changes[{i}] is at {time:g} s, behind the end of the run at {until:g} s: it changes nothing"
            for i, entry in enumerate(entries)
            if "at" in entry and (time := cosim.parse_quantity(entry["at"], "s")) > until
        ]

    def feed(self, series: Any) -> None:
        """Feed inputs, by their paths, with values over time: a file, a result, a mapping, or `TimedInputs`.

        Raises
        ------
        ModelError
            Signals that are called as no variable.
        CosimError
            The file cannot be read.
        """
        timed_inputs, connections = fed_inputs(series, self.participants)
        self.participants[FED] = timed_inputs
        self.connections += connections

    def couple(self, make: Callable[..., Coupled], **options: Any) -> Coupled:
        """The coupling that `make`, a co-simulation, makes of it, checked.

        Parameters
        ----------
        **options
            Options of `CoSimulation`, in place of those of the file; ``starts`` are added to those of the
            file.

        Raises
        ------
        ModelError
            Every fault of the file and of the wiring, each with its line.
        """
        problems = list(self._problems)
        coupling = None
        try:
            coupling = make(self.participants, self.connections, **self._arguments(options))
        except cosim.FmuError as error:
            problems.append(problem(self._key_of(error.fmu), str(error)))
        except cosim.ModelError as error:
            problems += [
                p if isinstance(p, WiringProblem) else problem((p.where,), p.text) for p in error.problems
            ]
        if coupling is not None:
            problems += self._check_run(coupling)
        problems = [fault for fault in problems if not self._is_consequence(fault)]
        if problems or coupling is None:
            places = [(self._place(fault), fault) for fault in problems]
            places.sort(key=lambda item: self.source.line(item[0]) or 0)
            raise cosim.ModelError([self._problem(key, fault) for key, fault in places])
        coupling.read_from_scenario(self.until, self.python_files, self.run_options)
        self._is_coupled = True
        return coupling

    @property
    def run_options(self) -> RunOptions:
        """The recorded variables, and the limit of the run's duration."""
        return RunOptions(self.signals, self.inside, self.interval, self.decimation, self.time_limit)

    def _arguments(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of `CoSimulation`, with options in place of those of the file."""
        names = ("algorithm", "step", "options", "starts", "start", "tolerance", "tolerances", "steps")
        arguments = {name: getattr(self, name) for name in (*names, "feedthrough", "threads", "bonds")}
        if "algorithm" in options:
            arguments["options"] = {}
        return {**arguments, **options, "starts": {**self.starts, **options.get("starts", {})}}

    def _problem(self, key: KeyPath, fault: WiringProblem) -> cosim.Problem:
        """A fault with its place, here or in the file that the value is from."""
        path = f"{fault.key[1]}.{fault.key[3]}" if fault.key[2:3] == ("parameters",) and fault.key[3:] else ""
        origin = self.origins.get(path)
        return cosim.Problem(origin or self.source.where(key, fault.where), fault.text)

    def _key_of(self, fmu: str) -> KeyPath:
        """The key of the participant that an error of an FMU names."""
        file = Path(fmu).resolve()
        paths = file_paths(self.participants)
        names = [name for name, path in paths.items() if path is not None and path.resolve() == file]
        return ("participants", *names[:1])

    def _check_run(self, coupling: Coupling) -> list[WiringProblem]:
        """Faults of what is recorded, and of the communication points."""
        faults = []
        try:
            Recorder(coupling.descriptions, coupling.links, self.signals)
        except cosim.LookUpError as error:
            faults.append(problem(("output", "signals"), str(error)))
        faults += self.run_options.faults(coupling.step)
        if not self._problems:
            try:
                CommunicationPoints(self.start, self.until, self.step)
            except cosim.ModelError as error:
                faults += [problem(("master", fault.where), fault.text) for fault in error.problems]
        return faults

    def _is_consequence(self, fault: WiringProblem) -> bool:
        """Whether a fault of a connection is only that its participant has a fault already."""
        if fault.key[:1] != ("connections",) or fault.key[2:] not in (("from",), ("to",)):
            return False
        number, side = int(fault.key[1]), fault.key[2]
        try:
            connection = Connection.of(self.connections[number])
        except ValueError:
            return False
        name = (connection.start if side == "from" else connection.end).partition(".")[0]
        named = self.source.data.get("participants")
        return name not in self.participants and isinstance(named, Mapping) and name in named

    def _place(self, fault: WiringProblem) -> KeyPath:
        """The place of a fault in the file; the name of a parameter may have dots."""
        key = fault.key
        if key[2:3] == ("parameters",) and (path := f"{key[1]}.{key[-1]}") in self._outer:
            return self.source.place(("parameters",), path)
        return self.source.place(key[:-1], str(key[-1])) if key[2:-1] == ("parameters",) else key

    def _report(self, key: KeyPath, text: str) -> None:
        """Add a fault at this key."""
        self._problems.append(problem(key, text))

    def _read_tables(self, data: Mapping[str, Any]) -> None:
        """Read the whole file; faults are kept for `couple`."""
        self._check_keys((), data, TABLES)
        participants = self._table(data, "participants")
        if not participants and "participants" not in (fault.where for fault in self._problems):
            self._report(("participants",), 'there are none: write [participants.NAME] with fmu = "file.fmu"')
        for name, entry in participants.items():
            if not isinstance(entry, Mapping):
                self._report(("participants", name), f"is {entry!r}, needs a table: [participants.{name}]")
                continue
            participant = make_participant(self.source.path.parent, name, entry, self._report, self.isolation)
            if participant is not None:
                self.participants[name] = participant
                if (file := python_file(self.source.path.parent, entry)) is not None:
                    self.python_files[name] = file
                for key, by_participant in (
                    ("step", self.steps),
                    ("tolerance", self.tolerances),
                    ("feedthrough", self.feedthrough),
                ):
                    if key in entry:
                        by_participant[name] = entry[key]
                self._read_parameters(("participants", name), entry, f"{name}.")
        self._read_parameters((), data, "")
        self._read_connections(data.get("connections", []))
        self._read_changes(data.get("changes", []))
        self.bonds = data.get("bonds", ())
        self._read_master(self._table(data, "master"))
        self._read_output(self._table(data, "output"))

    def _read_parameters(self, above: KeyPath, table: Mapping[str, Any], prefix: str) -> None:
        """Values of files, in their order, then those that stand here."""
        files = table.get("parameter_files", [])
        files = [files] if isinstance(files, str) else files
        if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
            self._report((*above, "parameter_files"), f'is {files!r}, needs names of files: ["base.toml"]')
            files = []
        for file in files:
            try:
                parameters = read_parameters(self.source.path.parent / file)
            except cosim.ModelError as error:
                for fault in error.problems:
                    self._report((*above, "parameter_files"), str(fault))
                continue
            self.starts.update({prefix + name: parameter.value for name, parameter in parameters.items()})
            self.origins.update({prefix + name: parameter.place for name, parameter in parameters.items()})
        here = {prefix + name: value for name, value in flat(table.get("parameters", {})).items()}
        self.starts.update(here)
        for name in here:
            self.origins.pop(name, None)
        if not above:
            self._outer = set(here)

    def _read_connections(self, entries: Any) -> None:
        """Connections as they are written; what is wrong with one is found when all are coupled."""
        if not isinstance(entries, list):
            text = 'needs a list: connections = ["plant.felt -> controller.speed"], or tables [[connections]]'
            self._report(("connections",), text)
            return
        for i, entry in enumerate(entries):
            if isinstance(entry, Mapping):
                self._check_keys(("connections", i), entry, KEYS)
                entry = {key: value for key, value in entry.items() if key in KEYS}
            self.connections.append(entry)

    def _read_changes(self, entries: Any) -> None:
        """Changes as a participant and its connections, behind those of the file."""
        if not entries:
            return
        if NAME in self.participants:
            self._report(("participants", NAME), "is the name of what gives [[changes]]: choose another")
            return
        changes, connections = make_changes(entries, self.participants, self.starts, self._report)
        if changes is not None:
            self.participants[NAME] = changes
            self.connections += connections

    def _read_master(self, master: Mapping[str, Any]) -> None:
        """``[master]``: the algorithm, times and limits."""
        self._check_keys(("master",), master, MASTER)
        algorithm = master.get("algorithm", self.algorithm)
        if isinstance(algorithm, str):
            self.algorithm = algorithm
        else:
            self._report(
                ("master", "algorithm"), f'is {algorithm!r}, needs a name: "jacobi" or "gauss_seidel"'
            )
        options = master.get("options", {})
        if isinstance(options, Mapping):
            self.options = dict(options)
        else:
            self._report(("master", "options"), f"is {options!r}, needs a table: {{ extrapolation = 1 }}")
        for name in ("step", "until", "start"):
            if name in master:
                setattr(self, name, self._seconds(name, master[name], getattr(self, name)))
            elif (default := self._default_time(name)) is not None:
                setattr(self, name, default)
            elif name != "start":
                self._report(("master",), f'{name} is missing: write {name} = "1 ms" or a number of seconds')
        self.threads = master.get("threads", 1)
        if "time_limit" in master:
            self.time_limit = self._seconds("time_limit", master["time_limit"], 1.0)
            if not self.time_limit > 0.0:
                self._report(("master", "time_limit"), f"is {self.time_limit:g} s, needs more than 0")
        if "until" in master and self.until < self.start:
            self._report(
                ("master", "until"), f"is {self.until:g} s, needs at least the start, {self.start:g} s"
            )
        self.tolerance = master.get("tolerance")

    def _default_time(self, name: str) -> float | None:
        """Step, start or end of the only FMU's default experiment."""
        descriptions = {}
        for participant_name, participant in self.participants.items():
            try:
                descriptions[participant_name] = participant.describe()
            except Exception:  # said where the participants are coupled
                return None
        experiment = only_experiment(descriptions)
        if name == "step":
            return None if experiment.stop is None and experiment.step is None else step_of(experiment)
        return experiment.start if name == "start" else experiment.stop

    def _read_output(self, output: Mapping[str, Any]) -> None:
        """``[output]``: what is recorded, and where it goes."""
        self._check_keys(("output",), output, OUTPUT)
        signals, file = output.get("signals"), output.get("file")
        if output.get("inside", self.inside) in INSIDE:
            self.inside = output.get("inside", self.inside)
        else:
            self._report(("output", "inside"), f"is {output['inside']!r}, needs {either(INSIDE)}")
        self._read_interval(output)
        if signals is not None and not (
            isinstance(signals, list) and all(isinstance(s, str) for s in signals)
        ):
            self._report(("output", "signals"), 'needs a list of names or patterns: ["plant.*"]')
        else:
            self.signals = signals
        if file is not None and not isinstance(file, str):
            self._report(("output", "file"), f'is {file!r}, needs the name of a file: "results.csv"')
        elif file is not None:
            try:
                self.file = path_below(self.source.path.parent, file)
            except ValueError as error:
                self._report(("output", "file"), str(error))

    def _read_interval(self, output: Mapping[str, Any]) -> None:
        """``interval = "0.1 s"``, or ``decimation = 10`` communication steps."""
        if "interval" in output and "decimation" in output:
            self._report(("output", "decimation"), "says the same as interval: leave one of them out")
        elif "decimation" in output:
            decimation = output["decimation"]
            if isinstance(decimation, bool) or not isinstance(decimation, int) or decimation < 1:
                text = (
                    f"is {decimation!r}, needs a whole number from 1 on: each so many points one is recorded"
                )
                self._report(("output", "decimation"), text)
            else:
                self.decimation = decimation
        elif "interval" in output:
            try:
                self.interval = read_seconds(output["interval"], "")
            except cosim.ModelError as error:
                self._report(("output", "interval"), error.problems[0].text)

    def _seconds(self, name: str, value: Any, default: float) -> float:
        """A time of ``[master]``, s; the default, and a fault, where it is none."""
        try:
            if isinstance(value, str):
                value = cosim.parse_quantity(value, "s")
            if (
                isinstance(value, bool)
                or not isinstance(value, (int, float))
                or not abs(value) < float("inf")
            ):
                raise ValueError(f'is {value!r}, needs a number of seconds, or text with a unit: "0.1 ms"')
            if name == "step" and not value > 0:
                raise ValueError(f"is {value!r} s, needs more than 0")
        except (ValueError, cosim.UnitError) as error:
            self._report(("master", name), str(error))
            return default
        return float(value)

    def _table(self, data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        """A table of the file; an empty one, and a fault, where it is none."""
        table = data.get(name, {})
        if isinstance(table, Mapping):
            return table
        more = ".NAME" if name == "participants" else ""
        self._report((name,), f"is {table!r}, needs a table: [{name}{more}]")
        return {}

    def _check_keys(self, place: KeyPath, table: Mapping[str, Any], keys: tuple[str, ...]) -> None:
        """Report keys that a table does not have."""
        for key in table:
            if key not in keys:
                is_table = key in TABLES
                hint = f"'{key}' belongs to the beginning of the file, before the first table." * is_table
                self._report((*place, key), str(cosim.LookUpError("key", key, keys, hint)))
