"""Figures that notebooks show."""

from __future__ import annotations

import functools
import io
from pathlib import Path
from typing import Any

from cosim.kit import replaced_file


def new_figure(width: float, height: float) -> Any:
    """An empty `matplotlib.figure.Figure`, in inches, that belongs to no window.

    Notebooks show other figures only if pyplot was imported; they show this one always.
    """
    return _shown_figure()(figsize=(width, height), layout="constrained")


def save_figure(figure: Any, path: Path) -> Path:
    """Write a picture, completely or not at all; the ending of the name says its kind."""
    with replaced_file(path) as draft:
        figure.savefig(draft, dpi=120)
    return path


@functools.cache
def _shown_figure() -> Any:
    from matplotlib.figure import Figure

    class ShownFigure(Figure):  # type: ignore[misc, unused-ignore]
        def _repr_png_(self) -> bytes:
            picture = io.BytesIO()
            self.savefig(picture, format="png", dpi=96)
            return picture.getvalue()

    return ShownFigure
