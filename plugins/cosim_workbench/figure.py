"""Figures that notebooks show."""

from __future__ import annotations

import functools
import io
from typing import Any


def new_figure(width: float, height: float) -> Any:
    """An empty `matplotlib.figure.Figure`, in inches, that belongs to no window.

    A notebook shows one only where pyplot was imported; this one also without.
    """
    return _shown_figure()(figsize=(width, height), layout="constrained")


@functools.cache
def _shown_figure() -> Any:
    from matplotlib.figure import Figure

    class ShownFigure(Figure):  # type: ignore[misc, unused-ignore]
        def _repr_png_(self) -> bytes:
            picture = io.BytesIO()
            self.savefig(picture, format="png", dpi=96)
            return picture.getvalue()

    return ShownFigure
