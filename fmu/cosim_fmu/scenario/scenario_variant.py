"""Variants of a scenario, and files of parameters."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import cosim
from cosim_master.coupling.unit_conversion import Quantity
from cosim_toml.toml_file import TomlFile
from cosim_toml.toml_lines import KeyPath


def lay_over(source: TomlFile, variant: str | None) -> None:
    """Replace tables of the file by those of a variant, and remove all variants.

    Tables are joined key by key; whatever is not a table, lists too, takes the place of what was there.

    Parameters
    ----------
    source : TomlFile
        Changed in place; lines are those of the variant where it says something.
    variant : str or None

    Raises
    ------
    ModelError
        There is no such variant.
    """
    variants = source.data.pop("variants", {})
    if variant is None:
        return
    variant_tables = variants if isinstance(variants, Mapping) else {}
    if not isinstance(variant_tables.get(variant), Mapping):
        raise cosim.ModelError.of(
            str(source.path), str(cosim.LookUpError("variant", variant, variant_tables))
        )
    above: KeyPath = ("variants", variant)
    _join(source, source.data, variant_tables[variant], ())
    for path in [path for path in source.lines if path[:2] == above]:
        source.lines[path[2:]] = source.lines[path]


def _join(source: TomlFile, below: dict[str, Any], over: Mapping[str, Any], path: KeyPath) -> None:
    for key, value in over.items():
        here = (*path, key)
        if isinstance(value, Mapping) and isinstance(below.get(key), dict):
            _join(source, below[key], value, here)
            continue
        below[key] = value
        for old in [key_path for key_path in source.lines if key_path[: len(here)] == here]:
            del source.lines[old]


LARGEST = 64 * 2**20
"""Bytes."""


class Parameter(NamedTuple):
    """A value of a file.

    Attributes
    ----------
    value : object
        A number, a boolean, text (also a number with its unit), nested lists, or a `Quantity`.
    place : str
        ``file:line``.
    """

    value: Any
    place: str


def read_parameters(path: str | Path) -> dict[str, Parameter]:
    """The parameters of a file, by name.

    Parameters
    ----------
    path : path
        ``.toml``: tables are parts of names, ``[engine]`` with ``mass = 2.0`` or ``mass = "2 t"``.
        ``.csv``: a line for each, name, value and, optionally, unit.
        ``.ssv``: a parameter set of SSP.

    Raises
    ------
    ModelError
        It cannot be read, with the line.
    """
    path = Path(path)
    readers = {".toml": _read_toml, ".csv": _read_csv, ".ssv": _read_ssv}
    if path.suffix.lower() not in readers:
        suffixes = ", ".join(readers)
        raise cosim.ModelError.of(str(path), f"no file of parameters: its name has to end in {suffixes}")
    try:
        if path.stat().st_size > LARGEST:
            raise cosim.ModelError.of(str(path), f"is larger than {LARGEST / 2**20:.0f} MiB")
    except OSError as error:
        raise cosim.ModelError.of(str(path), (error.strerror or str(error)).lower()) from None
    return readers[path.suffix.lower()](path)


def flat(table: Any, prefix: str = "") -> dict[str, Any]:
    """Dotted names of nested tables."""
    names: dict[str, Any] = {}
    for key, value in table.items() if isinstance(table, Mapping) else ():
        names.update(flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value})
    return names


def _read_toml(path: Path) -> dict[str, Parameter]:
    source = TomlFile.read(path)
    return {
        name: Parameter(value, source.where(source.place((), name), ""))
        for name, value in flat(source.data).items()
    }


def _read_csv(path: Path) -> dict[str, Parameter]:
    parameters: dict[str, Parameter] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, row in enumerate(csv.reader(file, skipinitialspace=True), start=1):
                place = f"{path}:{number}"
                cells = [cell.strip() for cell in row]
                if not any(cells) or cells[0].startswith("#"):
                    continue
                if number == 1 and [cell.lower() for cell in cells[:2]] == ["name", "value"]:
                    continue
                if len(cells) not in (2, 3) or not cells[0]:
                    raise cosim.ModelError.of(
                        place, "needs a name, a value and, optionally, a unit: mass,2.0,t"
                    )
                if cells[0] in parameters:
                    raise cosim.ModelError.of(place, f"{cells[0]} has a value already")
                parameters[cells[0]] = Parameter(_value(place, *cells[1:]), place)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise cosim.ModelError.of(str(path), f"cannot be read: {error}") from None
    return parameters


def _value(place: str, text: str, unit: str = "") -> Any:
    """A number, a boolean or a text; with a unit a number."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        number = int(text) if text.lstrip("+-").isdecimal() else float(text)
    except ValueError:
        if unit:
            raise cosim.ModelError.of(place, f"the value is {text!r}, needs a number [{unit}]") from None
        return text
    return Quantity(float(number), unit) if unit else number


def _read_ssv(path: Path) -> dict[str, Parameter]:
    from cosim_ssp.read_parameters import read_ssv

    return {name: Parameter(value, place) for name, (value, place) in read_ssv(path).items()}
