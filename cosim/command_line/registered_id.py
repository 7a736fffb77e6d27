"""An id as people type it."""

from __future__ import annotations

from cosim.errors import LookUpError
from cosim.registration.registry import registry


class RegisteredId:
    """Reads an id of some kinds, for the ``type`` of an argument: the whole one, or its last word alone.

    Parameters
    ----------
    *kinds : str
        Kinds of plugins: "integrator".

    Raises
    ------
    LookUpError
        With the nearest ids, by letters and by words, when nothing or more than one thing is meant.

    Examples
    --------
    >>> RegisteredId("integrator")("runge_kutta_4")
    'integrators.runge_kutta_4'
    >>> RegisteredId("integrator")("rk4")
    Traceback (most recent call last):
    ...
    cosim.errors.LookUpError: no integrator 'rk4'. Nearest: integrators.runge_kutta_4. ...
    """

    def __init__(self, *kinds: str) -> None:
        self.kinds = kinds

    def __call__(self, typed: str) -> str:
        """The id."""
        known = self.ids()
        meant = [id for id in known if id.rpartition(".")[2] == typed]
        if typed in known:
            return typed
        if len(meant) == 1:
            return meant[0]
        faults = []
        for kind in self.kinds:
            try:
                return registry().entry(kind, typed).id
            except LookUpError as error:
                faults.append(error)
        words = " or ".join(error.what for error in faults)
        same = [id for error in faults for id in error.near]
        raise LookUpError(words, typed, known if all(e.known for e in faults) else [], faults[0].hint, same)

    def ids(self) -> list[str]:
        """All that there are."""
        return [entry.id for kind in self.kinds for entry in registry().entries(kind)]
