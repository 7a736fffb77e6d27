"""The description of a participant of a co-simulation, before anything is instantiated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

CAUSALITIES = ("input", "output", "parameter", "local")
TYPES = ("real", "integer", "boolean", "string", "binary", "clock")


@dataclass(frozen=True)
class ParticipantVariable:
    """A variable that a participant shows to the master.

    Attributes
    ----------
    name : str
    causality : str
        "input", "output", "parameter" or "local".
    type : str
        "real", "integer", "boolean", "string", "binary" or "clock" (true where it has ticked).
    unit : str
        Modelica unit expression, "1" when there is none.
    start : object
        Start value, None when the participant declares none.
    description : str
    nominal : float or None
        The usual size of a real, in its unit: the scale of differences where its value is 0. None when the
        participant declares none.
    """

    name: str
    causality: str
    type: str = "real"
    unit: str = "1"
    start: Any = None
    description: str = ""
    nominal: float | None = None


class DefaultExperiment(NamedTuple):
    """The run that a participant was made for; None where it does not say.

    Attributes
    ----------
    start, stop : float or None
        s
    tolerance : float or None
        Of its own integrator, relative.
    step : float or None
        Communication step, s.
    """

    start: float | None = None
    stop: float | None = None
    tolerance: float | None = None
    step: float | None = None


class UnitDefinition(NamedTuple):
    """The meaning of a unit of a participant: ``SI value = factor * value + offset``.

    Attributes
    ----------
    exponents : tuple of int
        Of kg, m, s, A, K, mol, cd and rad.
    factor, offset : float
    """

    exponents: tuple[int, ...]
    factor: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class ParticipantDescription:
    """The description of a participant, before anything is instantiated.

    Only `kind` and `variables` are needed; a master takes the least for granted of whatever is left out.

    Attributes
    ----------
    kind : str
        For people: "FMI 2.0 Co-Simulation", "cosim system", "Python object".
    variables : dict of str to ParticipantVariable
        By name; the elements of an array are variables of their own (`arrays`).
    feedthrough : dict of str to frozenset of str, or None
        For each output the inputs that it depends on directly, at the same instant; None, or an output that
        is missing, when it is not known (then it is taken as depending on every input).
    can_restore : bool
        Whether `save` and `restore` work.
    can_serialize : bool
        Whether `serialize` and `deserialize` work.
    follows_slopes : bool
        Whether `set_slopes` works.
    has_derivatives : bool
        Whether `directional_derivative` works.
    steps_in_threads : bool
        Whether `step` may be called from another thread than the other methods are, while other
        participants step.
    variable_step : bool
        Whether it can step by another length than in the step before.
    only_once : str
        Of what can be instantiated once in a process only, the identity; else "".
    default_experiment : DefaultExperiment
    settable : frozenset of str, or None
        Variables that take a start value; None for parameters and inputs.
    tunable : frozenset of str
        Parameters that may be set between steps.
    calculated : frozenset of str
        Calculated parameters: from them parameters of others may be connected.
    structural : frozenset of str
        Parameters that decide the sizes of arrays (`Resizes`); they take start values and no connection.
    readable : frozenset of str
        Variables that are no outputs and may be connected like outputs.
    discrete : frozenset of str
        Real variables that change at events alone; all others are continuous.
    assumed_feedthrough : frozenset of str
        Outputs whose entry in `feedthrough` is not known but taken for granted.
    possible_feedthrough : frozenset of str
        Outputs whose entry in `feedthrough` may name inputs too many: many tools declare all of them. Where
        such an output closes a loop, a master that can checks at the start whether it really depends on them.
    initial_feedthrough : dict of str to frozenset of str
        As `feedthrough`, in initialization mode (`InitializationMode`), where it is another one.
    arrays : dict of str to (tuple of int, tuple of str)
        For each array its shape and the names of its elements, row by row.
    enumerations : dict of str to tuple of (str, int)
        For variables of an enumeration (type "integer") the items: name and value.
    unit_definitions : dict of str to UnitDefinition
        What units mean that are no Modelica unit expressions, or are something else here.
    refused : dict of str to str
        Variables that cannot be connected, and why.
    clocks_without_interval : dict of str to str
        Clocks that have to tick by themselves and cannot, and why: with them it cannot run.
    over_time : bool
        Whether it gives values over time that depend on nothing: it steps after all others, so that its
        values are those of the start of the step, and its outputs may feed tunable parameters at any time.
    states : tuple of str
        Readable variables that are its continuous states, if it knows; a master reads them to judge results.
    """

    kind: str
    variables: Mapping[str, ParticipantVariable]
    feedthrough: Mapping[str, frozenset[str]] | None = None
    can_restore: bool = False
    can_serialize: bool = False
    follows_slopes: bool = False
    has_derivatives: bool = False
    steps_in_threads: bool = False
    variable_step: bool = True
    only_once: str = ""
    default_experiment: DefaultExperiment = field(default_factory=DefaultExperiment)
    settable: frozenset[str] | None = None
    tunable: frozenset[str] = frozenset()
    calculated: frozenset[str] = frozenset()
    structural: frozenset[str] = frozenset()
    readable: frozenset[str] = frozenset()
    discrete: frozenset[str] = frozenset()
    assumed_feedthrough: frozenset[str] = frozenset()
    possible_feedthrough: frozenset[str] = frozenset()
    initial_feedthrough: Mapping[str, frozenset[str]] = field(default_factory=dict)
    arrays: Mapping[str, tuple[tuple[int, ...], tuple[str, ...]]] = field(default_factory=dict)
    enumerations: Mapping[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    unit_definitions: Mapping[str, UnitDefinition] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    clocks_without_interval: Mapping[str, str] = field(default_factory=dict)
    over_time: bool = False
    states: tuple[str, ...] = ()
