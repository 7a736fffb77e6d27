"""Libraries that are not always installed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

import cosim


def library(module: str, use: str, extra: str, name: str = "") -> Any:
    """A module of another library; a `CosimError` that says how to get it where it is not there.

    Parameters
    ----------
    module : str
        The module.
    use : str
        The purpose, as the beginning of the message.
    extra : str
        The extra of this distribution that installs it.
    name : str, optional
        The name of the library, if its module has another one.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        text = f"{use} needs {name or module}, which is not installed: pip install 'cosim-framework[{extra}]'"
        raise cosim.CosimError(text) from None


def pandas() -> Any:
    """The library for tables."""
    return library("pandas", "a table", "table")


def arrow() -> Any:
    """The library for Parquet, with its module ``parquet``."""
    library("pyarrow.parquet", "Parquet", "parquet", "pyarrow")
    return library("pyarrow", "Parquet", "parquet")


def arrow_table(
    columns: Mapping[str, Any], units: Mapping[str, str], metadata: Mapping[bytes, str] | None = None
) -> Any:
    """Arrays of numbers, booleans or texts as a table of Arrow; units are metadata of its columns."""
    fields, arrays = [], []
    for name, values in columns.items():
        is_text = values.dtype.kind in "OU"
        cells = values.tolist() if is_text else np.ascontiguousarray(values)
        array = arrow().array(cells, type=arrow().string() if is_text else None)
        unit = units.get(name)
        fields.append(arrow().field(name, array.type, metadata={"unit": unit} if unit else None))
        arrays.append(array)
    return arrow().Table.from_arrays(arrays, schema=arrow().schema(fields, metadata=metadata))
