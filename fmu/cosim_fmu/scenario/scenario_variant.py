"""Variants of a scenario: tables that are laid over the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cosim
from cosim_toml.toml_file import TomlFile
from cosim_toml.toml_lines import KeyPath


def lay_over(source: TomlFile, variant: str | None) -> None:
    """Take the tables of a variant in place of those of the file, and leave out all variants.

    Tables are joined key by key; whatever is no table, lists too, takes the place of what was there.

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
    known = variants if isinstance(variants, Mapping) else {}
    if not isinstance(known.get(variant), Mapping):
        raise cosim.ModelError.of(str(source.path), str(cosim.LookUpError("variant", variant, known)))
    above: KeyPath = ("variants", variant)
    _join(source, source.data, known[variant], ())
    for path in [path for path in source.lines if path[:2] == above]:
        source.lines[path[2:]] = source.lines[path]


def _join(source: TomlFile, below: dict[str, Any], over: Mapping[str, Any], path: KeyPath) -> None:
    for key, value in over.items():
        here = (*path, key)
        if isinstance(value, Mapping) and isinstance(below.get(key), dict):
            _join(source, below[key], value, here)
            continue
        below[key] = value
        for old in [known for known in source.lines if known[: len(here)] == here]:
            del source.lines[old]
