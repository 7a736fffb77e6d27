"""ResultOutputs: the tables, files, pictures and pages that a result is turned into."""

from __future__ import annotations

from abc import abstractmethod
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cosim.argument_checks import check_ending
from cosim.attributes import FixedAttributes
from cosim.errors import ModelError
from cosim.options import options_checked

CSV, PICTURE, TABLE = "workbench.csv", "workbench.plot", "workbench.table"
PARQUET, DATASET = "workbench.parquet", "workbench.dataset"
ANIMATION = "animation.page"
EVENT_PICTURE, EVENT_TABLE = "workbench.event_plot", "workbench.event_table"
"""Ids of the result sinks behind the methods of `ResultOutputs`."""


class ResultOutputs(FixedAttributes):
    """The half of `Result` that shows and writes it: each method calls one registered result sink."""

    time: NDArray[np.float64]
    signals: dict[str, NDArray[Any]]
    _model: Any

    @abstractmethod
    def with_derivatives(self) -> ResultOutputs:
        """The result with its derivatives as further signals."""

    def to_numpy(self) -> NDArray[Any]:
        """A structured array, as fmpy has it: a field ``time``, then one field for each signal.

        Returns
        -------
        ndarray, shape (n,)
        """
        fields: list[Any] = [("time", np.float64)]
        fields += [(name, values.dtype, values.shape[1:]) for name, values in self.signals.items()]
        table = np.empty(self.time.size, dtype=fields)
        table["time"] = self.time
        for name, values in self.signals.items():
            table[name] = values
        return table

    def to_pandas(self) -> Any:
        """A table with the time as index and one column for each scalar; ``attrs["units"]`` has the units.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        CosimError
            When pandas is not installed.
        """
        return self._sink(TABLE).show(self)

    def to_xarray(self) -> Any:
        """A dataset with the signals over the time, each with its unit.

        Returns
        -------
        xarray.Dataset

        Raises
        ------
        CosimError
            When xarray is not installed.
        """
        return self._sink(DATASET).show(self)

    def events_to_pandas(self) -> Any:
        """The handled events as a table, a row for each; see `EventRecord.row` for its columns.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        CosimError
            When pandas is not installed.
        """
        return self._sink(EVENT_TABLE).show(self)

    def plot_events(self, *patterns: str, path: str | PathLike[str] | None = None) -> Any:
        """Draw signals over time with a line at each event, one color for each handler.

        Parameters
        ----------
        *patterns, path
            As for `plot`.

        Returns
        -------
        matplotlib.figure.Figure or pathlib.Path
        """
        sink = self._sink(EVENT_PICTURE)
        return sink.show(self, patterns) if path is None else sink.write(self, Path(path), patterns)

    @options_checked
    def to_csv(self, path: str | PathLike[str]) -> Path:
        """Write a CSV file that fmpy, spreadsheets and `cosim info` read; every number reads back exactly.

        Returns
        -------
        pathlib.Path
            Of the file; one that was there is replaced, and only when everything went well.

        Raises
        ------
        CosimError
            When the name does not end in ``.csv``: by their endings files are read again.
        """
        return self._write(CSV, Path(path))

    @options_checked
    def to_parquet(self, path: str | PathLike[str]) -> Path:
        """Write a folder of Parquet files that pandas and others read as one table; units are metadata.

        Returns
        -------
        pathlib.Path
            Of the folder.

        Raises
        ------
        CosimError
            When pyarrow is not installed, or the name does not end in ``.parquet``.
        """
        return self._write(PARQUET, Path(path))

    @options_checked
    def plot(self, *patterns: str, path: str | PathLike[str] | None = None, ax: Any = None) -> Any:
        """Draw signals over time, those of one unit in one panel, and mark the events.

        Parameters
        ----------
        *patterns : str
            As for `select`. Without them those that were recorded first, on at most four panels, with the
            energies as a balance; what is not drawn is noted below.
        path : path_like, optional
            Where to write the picture: ``.png``, ``.svg``, ``.pdf``, or ``.html``, a page to zoom and to read
            values off. Without it the figure is returned.
        ax : matplotlib.axes.Axes, optional
            Axes of your own, into which all signals are drawn, whatever their units; they are returned.

        Returns
        -------
        matplotlib.figure.Figure, pathlib.Path or matplotlib.axes.Axes

        Raises
        ------
        ModelError
            A path for axes of your own: write their figure, ``ax.figure.savefig("run.png")``.
        """
        sink = self._sink(PICTURE)
        if ax is not None:
            if path is not None:
                raise ModelError.of(
                    "plot", "path and ax exclude each other: to save your axes, call ax.figure.savefig(path)"
                )
            return sink.draw(self, patterns, ax)
        return sink.show(self, patterns) if path is None else sink.write(self, Path(path), patterns)

    @options_checked
    def animate(
        self,
        *patterns: str,
        path: str | PathLike[str] | None = None,
        model: Any = None,
        compared: Self | None = None,
    ) -> Any:
        """Play a run of a mechanism in 3-D, with signals beside and events on the line of time.

        The result needs the coordinates of all joints (``"hinge.q"``) or the poses of all bodies
        (``"arm.X_GB"``).

        Parameters
        ----------
        *patterns : str
            Signals beside, as for `select`; the first ones that move unless given.
        path : path_like, optional
            Where to write the page, ``.html``, or a glTF file that moves, ``.glb``; without it a notebook
            shows the page.
        model : Model, optional
            That of the run; known where the result comes from `Model.simulate`.
        compared : Result, optional
            Of another run of that model, which the page shows pale in the same picture.

        Returns
        -------
        pathlib.Path, or a page that notebooks show

        Raises
        ------
        CosimError
            A model without bodies, or a result that does not say where they are.
        """
        sink = self._sink(ANIMATION)
        chosen = self._model if model is None else model
        if path is None:
            return sink.show(self, chosen, patterns, compared)
        check_ending(Path(path), *sink.suffixes)
        return sink.write(self, Path(path), chosen, patterns, compared)

    def _write(self, id: str, path: Path) -> Any:
        """Write the result and its derivatives with a registered sink, whose endings the path must have."""
        sink = self._sink(id)
        if not path.is_dir():  # the sink says what is wrong with it
            check_ending(path, *sink.suffixes)
        return sink.write(self.with_derivatives(), path)

    @staticmethod
    def _sink(id: str) -> Any:
        from cosim.registration.registry import registry

        return registry().get("result_sink", id)()
