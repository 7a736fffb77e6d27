"""Views whose bounds are checked, for ``COSIM_DEBUG=1``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class CheckedView(np.ndarray[Any, Any]):
    """A view of one argument of a kernel function: no place before its start, nor beyond its end."""

    name: str

    def __array_finalize__(self, origin: Any) -> None:
        self.name = getattr(origin, "name", "")

    def __getitem__(self, place: Any) -> Any:
        self._check(place)
        return super().__getitem__(place)

    def __setitem__(self, place: Any, value: Any) -> None:
        self._check(place)
        if not self.flags.writeable:
            raise TypeError(f"{self.name}[{place}] is set, and may be read only")
        super().__setitem__(place, value)

    def _check(self, place: Any) -> None:
        """`IndexError` for a place that compiled code would take from what lies beside."""
        places = place if isinstance(place, tuple) else (place,)
        for index, length in zip(places, self.shape, strict=False):
            if isinstance(index, (int, np.integer)) and not 0 <= index < length:
                shown = ", ".join(map(str, places))
                has = f"{length} elements" if self.ndim == 1 else " by ".join(map(str, self.shape))
                raise IndexError(f"{self.name}[{shown}] is outside: {self.name} has {has}")


def checked_view(view: NDArray[np.float64], name: str, is_read: bool) -> CheckedView:
    """The view of an argument, with its name; one that is only read cannot be written."""
    checked = view.view(CheckedView)
    checked.name = name
    checked.flags.writeable = not is_read
    return checked
