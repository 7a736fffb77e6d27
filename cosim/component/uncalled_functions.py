"""Functions of a component's class that nothing would call: found when the class is made."""

from __future__ import annotations

import types
from collections.abc import Iterator
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from cosim.component.argument import Argument
from cosim.component.argument_names import NAMES_OF_UPDATES, known_names, may_hold_result
from cosim.component.declaration import Declaration
from cosim.component.kernel_function import HandlerFunction, KernelFunction, describe, takes_self, unwrap
from cosim.component.view_functions import without_view
from cosim.errors import ContractError, nearest
from cosim_compiler.sources.kernel_effects import effects_of
from cosim_compiler.sources.kernel_returns import returns_value
from cosim_compiler.sources.kernel_source import where

if TYPE_CHECKING:
    Component = Any

SELF = ("self", "cls")


def uncalled_functions(cls: type[Component]) -> list[str]:
    """A sentence for each function in a class body that is written like a law and that nothing calls."""
    faults = (_fault_of(cls, name, value) for name, value in _body_and_mixins(cls))
    return [fault for fault in faults if fault]


def _fault_of(cls: type[Component], name: str, value: Any) -> str:
    """The sentence about what a class body has under a name; empty where it is called, or no law."""
    wrappers, function = unwrap(value)
    if isinstance(function, (KernelFunction, HandlerFunction)):
        if wrappers:
            return _wrapping_fault(function, name, wrappers)
        other = _spelt_otherwise(cls, name) if name[0] != "_" else ""
        return _spelling_fault(function, name, other) if other else ""
    if isinstance(function, types.FunctionType):
        return _fault_of_plain(cls, name, value)
    if name in cls.plain_methods and value is not None and not isinstance(value, Declaration):
        return (
            f"{cls.__qualname__}: {name} is {describe(value)}, and nothing calls it: write a kernel "
            f"function, def {name}(…) below @cosim.kernel, or a plain method, def {name}(self, …)"
        )
    return ""


def _fault_of_plain(cls: type[Component], name: str, value: Any) -> str:
    """The sentence about a function without a decorator of ours."""
    wrappers, function = unwrap(value)
    if name in cls.plain_methods:
        if not wrappers or _is_wrapped_method(value):
            return ""
        return (
            f"{where(function)}: {wrappers[0]} keeps {name} from being called: write @cosim.kernel "
            f"in its place, or a plain method, def {name}(self, …)"
        )
    if _is_called(cls, name):
        return ""
    if _is_law(cls, function):
        return _misnamed(cls, name, function)
    return _without_role(cls, name, function) if not wrappers and _is_number(cls, function) else ""


def _body_and_mixins(cls: type[Component]) -> Iterator[tuple[str, Any]]:
    """Names and values of a class body, and of those bases that are no components themselves."""
    checked, listed = _checked_bases(cls), set[str]()
    for base in cls.__mro__:
        if base not in checked:
            yield from ((name, value) for name, value in vars(base).items() if name not in listed)
            listed |= vars(base).keys()


def _checked_bases(cls: type[Component]) -> set[type]:
    """Bases that are components, which were checked when they were made, and those of `Component`."""
    components = [base for base in cls.__mro__ if hasattr(base, "plain_methods")]
    return {*components[1:], *components[-1].__mro__}


def _wrapping_fault(function: Any, name: str, wrappers: list[str]) -> str:
    """The sentence about a law that another decorator hides."""
    if isinstance(function, HandlerFunction):
        kind, function = "handler", function.function
        advice = "let cosim.on, cosim.every or cosim.at stand alone above it"
    else:
        kind = function.role if function.role != "kernel" else "kernel function"
        decorator = "kernel" if function.role in ("kernel", "check") else function.role
        advice = f"let @cosim.{decorator} stand alone above def {name}(…)"
    return f"{where(function.function)}: {wrappers[0]} hides this {kind}, and nothing calls it: {advice}"


def _spelt_otherwise(cls: type[Component], name: str) -> str:
    """A function of the class or its bases that is spelt with other capitals or underscores, or nothing."""
    for base in cls.__mro__:
        for other, value in vars(base).items():
            if other != name and other[0] != "_" and _letters(other) == _letters(name):
                _, function = unwrap(value)
                if isinstance(function, (KernelFunction, HandlerFunction, types.FunctionType)):
                    return other
    return ""


def _letters(name: str) -> str:
    """The letters of a name, without capitals and underscores."""
    return name.replace("_", "").lower()


def _spelling_fault(function: Any, name: str, other: str) -> str:
    """The sentence about a law that is spelt nearly as another one, which it does not replace."""
    written = function.function
    written = getattr(written, "function", written)
    return (
        f"{where(written)}: {name} would be called beside {other}, not in its place: name it {other}, or "
        "choose a name that differs in letters"
    )


def _is_wrapped_method(value: Any) -> bool:
    """Whether it is a plain function that calls another one, as a method: that is what is called."""
    return isinstance(value, types.FunctionType) and takes_self(value)


def _is_law(cls: type[Component], function: types.FunctionType) -> bool:
    """Whether kernel functions or handlers may ask for all its arguments, and it writes to a result."""
    if [name for name in signature(function).parameters if name not in SELF] == ["state", "next_state"]:
        return True
    arguments = _meanings_of_arguments(cls, function)
    results = {
        name
        for name, a in arguments.items()
        if a.role in ("history", "ring") or may_hold_result(a, cls.declarations)
    }
    return bool(results) and not results.isdisjoint(
        _names_written(without_view(function, known_names(cls.declarations)))
    )


def _is_number(cls: type[Component], function: types.FunctionType) -> bool:
    """Whether a witness or a check may be meant: no method, asks only for known names, returns a value."""
    return (
        not takes_self(function) and bool(_meanings_of_arguments(cls, function)) and _returns_value(function)
    )


def _meanings_of_arguments(cls: type[Component], function: types.FunctionType) -> dict[str, Argument]:
    """The meaning of a function's arguments; empty if one has none, or is not plain."""
    parameters = signature(function).parameters.values()
    if any(
        p.kind is not Parameter.POSITIONAL_OR_KEYWORD or p.default is not Parameter.empty for p in parameters
    ):
        return {}
    available = {**known_names(cls.declarations), **NAMES_OF_UPDATES}
    if sum(p.name not in SELF and p.name not in available for p in parameters) > 1:
        return {}  # one alone may be a view
    try:
        function = without_view(function, available)
    except ContractError:
        return {}
    names = [name for name in signature(function).parameters if name not in SELF]
    return {name: available[name] for name in names} if available.keys() >= set(names) else {}


def _names_written(function: types.FunctionType) -> frozenset[str]:
    """Arguments that a function writes to, or hands to others; none where its source is not there."""
    try:
        effects = effects_of(function)
    except ContractError:
        return frozenset()
    return effects.writes | effects.adds | effects.passed_on


def _returns_value(function: types.FunctionType) -> bool:
    """Whether it returns something; not where its source is not there."""
    try:
        return returns_value(function)
    except ContractError:
        return False


def _is_called(cls: type[Component], name: str) -> bool:
    """Whether a component that is a base has it, or another function of the class or its bases names it."""
    if name.startswith("_") or any(name in vars(base) for base in _checked_bases(cls)):
        return True
    kernels_own = [base for base in cls.__mro__ if hasattr(base, "plain_methods")][-1].__mro__
    authors = [base for base in cls.__mro__ if base not in kernels_own]
    return any(name in names for base in authors for names in _names_in(base, name))


def _names_in(cls: type, without: str) -> Iterator[tuple[str, ...]]:
    """The names that each function of a class body mentions, but for one function."""
    for name, value in vars(cls).items():
        _, function = unwrap(value)
        function = getattr(function, "function", function)
        function = getattr(function, "function", function)
        if name != without and isinstance(function, types.FunctionType):
            yield function.__code__.co_names


def _without_role(cls: type[Component], name: str, function: types.FunctionType) -> str:
    """The sentence about a function that returns a number, with the decorator that may be meant."""
    kinds = {
        cls.declarations[a.of].kind if a.of in cls.declarations else a.role
        for a in _meanings_of_arguments(cls, function).values()
    }
    is_check = kinds <= {"parameter", "option"}
    above = "@cosim.kernel(refuses=[…])" if is_check else "@cosim.witness"
    return (
        f"{where(function)}: nothing calls {name}: write {above} above it, or @staticmethod where other code "
        "calls it"
    )


def _misnamed(cls: type[Component], name: str, function: types.FunctionType) -> str:
    """The sentence about a law without a decorator, or under a name that is not called."""
    first = next(iter(signature(function).parameters), "")
    if "next_state" in signature(function).parameters:
        return (
            f"{where(function)}: nothing calls {name}: write what it is for above it, "
            '@cosim.on(cosim.EventCause.INITIALIZATION, does="unrestricted") or @cosim.every(0.01, does=…)'
        )
    if first != "self":
        meanings = {**known_names(cls.declarations), **NAMES_OF_UPDATES}
        parameters = signature(without_view(function, meanings)).parameters
        roles = {meanings[name].role for name in parameters}
        above = (
            "@cosim.on(…) or @cosim.every(…)"
            if "next" in roles
            else "@cosim.update"
            if roles & {"history", "ring"}
            else "@cosim.kernel"
        )
        return f"{where(function)}: nothing calls {name}: write {above} above it"
    near = nearest(name, cls.plain_methods)
    methods = ", ".join(cls.plain_methods)
    calls = f"{cls.__name__} calls {methods}" if methods else f"{cls.__name__} calls no plain method"
    rename = f"name it {near}, or " if near else "name it one of these, or " if methods else ""
    kernel = "write @cosim.kernel above it and leave self out"
    return f"{where(function)}: nothing calls {name}: {calls}; {rename}{kernel}"
