"""Table ``[simulation]`` of a model file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import cosim
from cosim_workbench.wording import unknown

TIMES = ("until", "fixed_step", "initial_step", "minimum_step", "maximum_step")
TOLERANCES = ("relative_tolerance", "absolute_tolerance")
KEYS = [*TIMES, "accuracy", *TOLERANCES, "integrator", "output"]


class SimulationTable(cosim.ModelTable):
    """The settings of a run that the command line may override.

    ``until`` and the steps of the integrator (``fixed_step``, ``initial_step``, ``minimum_step``,
    ``maximum_step``) in s or with a unit, ``accuracy``, ``relative_tolerance`` and ``absolute_tolerance`` (a
    number, or a table by group of states or path: ``{ q = 1e-9, "engine.u" = 1e-6 }``), ``integrator`` (an id
    without a dot belongs to ``integrators``), the numbers that it takes of its own (``rho_infinity``), and
    ``output = { interval = "1 ms", signals = ["engine.z", "energy.*"] }``.
    """

    table = "simulation"
    form = "table"
    prefix = "integrators"

    def read(self, model: cosim.Model, name: str, entry: dict[str, Any], report: Any) -> None:
        """Store the entries as the settings of the model's own runs."""
        for key in sorted(entry, key="integrator".__ne__):  # it comes first: its own options depend on it
            value = entry[key]
            if key in TOLERANCES:
                _store_tolerance(model, key, value, report)
            elif key == "output":
                self._store_output(model, value, report)
            elif (reader := self._reader(model, key, value)) is not None:
                _store_setting(model, key, reader, key, report)
            else:
                report(key, unknown("key", key, KEYS))

    def _reader(self, model: cosim.Model, key: str, value: Any) -> Callable[[], Any] | None:
        """The function that reads the value of a setting; None for an unknown key."""
        if key in TIMES:
            return partial(positive, value, "s", key)
        if key == "accuracy":
            return partial(positive, value, "1", key)
        if key == "integrator":
            return partial(self._integrator, value)
        if key in own_options(model.simulation.get("integrator")):
            return partial(number, value, key)
        return None

    def _integrator(self, value: Any) -> str:
        """The full id of an integrator; `LookUpError` if there is none."""
        integrator = self.full_id(str(value))
        cosim.registry().get("integrator", integrator)
        return integrator

    def _store_output(self, model: cosim.Model, value: Any, report: Any) -> None:
        """Store the interval and the signals of ``output``."""
        if not isinstance(value, dict):
            report("output", f'output is {value!r}, needs {{ interval = "1 ms", signals = ["engine.z"] }}')
            return
        for key, entry in value.items():
            path = f"output.{key}"
            if key == "interval":
                _store_setting(model, "output_interval", partial(positive, entry, "s", key), path, report)
            elif key != "signals":
                report(path, unknown("key", key, ["interval", "signals"]))
            elif isinstance(entry, list) and entry and all(isinstance(item, str) for item in entry):
                model.simulation["signals"] = entry
            else:
                report(path, f'signals is {entry!r}, needs a list of paths, such as ["engine.z", "energy.*"]')

    def schema(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        """The settings, and the options of all integrators."""
        positive_number = {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string"}]}
        by_state = {"type": "object", "additionalProperties": positive_number}
        ids = [entry.id for entry in cosim.registry().entries("integrator")]
        short = [id.removeprefix(f"{self.prefix}.") for id in ids]
        signals = {"type": "array", "items": {"type": "string"}, "minItems": 1}
        output = {
            "type": "object",
            "properties": {"interval": positive_number, "signals": signals},
            "additionalProperties": False,
        }
        properties = {
            **dict.fromkeys((*TIMES, "accuracy"), positive_number),
            **{key: {"anyOf": [*positive_number["anyOf"], by_state]} for key in TOLERANCES},
            "integrator": {"enum": list(dict.fromkeys([*short, *ids]))},
            "output": output,
        }
        of_integrators = {option: {"type": "number"} for id in ids for option in own_options(id)}
        return {
            "type": "object",
            "properties": {**of_integrators, **properties},
            "additionalProperties": False,
        }


def own_options(integrator: str | None) -> list[str]:
    """Names of the options of an integrator besides the common ones."""
    if integrator is None:
        return []
    parameters = inspect.signature(cosim.registry().get("integrator", integrator)).parameters.values()
    common = inspect.signature(cosim.Integrator).parameters
    return [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in common]


def number(value: Any, name: str) -> float:
    """A number without a unit; `ModelError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise cosim.ModelError.of("", f"{name} is {value!r}, needs a number")
    return float(value)


def positive(value: Any, unit: str, name: str) -> float:
    """A number > 0, or a text with a unit; `ModelError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise cosim.ModelError.of("", f"{name} is {value!r}, needs a number")
    number = cosim.parse_quantity(value, unit)
    if not 0.0 < number < float("inf"):
        raise cosim.ModelError.of("", f"{name} is {value!r}, needs a finite number greater than 0")
    return number


def _store_tolerance(model: cosim.Model, key: str, value: Any, report: Any) -> None:
    """Store a tolerance: one number, or a table by group of states or path."""
    if not isinstance(value, dict):
        _store_setting(model, key, partial(positive, value, "1", key), key, report)
        return
    tolerances = {}
    for path, number in value.items():
        try:
            tolerances[path] = positive(number, "1", path)
        except cosim.CosimError as error:
            report(f"{key}.{path}", str(error))
    model.simulation[key] = tolerances


def _store_setting(model: cosim.Model, setting: str, read: Callable[[], Any], path: str, report: Any) -> None:
    """Store what `read` returns as a setting; report why it could not read, at the `path` of the file."""
    try:
        model.simulation[setting] = read()
    except cosim.ModelError as error:
        report(path, error.problems[0].text)
    except cosim.CosimError as error:
        report(path, str(error))
