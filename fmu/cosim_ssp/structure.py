"""The content of an SSD as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cosim.kit import UnitDefinition

SOURCES = ("output", "calculatedParameter", "constant", "local")
SINKS = ("input", "parameter", "structuralParameter")
KINDS = (*SOURCES, *SINKS, "inout", "unspecified")
REALS = ("Real", "Float64", "Float32")
INTEGERS = ("Integer", *(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)))
TYPES = (*REALS, *INTEGERS, "Boolean", "String", "Enumeration", "Binary", "Clock")


@dataclass(frozen=True)
class Unit:
    """A unit of a document.

    Attributes
    ----------
    name : str
    definition : UnitDefinition
    """

    name: str
    definition: UnitDefinition


@dataclass(frozen=True)
class Connector:
    """A connector of a component or a system.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    type : str
        One of `TYPES`, "" when it is not told.
    unit : Unit or None
    items : mapping of str to int or None
        The items of the enumeration that it names.
    """

    name: str
    kind: str
    type: str = ""
    unit: Unit | None = None
    items: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Transformation:
    """The transformation of a value in a connection.

    Attributes
    ----------
    factor, offset : float
        Factor and offset of a linear one, applied to the number in the unit of the end.
    entries : tuple of (str, str)
        The pairs of a mapping of booleans, integers or items of enumerations.
    names_items : bool
        Whether its entries are names of items.
    """

    factor: float = 1.0
    offset: float = 0.0
    entries: tuple[tuple[str, str], ...] = ()
    names_items: bool = False


@dataclass(frozen=True)
class End:
    """An end of a connection; `element` is "" for the system's own connector."""

    element: str
    connector: str
    indices: tuple[int, ...] = ()

    def __str__(self) -> str:
        path = f"{self.element}.{self.connector}" if self.element else self.connector
        return f"{path}[{','.join(map(str, self.indices))}]" if self.indices else path


@dataclass(frozen=True)
class Wire:
    """A connection of a system; which end gives the value follows from the connectors."""

    start: End
    end: End
    transformation: Transformation | None
    suppresses_units: bool
    place: str


@dataclass(frozen=True)
class Value:
    """A value of a parameter set.

    Attributes
    ----------
    name : str
        As the scope that it is bound in knows it.
    data : object
        A number, a boolean, text, bytes, or a list of them.
    unit : Unit or None
    items : mapping of str to int or None
        The items of the enumeration whose item the text names.
    transformation : Transformation or None
    suppresses_units : bool
    place : str
    """

    name: str
    type: str
    data: Any
    unit: Unit | None = None
    items: Mapping[str, int] | None = None
    transformation: Transformation | None = None
    suppresses_units: bool = False
    place: str = ""


@dataclass
class Node:
    """The common part of components and systems.

    Attributes
    ----------
    connectors : dict of str to Connector
    values : list of Value
        The values of all its parameter bindings, in order.
    place : str
    """

    name: str
    connectors: dict[str, Connector] = field(default_factory=dict)
    values: list[Value] = field(default_factory=list)
    place: str = ""


@dataclass
class Component(Node):
    """An FMU.

    Attributes
    ----------
    file : str
        Path in its package; "" when there is no implementation.
    implementation : str
        "any", "CoSimulation" or "ModelExchange".
    step : float
        Communication step that is recommended for it, s; 0 when none is.
    package : Package
        The package of `file`.
    """

    file: str = ""
    implementation: str = "any"
    step: float = 0.0
    package: Any = None


@dataclass
class DictionaryReference(Node):
    """A place of a signal dictionary in a system."""

    dictionary: str = ""


@dataclass
class Settings:
    """The settings of a run, from the default experiment and the annotations in use.

    Attributes
    ----------
    start, stop, step, tolerance : float or None
        s; relative tolerance of the solvers.
    algorithm : str or None
        Ours.
    options : dict
    source : str
        The tool whose annotation has the step.
    """

    start: float | None = None
    stop: float | None = None
    step: float | None = None
    tolerance: float | None = None
    algorithm: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    source: str = ""


@dataclass
class System(Node):
    """A system with elements and the connections between them."""

    elements: dict[str, Node] = field(default_factory=dict)
    wires: Sequence[Wire] = ()
    dictionaries: frozenset[str] = frozenset()
