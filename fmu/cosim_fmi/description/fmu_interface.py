"""What the master and the binding to its library have to know of an FMU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cosim.kit import ParticipantDescription
from cosim_fmi.description.model_description import FmuClock


@dataclass(frozen=True, slots=True)
class Element:
    """Where a scalar of an FMU stands: in a variable of its own, or in one that is an array.

    Attributes
    ----------
    reference : int
        Value reference of the variable.
    type : str
        As the FMU calls it: "Real", "Float64".
    index, size : int
        Which element (row by row), of how many.
    sign : int
        -1 for an alias of FMI 1.0 with the negative value.
    """

    reference: int
    type: str
    index: int = 0
    size: int = 1
    sign: int = 1


def grouped(elements: Sequence[tuple[int, Element]]) -> tuple[list[int], list[tuple[int, int, int]], int]:
    """Value references of one call for variables of one type, and where each one is.

    Parameters
    ----------
    elements : sequence of (int, Element)
        Each with its place among all.

    Returns
    -------
    references : list of int
        Arrays whole, once; scalars one by one, so that aliases are written one after the other.
    places : list of (int, int, int)
        Of each: its place among all, that among the values of the call, its sign.
    size : int
        Of the values of the call.
    """
    if all(element.size == 1 for _, element in elements):
        references = [element.reference for _, element in elements]
        places = [(place, i, element.sign) for i, (place, element) in enumerate(elements)]
        return references, places, len(places)
    starts, size = dict[int, int](), 0
    for _, element in elements:
        if element.reference not in starts:
            starts[element.reference] = size
            size += element.size
    return list(starts), [(place, starts[e.reference] + e.index, e.sign) for place, e in elements], size


@dataclass(frozen=True)
class FmuInterface:
    """Facts of an FMU that the master and the binding to its library need.

    Attributes
    ----------
    description : ParticipantDescription
    elements : dict of str to Element
        Elements of arrays are named ``matrix[1,2]``, counted from 1.
    version : str
        "1.0", "2.0" or "3.0".
    event_mode : bool
        Whether an FMU for FMI 3.0 has an event mode in Co-Simulation.
    model_exchange : bool
        Whether it has no solver of its own; then `states` and `indicators` say how many continuous states and
        event indicators it has, and `wants_steps` whether it is to be told of integrator steps.
    restores_by_states : bool
        Whether it cannot save its state but needs not: time, continuous states and inputs are all of it,
        since no variable changes at events alone.
    guid, identifier : str
    clocks : dict of str to FmuClock
        Clocks that can tick: of an FMU that has an event mode.
    clocked : dict of str to tuple of str
        For each variable that belongs to clocks their names.
    intermediate : frozenset of str
        Inputs that can be written inside a communication step.
    shown_inside : frozenset of str
        Other variables that can be read there.
    offers : tuple of str
        Interfaces of the file: "CoSimulation", "ModelExchange".
    log_categories : tuple of str
    inner_step : float or None
        s, of a clock inside that adds it up (`InnerClock`), where that is known: tools that make such FMUs
        do not declare it.
    tool : str
        That generated it, as it says.
    """

    description: ParticipantDescription
    elements: Mapping[str, Element]
    guid: str
    identifier: str
    log_categories: tuple[str, ...]
    version: str = "2.0"
    event_mode: bool = False
    model_exchange: bool = False
    restores_by_states: bool = False
    states: int = 0
    indicators: int = 0
    wants_steps: bool = False
    offers: tuple[str, ...] = ("CoSimulation",)
    clocks: Mapping[str, FmuClock] = field(default_factory=dict)
    clocked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    intermediate: frozenset[str] = frozenset()
    shown_inside: frozenset[str] = frozenset()
    inner_step: float | None = None
    tool: str = ""
