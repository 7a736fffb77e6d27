"""A number that follows from the state of a system."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from cosim.component.component import Component
from cosim.component.declarations import cache_slot
from cosim.stage import Stage

if TYPE_CHECKING:
    from cosim.system.state import State
    from cosim.system.system import System


class Measure(Component):
    """Base of measures: a scalar, and where it is known its time derivative.

    A subclass has a kernel function that writes ``value[0]`` and, if it can, one that writes
    ``value_dot[0]``. What they ask for decides at which stage the measure is known. Whoever takes the
    measure as a source gets NaN for a derivative that nobody computes.

    Attributes
    ----------
    value, value_dot : cache slots
        Declare them again with their units in a subclass; the kernel functions then have other names.
    unit_from : str
        Class attribute: name of the source whose unit the value has, empty when the declaration says it.
    default_value : float
        What the measure stands for before it has been computed; NaN unless a subclass knows better.

    Examples
    --------
    >>> import cosim
    >>> class Average(cosim.Measure):
    ...     '''Mean of two signals.'''
    ...     first = cosim.source()
    ...     second = cosim.source()
    ...     @cosim.kernel
    ...     def value(first, second, value):
    ...         value[0] = 0.5 * (first + second)
    >>> Average.number_of_derivatives()
    0
    """

    plain_methods: ClassVar[tuple[str, ...]] = ("value", "derivative")
    unit_from: ClassVar[str] = ""
    default_value: float = math.nan

    value = cache_slot(description="value of the measure")
    value_dot = cache_slot(description="its time derivative")

    @classmethod
    def number_of_derivatives(cls) -> int:
        """How many time derivatives the measure itself provides, 0 or 1.

        One that is made from the derivative of a source is NaN where the source has none.
        """
        return int(
            any(
                a.name == "value_dot" and a.effect == "write"
                for found in cls.arguments.values()
                for a in found
            )
        )

    def depends_on_stage(self, system: System, order: int = 0) -> Stage:
        """The stage at which the value (`order` 0) or its derivative (1) is known in a system."""
        return system.stage_of(system.signal(self._path(order)).slot)

    def read(self, state: State, order: int = 0) -> float:
        """The value (`order` 0) or its derivative (1) in a State.

        Raises
        ------
        StageError
            The State is not realized far enough.
        ValueError
            The measure has no such derivative.
        """
        return float(state[self._path(order)])

    def is_same_measure(self, other: Measure) -> bool:
        """Whether the other one is this very measure, not one that is merely equal."""
        return other is self

    def _path(self, order: int) -> str:
        if not 0 <= order <= self.number_of_derivatives():
            raise ValueError(
                f"{self.name or type(self).__name__}: derivative {order} was asked for; "
                f"this measure has {self.number_of_derivatives()}"
            )
        return f"{self.name}.value_dot" if order else f"{self.name}.value"
