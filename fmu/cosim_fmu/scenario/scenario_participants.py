"""Participants as a scenario file names them, and values over time for their inputs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import cosim
from cosim.kit import path_below
from cosim_fmi.binding.fmu_output import is_log
from cosim_master.abilities import LOG_LEVELS, WritesLog
from cosim_master.coupling.connection import Connection
from cosim_master.participants.create_participants import open_fmu
from cosim_master.participants.isolation import DECLARED, Isolation
from cosim_master.participants.process_participant import ProcessParticipant
from cosim_master.participants.python_participant import python_participant, python_reference
from cosim_master.participants.system_participant import SystemParticipant
from cosim_master.participants.timed_inputs import TimedInputs
from cosim_toml.toml_lines import KeyPath

NAME = "inputs"
"""The name of the participant that gives the values."""
WHOLE_TYPES = ("integer", "boolean")


def fed_inputs(
    series: Any, participants: Mapping[str, cosim.Participant]
) -> tuple[TimedInputs, list[Connection]]:
    """A participant that gives these values, and its connections.

    Parameters
    ----------
    series : path, Result, mapping or TimedInputs
        Its signals have the names of inputs: ``"plant.force"``.
    participants : mapping of str to Participant

    Raises
    ------
    ModelError
        A signal that is named like no variable; another participant has the name `NAME`.
    CosimError
        The file cannot be read.
    """
    if NAME in participants:
        text = f"is the name of what gives them: choose another for [participants.{NAME}]"
        raise cosim.ModelError.of(NAME, text)
    timed_inputs = series if isinstance(series, TimedInputs) else TimedInputs(series)
    types: dict[str, str] = {}
    problems = []
    for path in timed_inputs.describe().variables:
        name, _, variable = path.partition(".")
        if name not in participants:
            problems.append(cosim.Problem(NAME, str(cosim.LookUpError("participant", name, participants))))
            continue
        variables = participants[name].describe().variables
        if variable not in variables:
            inputs = [n for n, v in variables.items() if v.causality == "input"]
            problems.append(cosim.Problem(NAME, str(cosim.LookUpError(f"input of {name}", variable, inputs))))
        elif variables[variable].type in WHOLE_TYPES:
            types[path] = variables[variable].type
    if problems:
        raise cosim.ModelError(problems)
    connections = [Connection(f"{NAME}.{path}", path) for path in timed_inputs.describe().variables]
    if not isinstance(series, TimedInputs):
        timed_inputs = TimedInputs(series, types=types)
    return timed_inputs, connections


KINDS = ("fmu", "model", "type", "series")
KEYS = (
    *KINDS,
    *(
        "options",
        "parameters",
        "parameter_files",
        "step",
        "tolerance",
        "feedthrough",
        "process",
        "host",
        "timeout",
        "wine",
        "log",
        "log_level",
    ),
)
ReportAt = Callable[[KeyPath, str], None]


class ReportProblem(Protocol):
    """Receives the text of a problem, and the key in the table of its participant."""

    def __call__(self, text: str, *keys: str) -> None: ...


def python_file(folder: Path, entry: Mapping[str, Any]) -> Path | None:
    """The Python file that the table of a participant has loaded, if any."""
    kind = entry.get("type")
    reference = python_reference(kind, folder) if isinstance(kind, str) else None
    return None if reference is None else reference[0]


def make_participant(
    folder: Path, name: str, entry: Mapping[str, Any], report_at: ReportAt, isolation: Isolation = DECLARED
) -> cosim.Participant | None:
    """The participant of one table ``[participants.NAME]``.

    Parameters
    ----------
    folder : Path
        The folder in which paths of the file start.
    name : str
    entry : mapping
        One of ``fmu = "file.fmu"``, ``model = "file.toml"`` (a model file of ours), ``type = "plugin.id"``
        (a registered kind of participant) or ``"controller:Thermostat"`` (of ``controller.py`` in the folder,
        `python_participant`) and ``series = "file.csv"`` (`TimedInputs`); ``options`` are
        arguments of its constructor, ``parameters`` start values; with ``process = true`` it runs in a
        process of its own, with ``host = "ssh://user@machine"`` an FMU runs on another machine, and with
        ``timeout`` a call that takes longer (s) ends such a process.
    report_at : callable
        Takes the key and the text of a problem.
    isolation : Isolation
        The options of the command line for separate processes.

    Returns
    -------
    Participant or None
        None when something was wrong.
    """

    def report(text: str, *keys: str) -> None:
        report_at(("participants", name, *keys), text)

    for key in entry:
        if key not in KEYS:
            report(str(cosim.LookUpError("key", key, KEYS)), key)
    source = _source_of(entry, report)
    if source is None or not _has_right_types(name, source[0], entry, report):
        return None
    participant = _opened(folder, name, *source, entry, isolation, report)
    if participant is not None:
        _write_log(participant, folder, entry, lambda key, text: report(text, key))
    return participant


def _source_of(entry: Mapping[str, Any], report: ReportProblem) -> tuple[str, Any] | None:
    """The key of KINDS in the table, and its value; None if there is not exactly one."""
    kinds = [kind for kind in KINDS if kind in entry]
    if len(kinds) != 1:
        has = " and ".join(kinds) if kinds else "none of fmu, model, type, series"
        report(f'has {has}, needs one of them: fmu = "file.fmu", model = "file.toml" or type = "plugin.id"')
        return None
    kind, value = kinds[0], entry[kinds[0]]
    is_table_of_series = kind == "series" and isinstance(value, Mapping)
    if (not isinstance(value, str) or not value) and not is_table_of_series:
        report(f"is {value!r}, needs text", kind)
        return None
    return kind, value


def _has_right_types(name: str, kind: str, entry: Mapping[str, Any], report: ReportProblem) -> bool:
    """Whether options, parameters, ``process`` and ``wine`` have their types."""
    for key in ("options", "parameters"):
        value = entry.get(key, {})
        if not isinstance(value, Mapping):
            report(f"is {value!r}, needs a table: [participants.{name}.{key}]", key)
            return False
    process = entry.get("process", False)
    if not isinstance(process, bool):
        report(f"is {process!r}, needs true or false", "process")
        return False
    wine = entry.get("wine", False)
    if wine is not False and (not isinstance(wine, bool) or kind != "fmu"):
        report(f"is {wine!r}, needs true or false" if kind == "fmu" else "is for FMUs", "wine")
        return False
    return True


def _opened(
    folder: Path,
    name: str,
    kind: str,
    value: Any,
    entry: Mapping[str, Any],
    isolation: Isolation,
    report: ReportProblem,
) -> cosim.Participant | None:
    """The participant, in this process or in one of its own; None where it cannot be made."""
    options = {**entry.get("options", {}), **({"wine": True} if entry.get("wine", False) else {})}
    timeout, host, process = entry.get("timeout"), entry.get("host"), entry.get("process", False)
    if timeout is not None and not process and host is None:
        report(
            "needs process = true, or a host: a call in this process cannot be ended from outside", "timeout"
        )
    if host is None:
        process = isolation.applies(name, process) if kind == "fmu" or process else False
    try:
        timeout = cosim.parse_quantity(timeout, "s") if isinstance(timeout, str) else timeout
        make, arguments = _recipe(folder, name, kind, value)
        if not process and host is None:
            return make(*arguments, **options)
        where = {} if host is None else {"host": host, "own_process": process}
        return ProcessParticipant(make, *arguments, timeout=timeout, **where, **options)
    except cosim.ModelError as error:
        for fault in error.problems:
            _report_fault(fault, kind, options, report)
    except (cosim.CosimError, TypeError, ValueError) as error:
        report(str(error), kind)
    return None


def _report_fault(fault: cosim.Problem, kind: str, options: Mapping[str, Any], report: ReportProblem) -> None:
    """Report a fault of a constructor at the key that caused it, if that is known."""
    if fault.where in ("timeout", "host"):
        report(fault.text, fault.where)
        return
    option = fault.where.partition("options.")[2]
    if option in options:
        report(fault.text, "options", option)
    else:
        report(str(fault), kind)


def _write_log(
    participant: cosim.Participant, folder: Path, entry: Mapping[str, Any], report: Callable[[str, str], None]
) -> None:
    """``log = "plant.log"``, ``log_level = "all"``."""
    file, level = entry.get("log"), entry.get("log_level", "warning")
    if file is None:
        if "log_level" in entry:
            report("log_level", 'is of no use without a file: log = "plant.log"')
    elif not isinstance(file, str) or not file:
        report("log", f'is {file!r}, needs the name of a file: "plant.log"')
    elif level not in LOG_LEVELS:
        report("log_level", f"is {level!r}, needs one of {', '.join(map(repr, LOG_LEVELS))}")
    elif not isinstance(participant, WritesLog):
        report("log", "this participant keeps no log")
    else:
        try:
            path = path_below(folder, file)
            if not path.parent.is_dir():
                raise ValueError(f"there is no folder {path.parent}")
            if not is_log(path):
                raise ValueError(f"{file!r} exists, and is not a log: choose another name")
            participant.write_log(path, level)
        except ValueError as error:
            report("log", str(error))
        except cosim.ModelError as error:
            report("log", error.problems[0].text)


def system_from_file(path: Path, **options: Any) -> SystemParticipant:
    """A model file of ours as a participant; with the suffix .json one that `Model.to_dict` gave."""
    if path.suffix == ".json":
        return SystemParticipant(cosim.Model.from_dict(json.loads(path.read_text("utf-8"))), **options)
    return SystemParticipant(cosim.Model.from_file(path), **options)


def registered(kind: str, **options: Any) -> cosim.Participant:
    """A participant of a registered kind."""
    participant = cosim.registry().get("participant", kind)(**options)
    assert isinstance(participant, cosim.Participant)
    return participant


def _recipe(
    folder: Path, name: str, kind: str, value: Any
) -> tuple[Callable[..., cosim.Participant], tuple[Any, ...]]:
    """A function that another process can import, and its arguments."""
    if kind == "fmu":
        return open_fmu, (folder / value, name)
    if kind == "series":
        return TimedInputs, (folder / value if isinstance(value, str) else value,)
    if kind == "model":
        return system_from_file, (folder / value,)
    reference = python_reference(value, folder)
    if reference is None and ":" in value:
        text = f"is {value!r}, needs MODULE:CLASS for a class of MODULE.py in the folder of this file"
        raise ValueError(text)
    return (registered, (value,)) if reference is None else (python_participant, reference)
