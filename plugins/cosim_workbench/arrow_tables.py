"""Tables of Arrow, the library for Parquet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cosim_workbench.optional_library import import_optional


def arrow() -> Any:
    """The library for Parquet, with its module ``parquet``."""
    import_optional("pyarrow.parquet", "Parquet", "parquet", "pyarrow")
    return import_optional("pyarrow", "Parquet", "parquet")


def arrow_table(
    columns: Mapping[str, Any], units: Mapping[str, str], metadata: Mapping[bytes, str] | None = None
) -> Any:
    """Arrays of numbers, booleans or texts as a table of Arrow; units are metadata of its columns."""
    pa = arrow()
    fields, arrays = [], []
    for name, values in columns.items():
        is_text = values.dtype.kind in "OU"
        cells = values.tolist() if is_text else np.ascontiguousarray(values)
        array = pa.array(cells, type=pa.string() if is_text else None)
        unit = units.get(name)
        fields.append(pa.field(name, array.type, metadata={"unit": unit} if unit else None))
        arrays.append(array)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=metadata))
