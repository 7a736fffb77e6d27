"""Settings of runs that several commands take."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cosim
from cosim_workbench.arguments import RegisteredId
from cosim_workbench.simulation_table import positive

UNITS = {"until": "s", "accuracy": "1", "fixed_step": "s"}


def add_method(parser: argparse.ArgumentParser, accuracy: str, example: str) -> None:
    """Arguments ``--accuracy`` and ``--integrator``."""
    parser.add_argument("--accuracy", metavar="NUMBER", help=f"accuracy of the integration{accuracy}")
    parser.add_argument(
        "--integrator",
        type=RegisteredId("integrator"),
        metavar="ID",
        help=f"id of the method, such as integrators.{example}",
    )


def add_threads(parser: argparse.ArgumentParser) -> None:
    """Argument ``--threads``."""
    parser.add_argument(
        "--threads", type=int, metavar="NUMBER", help="number of threads (the number of processors)"
    )


def add_scenario(parser: argparse.ArgumentParser) -> None:
    """Arguments ``--variant`` and ``--inputs``, which scenarios and SSPs take."""
    parser.add_argument("--variant", metavar="NAME", help="variant of a scenario or an SSP")
    parser.add_argument(
        "--inputs",
        type=Path,
        metavar="FILE",
        help="values over time for unconnected inputs of a scenario: .csv",
    )


def scenario_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """The variant and the inputs that were typed."""
    typed = vars(arguments)
    return {key: typed[key] for key in ("variant", "inputs") if typed[key] is not None}


def refuse_for_model(arguments: argparse.Namespace) -> None:
    """`CosimError` for a variant or inputs beside the file of a model, which has neither."""
    if odd := scenario_settings(arguments):
        raise cosim.CosimError(f"{arguments.model}: --{min(odd)} applies only to a scenario or an SSP")


def typed_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings that were typed, checked."""
    typed = vars(arguments)
    settings = {
        key: typed_positive(typed[key], unit, f"--{key.replace('_', '-')}")
        for key, unit in UNITS.items()
        if typed.get(key) is not None
    }
    return settings | {key: typed[key] for key in ("integrator", "threads") if typed.get(key) is not None}


def typed_positive(text: str, unit: str, option: str) -> float:
    """A positive number, as `positive` returns it; the error of a unit names the option, too."""
    try:
        return positive(text, unit, option)
    except cosim.UnitError as error:
        raise cosim.UnitError(f"{option}: {error}") from None


def pairs(texts: Sequence[str], option: str, form: str) -> dict[str, str]:
    """Read ``PATH=VALUE``, each path once; the error of another text names the `form`.

    Examples
    --------
    >>> pairs(["a.b = 1..2 m"], "--fit", "PATH=RANGE, such as a=1..2")
    {'a.b': '1..2 m'}
    """
    values: dict[str, str] = {}
    for text in texts:
        path, separator, value = (part.strip() for part in text.partition("="))
        if not separator or not path or not value:
            raise cosim.ModelError.of(option, f"{text}: needs {form}")
        if path in values:
            raise cosim.ModelError.of(option, f"{path} is there twice")
        values[path] = value
    return values
