"""JSON Schema of scenario files."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import cosim
from cosim_fmu.scenario import scenario, scenario_changes, scenario_participants
from cosim_master.abilities import LOG_LEVELS
from cosim_master.coupling import connection
from cosim_master.coupling.run_settings import INSIDE
from cosim_master.participants.python_participant import REFERENCE
from cosim_workbench.contracts import FileSchema

TEXT: dict[str, Any] = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
OBJECT: dict[str, Any] = {"type": "object"}
QUANTITY = {"anyOf": [{"type": "number"}, {"type": "string"}]}
POSITIVE = {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string"}]}
CONDITION = {**TEXT, "description": 'set once it becomes true: "plant.T > 300 K and not plant.open"'}
FILES = {"anyOf": [TEXT, TEXTS]}


class ScenarioSchema(FileSchema):
    """The schema of a scenario with the installed plugins."""

    name: ClassVar[str] = "scenario"
    what: ClassVar[str] = "a scenario of a co-simulation"

    def schema(self) -> dict[str, Any]:
        """Tables and keys are those that the reader knows."""
        tables = {
            "participants": {"type": "object", "additionalProperties": _participant()},
            "connections": {"type": "array", "items": {"anyOf": [_line(), _connection()]}},
            "parameters": OBJECT,
            "parameter_files": FILES,
            "changes": {
                "type": "array",
                "items": {
                    **_table(
                        scenario_changes.KEYS, {"at": QUANTITY, "when": CONDITION, "set": OBJECT}, ("set",)
                    ),
                    "oneOf": [{"required": ["at"]}, {"required": ["when"]}],
                },
            },
            "bonds": {
                "type": "array",
                "items": {**TEXTS, "minItems": 2},
                "description": 'variables whose product is a power: ["plant.force", "plant.speed"]',
            },
            "master": _master(),
            "output": _output(),
        }
        loose = {name: {**table, "required": []} for name, table in tables.items()}  # laid over the others
        loose["participants"] = {"type": "object", "additionalProperties": OBJECT}
        variant = {"type": "object", "properties": loose, "additionalProperties": False}
        tables["variants"] = {"type": "object", "additionalProperties": variant}
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "cosim scenario",
            **_table(scenario.TABLES, tables),
        }


def _table(keys: Sequence[str], schemas: Mapping[str, Any], required: Sequence[str] = ()) -> dict[str, Any]:
    """A table with these keys, which are all that its reader knows."""
    assert set(schemas) == set(keys), f"{set(schemas) ^ set(keys)}: the reader knows other keys"
    return {
        "type": "object",
        "properties": dict(schemas),
        "required": list(required),
        "additionalProperties": False,
    }


def _output() -> dict[str, Any]:
    keys = {
        "signals": {**TEXTS, "description": "paths and patterns; outputs and what is connected unless given"},
        "file": {**TEXT, "description": "for the results: .csv, .parquet"},
        "inside": {"enum": list(INSIDE), "default": "events"},
        "interval": {**POSITIVE, "description": "between recorded points, a multiple of the step [s]"},
        "decimation": {"type": "integer", "minimum": 1, "description": "the same in communication steps"},
    }
    return _table(scenario.OUTPUT, keys)


def _participant() -> dict[str, Any]:
    """The schema of the table of a participant."""
    series = {"anyOf": [TEXT, {"type": "object", "additionalProperties": {"type": "array"}}]}
    kinds = [entry.id for entry in cosim.registry().entries("participant")]
    keys = {
        "fmu": {**TEXT, "description": "an FMU, from the folder of this file"},
        "model": {**TEXT, "description": "a model file of cosim"},
        "type": {
            "anyOf": [{"enum": kinds}, {**TEXT, "pattern": f"^{REFERENCE.pattern}$"}],
            "description": "a registered kind of participant, or a class of a Python file beside this one: "
            '"controller:Thermostat"',
        },
        "series": {**series, "description": "values over time: a file, or pairs of time and value"},
        "options": {**OBJECT, "description": "arguments of its constructor"},
        "parameters": {**OBJECT, "description": "start values of parameters and inputs"},
        "parameter_files": {**FILES, "description": "values from .toml, .csv and .ssv files"},
        "step": {**POSITIVE, "description": "a longer communication step than the others' [s]"},
        "tolerance": {"type": "number", "exclusiveMinimum": 0, "description": "of its own integrator"},
        "feedthrough": {
            "anyOf": [{"enum": ["none"]}, {"type": "object", "additionalProperties": TEXTS}],
            "description": 'inputs on which outputs depend at the same instant: { y = ["u"] }',
        },
        "log": {**TEXT, "description": "file for what it logs"},
        "log_level": {"enum": list(LOG_LEVELS), "default": "warning"},
        "process": {"type": "boolean", "description": "in a process of its own"},
        "host": {
            **TEXT,
            "pattern": "^(ssh|tcp)://",
            "description": 'an FMU runs on another machine: "ssh://user@machine", "tcp://machine:7364"',
        },
        "wine": {
            "type": "boolean",
            "description": "the library for Windows of an FMU runs on Linux, under wine",
        },
        "timeout": {
            **POSITIVE,
            "description": "for each call of a participant in a process of its own or on another machine [s]",
        },
    }
    table = _table(scenario_participants.KEYS, keys)
    return {**table, "oneOf": [{"required": [kind]} for kind in scenario_participants.KINDS]}


def _line() -> dict[str, Any]:
    return {"type": "string", "pattern": "->|→", "description": '"plant.felt -> controller.speed"'}


def _connection() -> dict[str, Any]:
    keys = {
        "from": {**TEXT, "description": "participant.output"},
        "to": {**TEXT, "description": "participant.input"},
        "factor": {"type": "number", "default": 1.0},
        "offset": {"type": "number", "default": 0.0, "description": "in the unit of the output"},
        "convert": {"type": "boolean", "default": True, "description": "convert physical units"},
        "map": {**OBJECT, "description": "what booleans, integers and items become"},
    }
    return _table(connection.KEYS, keys, ("from", "to"))


def _master() -> dict[str, Any]:
    """Algorithms by their ids, with the options of all of them."""
    entries = cosim.registry().entries("master_algorithm")
    ids = [entry.id for entry in entries]
    short = [id.removeprefix("fmu.") for id in ids]
    options = sorted({n for entry in entries for n in inspect.signature(entry.cls).parameters if n != "self"})
    own = {"type": "object", "properties": {key: {} for key in options}, "additionalProperties": False}
    keys = {
        "algorithm": {"enum": list(dict.fromkeys([*short, *ids])), "default": "gauss_seidel"},
        "options": own,
        "step": {**POSITIVE, "description": "communication step [s]; of one FMU its own unless given"},
        "until": {**QUANTITY, "description": "end [s]"},
        "start": {**QUANTITY, "description": "[s]"},
        "tolerance": {"type": "number", "exclusiveMinimum": 0, "description": "of participants' integrators"},
        "threads": {"type": "integer", "minimum": 1, "default": 1},
        "time_limit": {**POSITIVE, "description": "for the whole run, on the clock on the wall [s]"},
    }
    return _table(scenario.MASTER, keys)
