"""The typed form of a kernel function: a tree of statements, and of expressions that have types.

`function_reader` makes it from Python's syntax tree; `printers` write it as LLVM's text or as C. Of Python it
knows only the classes of records, named tuples and exceptions.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from cosim_compiler.language.types import NOTHING, TRUTH, WHOLE, Group, Type, View

# ---- expressions


@dataclass(frozen=True, eq=False, slots=True)
class Expression:
    """A node that has a value."""

    type: Type


@dataclass(frozen=True, eq=False, slots=True)
class Known(Expression):
    """A value of Python while a function is read: a number, a tuple, a module, a function, a class.

    A finished tree has none: `constants.typed` makes a `Constant` of it, or refuses it.
    """

    value: Any


@dataclass(frozen=True, eq=False, slots=True)
class Constant(Expression):
    """A number."""

    value: Any


@dataclass(frozen=True, eq=False, slots=True)
class ConstantView(Expression):
    """An array of the module, with its numbers."""

    numbers: tuple[Any, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Variable(Expression):
    """The value of a local name."""

    name: str


@dataclass(frozen=True, eq=False, slots=True)
class Element(Expression):
    """``view[i]`` or ``table[i, j]``; also the place that a `Store` writes to."""

    view: Expression
    indices: tuple[Expression, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Length(Expression):
    """The number of elements of a view along an axis."""

    view: Expression
    axis: int = 0


@dataclass(frozen=True, eq=False, slots=True)
class Section(Expression):
    """``view[first:last]``; None stands for the start or the end."""

    view: Expression
    first: Expression | None
    last: Expression | None


@dataclass(frozen=True, eq=False, slots=True)
class Row(Expression):
    """``table[i]``, the view of a row."""

    view: Expression
    index: Expression


@dataclass(frozen=True, eq=False, slots=True)
class Field(Expression):
    """A field of a record; also the place that a `Store` writes to. A record in it is an address."""

    record: Expression
    name: str
    offset: int


@dataclass(frozen=True, eq=False, slots=True)
class RecordAt(Expression):
    """``rows[i]``, a record among several."""

    rows: Expression
    index: Expression


@dataclass(frozen=True, eq=False, slots=True)
class RowsIn(Expression):
    """Records or numbers that lie in a view, one after the other."""

    view: Expression
    first: Expression
    count: Expression


@dataclass(frozen=True, eq=False, slots=True)
class Member(Expression):
    """A view of a group."""

    group: Expression
    index: int
    name: str


@dataclass(frozen=True, eq=False, slots=True)
class GroupAt(Expression):
    """The group whose table lies at an address."""

    address: Expression


@dataclass(frozen=True, eq=False, slots=True)
class MakeGroup(Expression):
    """A group of these views."""

    members: tuple[Expression, ...]


@dataclass(frozen=True, eq=False, slots=True)
class ViewAt(Expression):
    """The memory at an address as a view of so many rows."""

    address: Expression
    size: Expression
    columns: int


@dataclass(frozen=True, eq=False, slots=True)
class AsTable(Expression):
    """The elements of a view as rows by columns."""

    view: Expression
    rows: Expression
    columns: Expression


@dataclass(frozen=True, eq=False, slots=True)
class AsLanes(Expression):
    """A view of reals as one whose elements have a real for each lane, or the other way round."""

    view: Expression


@dataclass(frozen=True, eq=False, slots=True)
class Agreed(Expression):
    """A condition that holds for all lanes or for none; otherwise the status `number` is raised."""

    condition: Expression
    number: int


@dataclass(frozen=True, eq=False, slots=True)
class Zeros(Expression):
    """An array of zeros that lives as long as the call of the function; its type knows the shape."""

    name: str


@dataclass(frozen=True, eq=False, slots=True)
class MakeTuple(Expression):
    """A tuple of these values."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Item(Expression):
    """An item of a tuple whose place is known."""

    tuple: Expression
    index: int


@dataclass(frozen=True, eq=False, slots=True)
class Pick(Expression):
    """An item of a tuple of equal types, at a place that is computed."""

    tuple: Expression
    index: Expression


@dataclass(frozen=True, eq=False, slots=True)
class Unary(Expression):
    """``-x``, ``~x`` or ``not x``."""

    operator: str
    operand: Expression


@dataclass(frozen=True, eq=False, slots=True)
class Binary(Expression):
    """An operator of two reals or of two whole numbers; both have the type of the result."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False, slots=True)
class Compare(Expression):
    """A comparison of two numbers of one type."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False, slots=True)
class Logic(Expression):
    """``and`` or ``or`` of two truth values; the right one is computed unless the left one decides."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False, slots=True)
class Choice(Expression):
    """``yes if condition else no``."""

    condition: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True, eq=False, slots=True)
class Convert(Expression):
    """A number as one of another kind, or a tuple item by item."""

    operand: Expression


@dataclass(frozen=True, eq=False, slots=True)
class Let(Expression):
    """The value of `body`, in which the name `name` stands for `value`: so that it is computed once."""

    name: str
    value: Expression
    body: Expression


@dataclass(frozen=True, eq=False, slots=True)
class Mathematics(Expression):
    """A function of `builtins.OF_C_LIBRARY` or `builtins.OF_PROCESSOR`, or one known to all printers."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Call(Expression):
    """A call of another kernel function."""

    function: Function
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, eq=False, slots=True)
class CallForLanes(Call):
    """A separate call for each lane, of a function of reals; some arguments have a real for each lane."""


@dataclass(frozen=True, eq=False, slots=True)
class CallLinked(Expression):
    """A call, by its symbol, of a function that is compiled elsewhere."""

    symbol: str
    signature: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, eq=False, slots=True)
class CallAddress(Expression):
    """A call of the machine code at an address; `kind` is RESULT, STATUS or FOREIGN."""

    kind: str
    signature: str
    address: Expression
    arguments: tuple[Expression, ...]


RESULT, STATUS, FOREIGN = "result", "status", "foreign"
"""Kinds of `CallAddress`: it gives the result, whether the function raised, or what a C function returns."""


# ---- statements


@dataclass(frozen=True, eq=False, slots=True)
class Statement:
    """A node that is executed; `line` is that of the file."""

    line: int


@dataclass(frozen=True, eq=False, slots=True)
class Assign(Statement):
    """A local name gets a value."""

    name: str
    value: Expression


@dataclass(frozen=True, eq=False, slots=True)
class Store(Statement):
    """An element of a view, or a field of a record, gets a value."""

    place: Element | Field
    value: Expression


@dataclass(frozen=True, eq=False, slots=True)
class Evaluate(Statement):
    """An expression that is computed for its effect, such as a call."""

    value: Expression


@dataclass(frozen=True, eq=False, slots=True)
class Return(Statement):
    """The function ends, with a result or without one."""

    value: Expression | None


@dataclass(frozen=True, eq=False, slots=True)
class Raise(Statement):
    """An exception is raised; `number` is its status, see `Program.failure`."""

    number: int


@dataclass(frozen=True, eq=False, slots=True)
class Try(Statement):
    """Runs `body`; if it raises an exception in the range, `name` gets its number, and `handler` runs."""

    name: str
    lowest: int
    highest: int
    body: tuple[Statement, ...]
    handler: tuple[Statement, ...]


@dataclass(frozen=True, eq=False, slots=True)
class RaiseAgain(Statement):
    """A caught exception is raised again; the variable `name` holds its number."""

    name: str


@dataclass(frozen=True, eq=False, slots=True)
class If(Statement):
    """Two branches."""

    condition: Expression
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...]


@dataclass(frozen=True, eq=False, slots=True)
class While(Statement):
    """A loop; `orelse` runs unless a break has left it."""

    condition: Expression
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...]


@dataclass(frozen=True, eq=False, slots=True)
class For(Statement):
    """A loop over ``range(first, last, step)``; these are computed once."""

    name: str
    first: Expression
    last: Expression
    step: Expression
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Break(Statement):
    """The innermost loop ends."""


@dataclass(frozen=True, eq=False, slots=True)
class Continue(Statement):
    """The next turn of the innermost loop begins."""


@dataclass(frozen=True, eq=False, slots=True)
class Once(Statement):
    """A loop that was written out: `Break` in one of the turns leaves it, `Continue` leaves the turn."""

    turns: tuple[tuple[Statement, ...], ...]
    orelse: tuple[Statement, ...]


# ---- functions


@dataclass(eq=False, slots=True)
class Function:
    """A kernel function for arguments of certain types.

    Attributes
    ----------
    author : function
        The function as its author wrote it.
    symbol : str
        Its name in the program, which no other function has.
    parameters : list of (str, Type)
        Names and types, as they are passed.
    result : Type
    variables : dict of str to Type
        Of each local name; one of a parameter may be wider than what is passed.
    body : tuple of Statement
    raises : bool
        Whether a call may raise.
    picks : bool
        Whether a tuple is indexed by a number that is computed.
    written : frozenset of str or None
        The parameters in which it, or what it calls, stores something. None until
        `written_parameters.parameters_written` has found it out.
    """

    author: types.FunctionType
    symbol: str
    parameters: list[tuple[str, Type]]
    result: Type = NOTHING
    variables: dict[str, Type] = field(default_factory=dict)
    body: tuple[Statement, ...] = ()
    raises: bool = False
    picks: bool = False
    written: frozenset[str] | None = None

    @property
    def file(self) -> str:
        """The file that it is written in."""
        return self.author.__code__.co_filename


ZERO = Constant(WHOLE, 0)
ONE = Constant(WHOLE, 1)
TRUE = Constant(TRUTH, True)
FALSE = Constant(TRUTH, False)


def is_constant(expression: Expression) -> bool:
    """Whether it is a number, or a tuple of such."""
    if isinstance(expression, MakeTuple):
        return all(map(is_constant, expression.items))
    return isinstance(expression, Constant)


def in_ascii(name: str) -> str:
    """A name in ASCII; the dots that replace a letter keep it apart from all names of Python."""
    return "".join(c if c.isascii() else f".{ord(c):x}." for c in name)


def parts(node: Any) -> Iterator[Any]:
    """The expressions and statements of which an expression or a statement is made, in their order."""
    for name in _names_of_parts(node.__class__):
        value = getattr(node, name)
        if isinstance(value, tuple):
            for part in value:
                yield from part if isinstance(part, tuple) else (part,)
        elif value is not None:
            yield value


@functools.cache
def _names_of_parts(kind: Any) -> tuple[str, ...]:
    """The fields that hold expressions or statements."""
    return tuple(
        part.name
        for part in fields(kind)
        if any(word in str(part.type) for word in ("Expression", "Statement", "Element"))
    )


def walk(*nodes: Expression | Statement) -> Iterator[Expression | Statement]:
    """These nodes and all expressions and statements inside them, outer ones first."""
    unvisited = list(reversed(nodes))
    while unvisited:
        node = unvisited.pop()
        yield node
        unvisited += reversed(list(parts(node)))


def is_pure(expression: Expression) -> bool:
    """Whether computing it twice, or not at all, changes nothing."""
    return not any(isinstance(node, (Call, CallLinked, CallAddress, Let, Zeros)) for node in walk(expression))


def reads_elements(expression: Expression) -> bool:
    """Whether its value depends on what lies in views."""
    return any(isinstance(node, (Element, Field)) for node in walk(expression))


def view_type(expression: Expression) -> View:
    """The type of an expression that is a view."""
    assert isinstance(expression.type, View)
    return expression.type


def group_type(expression: Expression) -> Group:
    """The type of an expression that is a group."""
    assert isinstance(expression.type, Group)
    return expression.type
