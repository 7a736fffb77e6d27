"""Participants as a scenario file names them, and values over time for their inputs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

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
"""Of the participant that gives the values."""
WHOLE = ("integer", "boolean")


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
        A signal that is called as no variable; another participant has the name `NAME`.
    CosimError
        The file cannot be read.
    """
    if NAME in participants:
        text = f"is the name of what gives them: choose another for [participants.{NAME}]"
        raise cosim.ModelError.of(NAME, text)
    given = series if isinstance(series, TimedInputs) else TimedInputs(series)
    types: dict[str, str] = {}
    problems = []
    for path in given.describe().variables:
        name, _, variable = path.partition(".")
        if name not in participants:
            problems.append(cosim.Problem(NAME, str(cosim.LookUpError("participant", name, participants))))
            continue
        variables = participants[name].describe().variables
        if variable not in variables:
            inputs = [n for n, v in variables.items() if v.causality == "input"]
            problems.append(cosim.Problem(NAME, str(cosim.LookUpError(f"input of {name}", variable, inputs))))
        elif variables[variable].type in WHOLE:
            types[path] = variables[variable].type
    if problems:
        raise cosim.ModelError(problems)
    connections = [Connection(f"{NAME}.{path}", path) for path in given.describe().variables]
    return (given if isinstance(series, TimedInputs) else TimedInputs(series, types=types)), connections


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
Say = Callable[[KeyPath, str], None]


def python_file(folder: Path, entry: Mapping[str, Any]) -> Path | None:
    """The Python file that the table of a participant has loaded, if any."""
    what = entry.get("type")
    reference = python_reference(what, folder) if isinstance(what, str) else None
    return None if reference is None else reference[0]


def make_participant(
    folder: Path, name: str, entry: Mapping[str, Any], say: Say, isolation: Isolation = DECLARED
) -> cosim.Participant | None:
    """The participant of one table ``[participants.NAME]``.

    Parameters
    ----------
    folder : Path
        That paths in the file start from.
    name : str
    entry : mapping
        One of ``fmu = "file.fmu"``, ``model = "file.toml"`` (a model file of ours), ``type = "plugin.id"``
        (a registered kind of participant) or ``"controller:Thermostat"`` (of ``controller.py`` in the folder,
        `python_participant`) and ``series = "file.csv"`` (`TimedInputs`); ``options`` are
        arguments of its constructor, ``parameters`` start values; with ``process = true`` it runs in a
        process of its own, with ``host = "ssh://user@machine"`` an FMU runs on another machine, and with
        ``timeout`` a call that takes longer (s) ends such a process.
    say : callable
        Takes the key and the text of a problem.
    isolation : Isolation
        What the command line says about processes of their own.

    Returns
    -------
    Participant or None
        None when something was wrong.
    """
    here = ("participants", name)
    for key in entry:
        if key not in KEYS:
            say((*here, key), str(cosim.LookUpError("key", key, KEYS)))
    given = [kind for kind in KINDS if kind in entry]
    if len(given) != 1:
        what = " and ".join(given) if given else "none of fmu, model, type, series"
        say(
            here,
            f'has {what}, needs one of them: fmu = "file.fmu", model = "file.toml" or type = "plugin.id"',
        )
        return None
    kind, what = given[0], entry[given[0]]
    if (not isinstance(what, str) or not what) and not (kind == "series" and isinstance(what, Mapping)):
        say((*here, kind), f"is {what!r}, needs text")
        return None
    options, parameters = entry.get("options", {}), entry.get("parameters", {})
    for key, value in (("options", options), ("parameters", parameters)):
        if not isinstance(value, Mapping):
            say((*here, key), f"is {value!r}, needs a table: [participants.{name}.{key}]")
            return None
    process = entry.get("process", False)
    if not isinstance(process, bool):
        say((*here, "process"), f"is {process!r}, needs true or false")
        return None
    if (wine := entry.get("wine", False)) is not False:
        if not isinstance(wine, bool) or kind != "fmu":
            text = f"is {wine!r}, needs true or false" if kind == "fmu" else "is for FMUs"
            say((*here, "wine"), text)
            return None
        options = {**options, "wine": True}
    timeout, host = entry.get("timeout"), entry.get("host")
    if timeout is not None and not process and host is None:
        say(
            (*here, "timeout"),
            "needs process = true, or a host: a call in this process cannot be ended from outside",
        )
    if host is None:
        process = isolation.applies(name, process) if kind == "fmu" or process else False
    try:
        timeout = cosim.parse_quantity(timeout, "s") if isinstance(timeout, str) else timeout
        make, arguments = _recipe(folder, name, kind, what)
        if process or host is not None:
            where = {} if host is None else {"host": host, "own_process": process}
            made: cosim.Participant = ProcessParticipant(
                make, *arguments, timeout=timeout, **where, **options
            )
        else:
            made = make(*arguments, **options)
    except cosim.ModelError as error:
        for fault in error.problems:
            if fault.where in ("timeout", "host"):
                say((*here, fault.where), fault.text)
                continue
            option = fault.where.partition("options.")[2]
            place, text = (("options", option), fault.text) if option in options else ((kind,), str(fault))
            say((*here, *place), text)
    except (cosim.CosimError, TypeError, ValueError) as error:
        say((*here, kind), str(error))
    else:
        _write_log(made, folder, entry, lambda key, text: say((*here, key), text))
        return made
    return None


def _write_log(
    made: cosim.Participant, folder: Path, entry: Mapping[str, Any], say: Callable[[str, str], None]
) -> None:
    """``log = "plant.log"``, ``log_level = "all"``."""
    file, level = entry.get("log"), entry.get("log_level", "warning")
    if file is None:
        if "log_level" in entry:
            say("log_level", 'is of no use without a file: log = "plant.log"')
    elif not isinstance(file, str) or not file:
        say("log", f'is {file!r}, needs the name of a file: "plant.log"')
    elif level not in LOG_LEVELS:
        say("log_level", f"is {level!r}, needs one of {', '.join(map(repr, LOG_LEVELS))}")
    elif not isinstance(made, WritesLog):
        say("log", "this participant keeps no log")
    elif not (folder / file).parent.is_dir():
        say("log", f"there is no folder {(folder / file).parent}")
    else:
        try:
            path = path_below(folder, file)
            if not is_log(path):
                raise ValueError(f"{file!r} exists, and is not a log: choose another name")
            made.write_log(path, level)
        except ValueError as error:
            say("log", str(error))
        except cosim.ModelError as error:
            say("log", error.problems[0].text)


def system_from_file(path: Path, **options: Any) -> SystemParticipant:
    """A model file of ours as a participant; with the suffix .json one that `Model.to_dict` gave."""
    if path.suffix == ".json":
        return SystemParticipant(cosim.Model.from_dict(json.loads(path.read_text("utf-8"))), **options)
    return SystemParticipant(cosim.Model.from_file(path), **options)


def registered(kind: str, **options: Any) -> cosim.Participant:
    """A participant of a registered kind."""
    made = cosim.registry().get("participant", kind)(**options)
    assert isinstance(made, cosim.Participant)
    return made


def _recipe(
    folder: Path, name: str, kind: str, what: Any
) -> tuple[Callable[..., cosim.Participant], tuple[Any, ...]]:
    """A function that another process can import, and its arguments."""
    if kind == "fmu":
        return open_fmu, (folder / what, name)
    if kind == "series":
        return TimedInputs, (folder / what if isinstance(what, str) else what,)
    if kind == "model":
        return system_from_file, (folder / what,)
    reference = python_reference(what, folder)
    if reference is None and ":" in what:
        text = f"is {what!r}, needs MODULE:CLASS for a class of MODULE.py in the folder of this file"
        raise ValueError(text)
    return (registered, (what,)) if reference is None else (python_participant, reference)
