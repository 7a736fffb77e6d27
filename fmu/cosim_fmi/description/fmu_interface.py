"""The facts of an FMU that the master and the binding to its library need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from cosim.kit import ParticipantDescription
from cosim_fmi.description.model_description import FmuClock


@dataclass(frozen=True, slots=True)
class Element:
    """The place of a scalar in an FMU: a variable, or an element of one that is an array.

    Attributes
    ----------
    reference : int
        Value reference of the variable.
    type : str
        The name of the FMU's type: "Real", "Float64".
    index, size : int
        Which element it is (row by row), and the number of elements.
    sign : int
        -1 for an alias of FMI 1.0 with the negative value.
    """

    reference: int
    type: str
    index: int = 0
    size: int = 1
    sign: int = 1


class ValuePlace(NamedTuple):
    """The place of the value of a variable in a call for several ones.

    Attributes
    ----------
    number : int
        Which of the variables it is.
    in_call : int
        Its place among the values of the call.
    sign : int
        -1 where the variable is the negative of that value.
    """

    number: int
    in_call: int
    sign: int


class CallLayout(NamedTuple):
    """The arguments of one call for variables of one type.

    Attributes
    ----------
    references : list of int
        Value references: one for a whole array; one for each scalar, so that aliases are written one after
        the other.
    places : list of ValuePlace
        One for each variable.
    size : int
        Number of values of the call.
    """

    references: list[int]
    places: list[ValuePlace]
    size: int


@dataclass(frozen=True)
class FmuInterface:
    """Facts of an FMU that the master and the binding to its library need.

    Attributes
    ----------
    description : ParticipantDescription
    elements : dict of str to Element
        Elements of arrays are named ``matrix[1,2]``, counted from 1.
    guid, identifier : str
    log_categories : tuple of str
    version : str
        "1.0", "2.0" or "3.0".
    has_event_mode : bool
        Whether an FMU for FMI 3.0 has an event mode in Co-Simulation.
    is_model_exchange : bool
        Whether it has no solver of its own; the next four describe such an FMU.
    is_restored_by_states : bool
        Whether it cannot save its state but needs not: time, continuous states and inputs are all of it,
        since no variable changes at events alone.
    states, indicators : int
        The numbers of its continuous states and of its event indicators.
    needs_completed_steps : bool
        Whether it has to be told of each integrator step that was completed.
    interfaces : tuple of str
        Interfaces of the file: "CoSimulation", "ModelExchange".
    clocks : dict of str to FmuClock
        Clocks that can tick: of an FMU that has an event mode.
    clocks_of : dict of str to tuple of str
        For each variable that belongs to clocks their names.
    settable_inside : frozenset of str
        Inputs that can be written inside a communication step.
    readable_inside : frozenset of str
        Other variables that can be read there.
    inner_step : float or None
        s, of a clock inside that adds it up (`InnerClock`), where that is known: tools that make such FMUs
        do not declare it.
    tool : str
        The tool that generated it.
    state_derivatives : tuple of Element
        The derivatives of the continuous states; empty where some of them are arrays.
    """

    description: ParticipantDescription
    elements: Mapping[str, Element]
    guid: str
    identifier: str
    log_categories: tuple[str, ...]
    version: str = "2.0"
    has_event_mode: bool = False
    is_model_exchange: bool = False
    is_restored_by_states: bool = False
    states: int = 0
    indicators: int = 0
    needs_completed_steps: bool = False
    interfaces: tuple[str, ...] = ("CoSimulation",)
    clocks: Mapping[str, FmuClock] = field(default_factory=dict)
    clocks_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    settable_inside: frozenset[str] = frozenset()
    readable_inside: frozenset[str] = frozenset()
    inner_step: float | None = None
    tool: str = ""
    state_derivatives: tuple[Element, ...] = ()
