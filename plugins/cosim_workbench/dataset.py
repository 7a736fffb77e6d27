"""Results as a dataset of xarray."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cosim
from cosim_workbench.optional_library import import_optional


class Dataset(cosim.ResultSink):
    """A dataset of xarray: signals over the time, each with its unit as an attribute.

    A vector has a dimension of its own, named after it.
    """

    def write(self, result: cosim.Result, path: Path) -> Path:
        """Refuse: this is not a kind of file."""
        raise cosim.CosimError(f"{path}: a dataset is not a file format: write it with its own methods")

    def show(self, result: cosim.Result) -> Any:
        """The dataset (`xarray.Dataset`)."""
        xarray = import_optional("xarray", "a dataset", "table")
        signals = {
            name: (
                ("time",) if values.ndim == 1 else ("time", f"{name} element"),
                values,
                {"units": result.unit(name)},
            )
            for name, values in result.signals.items()
        }
        time = ("time", result.time, {"units": "s"})
        return xarray.Dataset(signals, {"time": time}, {"message": result.message})
