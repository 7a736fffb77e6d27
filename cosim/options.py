"""Options that functions pass on: which there are, and what is not one of them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

from cosim.call_faults import fault_of_arguments
from cosim.errors import ArgumentError, OptionError

P = ParamSpec("P")
R = TypeVar("R")


def option_names(function: Callable[..., Any]) -> list[str]:
    """The parameters that may be passed by name; of a class with those that it passes on to its bases.

    Examples
    --------
    >>> class Base:
    ...     def __init__(self, *, step=1.0): ...
    >>> class Method(Base):
    ...     def __init__(self, *, order=2, **options): super().__init__(**options)
    >>> option_names(Method)
    ['order', 'step']
    """
    if not isinstance(function, type):
        return list(_named(function)[0])
    options: list[str] = []
    for base in function.__mro__:
        if "__init__" in vars(base):
            names, passes_on = _named(base.__init__)  # type: ignore[misc]
            options += [name for name in names if name != "self" and name not in options]
            if not passes_on:
                break
    return options


@functools.cache
def _named(function: Callable[..., Any]) -> tuple[list[str], bool]:
    parameters = inspect.signature(function).parameters.values()
    names = [p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return names, any(p.kind is p.VAR_KEYWORD for p in parameters)


def check_options(
    where: str, given: Mapping[str, Any], known: Iterable[str], made_with: Iterable[str] = ()
) -> None:
    """`OptionError` for what is not known, with the nearest and all that there are.

    `made_with` are options of the constructor, where it is a method that is called.
    """
    known = dict.fromkeys(known)
    if not known.keys() >= given.keys():
        unknown = {name: given[name] for name in given if name not in known}
        raise OptionError(where, unknown, list(known), made_with)


def options_checked(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: wrong arguments are answered with what to write, in place of Python's own sentence.

    An unknown option is answered with the nearest, an argument that is missing with its name.
    """
    parameters, takes_more = _named(function)

    @functools.wraps(function)
    def checked(*positional: P.args, **named: P.kwargs) -> R:
        if not takes_more:
            for name in named:
                if name not in parameters:
                    constructor = getattr(type(positional[0]), "__init__", None) if positional else None
                    made_with = (
                        option_names(constructor) if parameters[:1] == ["self"] and constructor else []
                    )
                    options = [n for n in parameters if n != "self"]
                    check_options(f"{_shown_name(function, positional)}()", named, options, made_with)
        try:
            return function(*positional, **named)
        except TypeError as error:  # Python's sentence, where no line of the function has run
            outside = error.__traceback__ is not None and error.__traceback__.tb_next is None
            if outside and (fault := _fault(function, positional, named)):
                raise ArgumentError(fault) from None
            raise

    return checked


def _shown_name(function: Callable[..., Any], positional: tuple[Any, ...]) -> str:
    """The name under which a user calls a function; methods of abstract bases go by the object's class."""
    declared_in = function.__qualname__.rpartition(".")[0]
    for cls in type(positional[0]).__mro__ if positional else ():
        if cls.__qualname__ == declared_in and inspect.isabstract(cls):
            return f"{type(positional[0]).__qualname__}.{function.__name__}"
    return function.__qualname__


def _fault(function: Callable[..., Any], positional: tuple[Any, ...], named: Mapping[str, Any]) -> str:
    """The fault of the arguments; ``self`` of a method is none of them."""
    signature = inspect.signature(function)
    parameters = [*signature.parameters.values()]
    is_method = bool(parameters) and parameters[0].name in ("self", "cls")
    return fault_of_arguments(
        _shown_name(function, positional),
        signature.replace(parameters=parameters[is_method:]),
        positional[is_method:],
        named,
    )
