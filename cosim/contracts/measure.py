"""Quantities that follow from the state of a system."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

from cosim.component.component import Component
from cosim.component.declared_signals import cache_slot
from cosim.registration.kinds import plugin_kind
from cosim.stage import Stage

if TYPE_CHECKING:
    State = Any
    System = Any

HIGHEST = 4  # time derivatives that may have a place in the State


@plugin_kind("measure")
class Measure(Component):
    """Base of measures: a number or a vector, and where they are known its time derivatives.

    A subclass has a kernel function that writes ``value[0]`` and, if it can, others that write
    ``value_dot[0]``, ``value_dot2[0]`` and ``value_dot3[0]``. What they ask for decides at which stage
    the measure is known. Whoever takes the measure as a source gets NaN for a derivative that is not
    computed.

    It is written for numbers; of sources that are vectors it is computed element by element.

    Attributes
    ----------
    value, value_dot, value_dot2, value_dot3 : cache slots
        Declare them again with their units in a subclass; the kernel functions then have other names.
        A value that is a parameter, a discrete variable or a state is declared as such: it is known
        whenever the State is, and never stale.
    unit_from : str
        Class attribute: name of the source whose unit the value has, empty when the declaration says it.
    default_value : float
        What the measure stands for before it has been computed; NaN unless a subclass knows better.
    known_derivatives : tuple of float
        Class attribute, for a measure whose derivatives are always the same: those of order 1, 2 …;
        all further ones are 0. They are known at any stage.

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

    contract_kit: ClassVar[str] = "cosim.testing.measure_contract:MeasureContract"
    plain_methods: ClassVar[tuple[str, ...]] = ("value", "derivative")
    elementwise: ClassVar[bool] = True
    unit_from: ClassVar[str] = ""
    open_units: ClassVar[tuple[str, ...]] = ("value",)
    known_derivatives: ClassVar[tuple[float, ...]] = ()
    default_value: Any = math.nan

    value = cache_slot(description="value of the measure")
    value_dot = cache_slot(description="its time derivative")
    value_dot2 = cache_slot(description="its second time derivative")
    value_dot3 = cache_slot(description="its third time derivative")

    @classmethod
    def missing_law(cls) -> str:
        """A sentence where no function of the class computes the value."""
        declared = cls.declarations.get("value")
        written = {a.name for arguments in cls.arguments.values() for a in arguments if a.effect == "write"}
        if declared is None or declared.kind not in ("cache", "output") or "value" in written:
            return ""
        return f"{cls.__name__} has no value: give it a kernel function value(…) that writes value[0] = …"

    @classmethod
    def number_of_derivatives(cls) -> float:
        """The largest number of time derivatives that the measure provides; infinite if it has all.

        One that is made from the derivative of a source is NaN where the source has none; see
        `derivatives_in`.
        """
        if cls.known_derivatives:
            return math.inf
        written = {a.name for arguments in cls.arguments.values() for a in arguments if a.effect == "write"}
        return sum(_name(order) in written for order in range(1, HIGHEST + 1))

    def derivatives_in(self, system: System) -> float:
        """The number of time derivatives that the measure provides with its sources in this system."""
        if self.known_derivatives:
            return math.inf
        order = 0
        while order < HIGHEST and system.has_derivative(self.name, order + 1):
            order += 1
        return order

    def depends_on_stage(self, system: System, order: int = 0) -> Stage:
        """The stage at which the value (`order` 0) or a time derivative is known in a system."""
        if order and self.known_derivatives:
            return Stage.EMPTY
        return system.stage_of(system.signal(self._path(order)).slot)

    def read(self, state: State, order: int = 0) -> Any:
        """The value (`order` 0) or a time derivative in a State: a number, or an array.

        Raises
        ------
        StageError
            The State is not realized far enough.
        ValueError
            The measure has no such derivative.
        """
        if order > 0 and self.known_derivatives:
            derivatives = (*self.known_derivatives, 0.0)
            return derivatives[min(order, len(derivatives)) - 1]
        return state[self._path(order)]

    def is_same_measure(self, other: Measure) -> bool:
        """Whether the other one is this very measure, not one that is merely equal."""
        return other is self

    def is_in(self, system: System) -> bool:
        """Whether this system has the measure as a part."""
        return system.parts.get(self.name) is self

    def index_in(self, system: System) -> int:
        """The place of the measure among those of a system, in order of declaration; ValueError elsewhere."""
        if not self.is_in(system):
            raise ValueError(f"{self!r} is not part of this system")
        return [name for name, part in system.parts.items() if isinstance(part, Measure)].index(self.name)

    def copy(self) -> Self:
        """Another measure like this one, which belongs to no model yet."""
        return type(self)(**self.values.given)

    def _path(self, order: int) -> str:
        if not 0 <= order <= self.number_of_derivatives():
            raise ValueError(
                f"{self.name or type(self).__name__}: derivative {order} is requested; "
                f"this measure has {self.number_of_derivatives()}"
            )
        return f"{self.name}.{_name(order)}" if order else f"{self.name}.value"


def _name(order: int) -> str:
    return "value_dot" if order == 1 else f"value_dot{order}"
