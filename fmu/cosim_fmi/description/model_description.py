"""The content of a model description, in the terms of the standard."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

PERIODIC = ("constant", "fixed", "calculated", "tunable")
"""Values of `FmuClock.variability`: ticks repeat with an interval."""
INTERVAL_FROM_FMU = ("calculated", "tunable", "changing", "countdown")
"""Values of `FmuClock.variability`: the FMU tells the interval at run time."""


@dataclass(slots=True, eq=False)
class DeclaredType:
    """A type definition.

    Attributes
    ----------
    name, unit, minimum, maximum, nominal : str or None
    items : tuple of (str, str)
        Names and values of an enumeration.
    """

    name: str
    unit: str | None = None
    minimum: str | None = None
    maximum: str | None = None
    nominal: str | None = None
    items: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True, eq=False)
class DeclaredVariable:
    """A variable; numbers are text, as they stand in the file.

    Attributes
    ----------
    name : str
    reference : int
        Value reference.
    type : str
        As the FMU calls it: "Real", "Float64".
    causality, variability : str
    initial : str or None
    start : str, tuple of str or None
        A tuple where the elements of an array, or one text, are elements of the file.
    unit, minimum, maximum, nominal, description : str or None
    declared_type : DeclaredType or None
    dimensions : tuple of (int or DeclaredVariable)
        Sizes, or the structural parameters that hold them.
    clocks : tuple of DeclaredVariable
    is_negated : bool
        Whether it is the alias of FMI 1.0 with the negative value.
    updates_inside : bool
        Whether it is exchanged inside a communication step (``intermediateUpdate``).
    direct_dependencies : tuple of str or None
        Names of inputs, in FMI 1.0.
    clock : mapping of str to str
        Attributes of a clock, those of its type included.
    derivative_of : str or None
        The variable in the model structure whose derivative it is.
    """

    name: str
    reference: int
    type: str
    causality: str
    variability: str
    initial: str | None
    start: str | tuple[str, ...] | None = None
    unit: str | None = None
    minimum: str | None = None
    maximum: str | None = None
    nominal: str | None = None
    description: str | None = None
    declared_type: DeclaredType | None = None
    dimensions: tuple[int | DeclaredVariable, ...] = ()
    clocks: tuple[DeclaredVariable, ...] = ()
    is_negated: bool = False
    updates_inside: bool = False
    direct_dependencies: tuple[str, ...] | None = None
    clock: Mapping[str, str] = field(default_factory=dict)
    derivative_of: str | None = None

    def sizes(self, values: Mapping[str, int] | None = None) -> tuple[int, ...]:
        """Sizes of the dimensions.

        Parameters
        ----------
        values : mapping of str to int, optional
            Values of structural parameters instead of their start values.
        """
        return tuple(
            size if isinstance(size, int) else int((values or {}).get(size.name, size.start))  # type: ignore[arg-type]
            for size in self.dimensions
        )


@dataclass(slots=True, eq=False)
class Unknown:
    """A variable of the model structure; without dependencies it depends on everything."""

    variable: DeclaredVariable
    dependencies: tuple[DeclaredVariable, ...] | None


@dataclass(slots=True, eq=False)
class BaseUnit:
    """``SI value = factor * value + offset``, with the exponents of kg, m, s, A, K, mol, cd and rad."""

    exponents: tuple[int, ...]
    factor: float
    offset: float


@dataclass(slots=True, eq=False)
class DeclaredExperiment:
    """The run that the FMU was made for, as text."""

    start: str | None
    stop: str | None
    tolerance: str | None
    step: str | None


@dataclass(slots=True, eq=False)
class Abilities:
    """The abilities of an FMU in one interface.

    Attributes
    ----------
    identifier : str
        Name of its library.
    needs_tool : bool
    only_once : bool
        Whether a process can hold one instance of it.
    saves, serializes : bool
        Whether it can save and restore its state, and convert a saved one into bytes.
    directional_derivatives : bool
    variable_step, interpolates_inputs, event_mode, intermediate_update : bool
        In Co-Simulation: whether communication steps may vary, inputs can follow slopes, there is an event
        mode, and variables are exchanged inside a step.
    wants_steps : bool
        Whether it is to be told of completed integrator steps, in Model Exchange.
    """

    identifier: str
    needs_tool: bool = False
    only_once: bool = False
    saves: bool = False
    serializes: bool = False
    directional_derivatives: bool = False
    variable_step: bool = False
    interpolates_inputs: bool = False
    event_mode: bool = False
    intermediate_update: bool = False
    wants_steps: bool = False


@dataclass(slots=True, eq=False)
class ModelDescription:
    """A model description as `read_model_description` gives it.

    Attributes
    ----------
    version : str
        "1.0", "2.0", "3.0" and others that begin with "3.".
    token : str
        GUID, or instantiation token.
    name, tool : str
        The name of the model, and the tool that generated the FMU.
    naming : str
        The convention for names of variables: "flat" or "structured".
    interfaces : dict of str to Abilities
        The declared ones of "CoSimulation" and "ModelExchange".
    variables : list of DeclaredVariable
        Other names of variables (FMI 3.0) come last.
    outputs, initial_unknowns : list of Unknown
    states, indicators : int
        Counts.
    state_variables : tuple of DeclaredVariable
        The continuous states, in the order of their derivatives; empty where it does not say which they are.
    rate_variables : tuple of DeclaredVariable
        Their derivatives.
    base_units : dict of str to BaseUnit
    log_categories : tuple of str
    experiment : DeclaredExperiment or None
    """

    version: str
    token: str
    name: str
    tool: str
    naming: str
    interfaces: Mapping[str, Abilities]
    variables: list[DeclaredVariable]
    outputs: list[Unknown]
    initial_unknowns: list[Unknown]
    states: int
    indicators: int
    state_variables: tuple[DeclaredVariable, ...]
    rate_variables: tuple[DeclaredVariable, ...]
    base_units: dict[str, BaseUnit]
    log_categories: tuple[str, ...]
    experiment: DeclaredExperiment | None


@dataclass(frozen=True)
class FmuClock:
    """Facts of a clock.

    Attributes
    ----------
    reference : int
        Value reference.
    causality : str
        "input": activated by the environment; "output": by the FMU.
    variability : str
        Of its interval: "constant", "fixed", "calculated", "tunable", "changing", "countdown" or "triggered".
    interval, shift : Fraction or float
        Of a periodic clock, s, exactly as counter and resolution or the decimal have it; NaN when it is not
        told.
    has_fractions : bool
        Whether the FMU tells its interval as a counter and a resolution.
    """

    reference: int
    causality: str
    variability: str
    interval: Fraction | float = math.nan
    shift: Fraction | float = Fraction(0)
    has_fractions: bool = False

    @classmethod
    def of(cls, attributes: Mapping[str, str]) -> FmuClock:
        """A clock from the attributes of its element; `ValueError` if they make no sense.

        Examples
        --------
        >>> FmuClock.of({"valueReference": "7", "causality": "input", "intervalVariability": "constant",
        ...               "intervalCounter": "3", "resolution": "1000"}).interval
        Fraction(3, 1000)
        """
        interval: Fraction | float = math.nan
        shift = _decimal(attributes.get("shiftDecimal", "0"))
        resolution = int(attributes.get("resolution", 0))
        if resolution < 0 or (resolution == 0 and "resolution" in attributes):
            raise ValueError(f"the resolution is {resolution}, needs more than 0")
        if "intervalCounter" in attributes and resolution:
            interval = Fraction(int(attributes["intervalCounter"]), resolution)
        elif "intervalDecimal" in attributes:
            interval = _decimal(attributes["intervalDecimal"])
        if "shiftCounter" in attributes and resolution:
            shift = Fraction(int(attributes["shiftCounter"]), resolution)
        return cls(
            int(attributes["valueReference"]),
            attributes.get("causality", "local"),
            attributes.get("intervalVariability", "triggered"),
            interval,
            shift,
            attributes.get("supportsFraction") in ("true", "1"),
        )

    @property
    def ticks_by_time(self) -> bool:
        """Whether the environment activates it at instants that follow from an interval."""
        return self.causality == "input" and self.variability != "triggered"

    @property
    def refusal(self) -> str:
        """Why it cannot be run, "" when it can."""
        if not self.ticks_by_time or self.variability in INTERVAL_FROM_FMU:
            return ""
        if math.isnan(self.interval):
            return f"its interval is {self.variability}, and the model description does not tell it"
        if not self.interval > 0.0 or math.isinf(self.interval):
            return f"its interval is {float(self.interval):g} s, needs more than 0"
        return ""


def _decimal(text: str) -> Fraction | float:
    """The exact value of a decimal; a float where it is infinite or NaN."""
    number = float(text)
    return Fraction(text.strip()) if math.isfinite(number) else number
