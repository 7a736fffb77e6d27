"""The values of the names in functions, and whether they have changed."""

from __future__ import annotations

import contextlib
import itertools
import operator
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from cosim_compiler.record import Record

LIBRARIES = sys.stdlib_module_names | {"numpy", "llvmlite"}
"""What these contain follows from their versions."""
parts_of_function = operator.attrgetter("__code__", "__dict__", "__defaults__", "__kwdefaults__")
"""The parts of a function that may be replaced while it stays the same object."""
contents_of_cell = operator.attrgetter("cell_contents")


class _CodeWithNames(NamedTuple):
    """A code object with the names in it; held, so that no other object gets its id."""

    code: types.CodeType
    names: tuple[str, ...]


_names_in_code: dict[int, _CodeWithNames] = {}
"""By ids of code objects, since to hash the code takes longer than all else here."""


def reachable_names(code: types.CodeType) -> Iterator[str]:
    """Global and free names that a code object, or one nested in it, mentions."""
    yield from code.co_names
    yield from code.co_freevars
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from reachable_names(constant)


def names_in(code: types.CodeType) -> tuple[str, ...]:
    """The distinct `reachable_names` of code."""
    known = _names_in_code.get(id(code))
    if known is None:
        names = tuple(dict.fromkeys(reachable_names(code)))
        known = _names_in_code[id(code)] = _CodeWithNames(code, names)
    return known.names


def environment(function: types.FunctionType) -> dict[str, Any]:
    """Values of the global and closure names that the function mentions."""
    values = {}
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for name in names_in(function.__code__):
        if name in cells:
            with contextlib.suppress(ValueError):  # the closure name has no value yet
                values[name] = cells[name].cell_contents
        elif name in function.__globals__:
            values[name] = function.__globals__[name]
    return values


class ReachedNames:
    """The values of the names in some functions, and the attributes of classes that they reach.

    `are_as_before` is called whenever a Simulator is made, so it has to be fast: it compares two lists by
    ``==``, and by ``is`` only those values to which a different value may be equal.
    """

    def __init__(self, functions: Iterable[types.FunctionType], classes: Iterable[type] = ()) -> None:
        self.functions = tuple(functions)
        self.classes = tuple(dict.fromkeys(classes))
        bases = dict.fromkeys(base for cls in self.classes for base in cls.__mro__)
        self._attributes = [vars(base) for base in bases if base not in (tuple, *Record.__mro__)]
        self._cells = [cell for function in self.functions for cell in function.__closure__ or ()]
        named = _names_by_module(self.functions)
        # names by module: those that it has, and those that it does not have yet
        self._globals, self._absent = [], []
        for globals_, names in named:
            present = [name for name in names if name in globals_]
            self._absent.append((globals_.keys(), [name for name in names if name not in globals_]))
            if present:
                self._globals.append((_values_getter(present), globals_))
        self._with_twins = [
            (_values_getter(distinct), space)
            for space, names in (
                *named,
                *((space, dict.fromkeys(space)) for space in self._attributes),
            )
            if (distinct := [name for name in names if name in space and _has_twins(space[name])])
        ]
        self._with_defaults = [f for f in self.functions if f.__defaults__ or f.__kwdefaults__]
        self._before = [
            [
                (code, dict(marks), *defaults)
                for code, marks, *defaults in map(parts_of_function, self.functions)
            ],
            *self._named_objects(),
        ]
        self._twins_before = list(self._objects_with_twins())

    def _named_objects(self) -> Iterator[Any]:
        """The values of all names."""
        for values_of, globals_ in self._globals:
            yield values_of(globals_)
        for attributes in self._attributes:
            yield [*attributes.values()]

    def _objects_with_twins(self) -> Iterator[Any]:
        """Values to which another one may be equal: numbers, and what has some inside."""
        return itertools.chain(
            *(values_of(space) for values_of, space in self._with_twins),
            *((function.__defaults__, function.__kwdefaults__) for function in self._with_defaults),
            map(contents_of_cell, self._cells),
        )

    def are_as_before(self) -> bool:
        """Whether all names stand for the same objects."""
        if not all(names.isdisjoint(absent) for names, absent in self._absent):
            return False
        try:
            now = [[*map(parts_of_function, self.functions)], *self._named_objects()]
            return now == self._before and all(
                map(operator.is_, self._objects_with_twins(), self._twins_before)
            )
        except (KeyError, ValueError):  # a name is gone, or its value cannot be compared
            return False


def _has_twins(value: Any) -> bool:
    """Whether something else may be equal to this: 1.0 to 1, (0.0,) to (-0.0,)."""
    kind: Any = type(value)
    return kind.__eq__ is not object.__eq__ and not isinstance(value, (str, types.CodeType))


def _values_getter(names: list[str]) -> operator.itemgetter[Any]:
    """Reads the values of names; of two at least, so that it gives a tuple."""
    return operator.itemgetter(*names, names[0])


def _names_by_module(functions: Iterable[types.FunctionType]) -> list[tuple[dict[str, Any], dict[str, None]]]:
    """The contents of modules, each with the names that functions may look up in it.

    Functions of one module share its names, so that each name is looked up once.
    """
    named: dict[int, tuple[dict[str, Any], dict[str, None]]] = {}
    for function in functions:
        spaces = [function.__globals__]
        for space in spaces:
            _, names = named.setdefault(id(space), (space, {}))
            names.update(dict.fromkeys(names_in(function.__code__)))
            spaces += _modules_named(function, space, spaces)
    return list(named.values())


def _modules_named(
    function: types.FunctionType, space: dict[str, Any], spaces: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The contents of modules that a function mentions, in which it may look up names; libraries left out."""
    is_own_space = space is function.__globals__
    values = environment(function).values() if is_own_space else map(space.get, names_in(function.__code__))
    modules = [m for m in values if isinstance(m, types.ModuleType) and not is_library(m.__name__)]
    return [vars(m) for m in dict.fromkeys(modules) if not any(vars(m) is space for space in spaces)]


def is_library(module: Any) -> bool:
    """Whether a module of this name is one whose contents follow from its version."""
    return isinstance(module, str) and module.partition(".")[0] in LIBRARIES
