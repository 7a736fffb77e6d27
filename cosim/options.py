"""Options that functions pass on: which there are, and what is not one of them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from cosim.errors import ArgumentError, CosimError, ModelError, OptionError, UnitError
from cosim.given_arguments import fault_of_arguments
from cosim.shown import shown
from cosim.units import parse_quantity

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
                    check_options(f"{function.__qualname__}()", named, options, made_with)
        try:
            return function(*positional, **named)
        except TypeError as error:  # Python's sentence, where no line of the function has run
            outside = error.__traceback__ is not None and error.__traceback__.tb_next is None
            if outside and (fault := _fault(function, positional, named)):
                raise ArgumentError(fault) from None
            raise

    return checked


def _fault(function: Callable[..., Any], positional: tuple[Any, ...], named: Mapping[str, Any]) -> str:
    """The fault of the arguments; ``self`` of a method is none of them."""
    signature = inspect.signature(function)
    parameters = [*signature.parameters.values()]
    is_method = bool(parameters) and parameters[0].name in ("self", "cls")
    return fault_of_arguments(
        function.__qualname__,
        signature.replace(parameters=parameters[is_method:]),
        positional[is_method:],
        named,
    )


def check_callable(value: object, name: str, called_with: str) -> None:
    """`ModelError` for what is given in place of a function; None stands for no function.

    Examples
    --------
    >>> check_callable(5, "progress", "the time, s")
    Traceback (most recent call last):
        ...
    cosim.errors.ModelError: progress: is 5, needs a function: it is called with the time, s
    """
    if value is not None and not callable(value):
        raise ModelError.of(name, f"is {shown(value)}, needs a function: it is called with {called_with}")


def seconds(value: float | str, name: str) -> float:
    """A time: a number of seconds, or text with a unit; `ModelError` for anything else.

    Examples
    --------
    >>> seconds("2 ms", "until"), seconds(3, "until")
    (0.002, 3.0)
    """
    if isinstance(value, bool):
        raise ModelError.of(name, f"is {shown(value)}, needs a time: 2.0 (s), or text with a unit, '2 ms'")
    try:
        return parse_quantity(value, "s") if isinstance(value, str) else float(value)
    except (UnitError, TypeError, ValueError) as error:
        reason = f" ({error})" if isinstance(error, UnitError) else ""
        raise ModelError.of(
            name, f"is {shown(value)}, needs a time: 2.0 (s), or text with a unit, '2 ms'{reason}"
        ) from None


def check_mapping(value: object, name: str, example: str) -> None:
    """`ModelError` for what is given in place of a mapping.

    Examples
    --------
    >>> check_mapping([1.0], "values", "{'mass.speed': [1.0, 2.0]}")
    Traceback (most recent call last):
        ...
    cosim.errors.ModelError: values: is [1.0], needs a mapping: {'mass.speed': [1.0, 2.0]}
    """
    if not isinstance(value, Mapping):
        raise ModelError.of(name, f"is {shown(value)}, needs a mapping: {example}")


def check_choice(value: Any, name: str, choices: Iterable[str]) -> None:
    """`ModelError` unless a value is one of these words."""
    choices = list(choices)
    if value not in choices:
        raise ModelError.of(name, f"is {shown(value)}, needs one of {', '.join(map(repr, choices))}")


def check_whole(value: Any, name: str, least: int) -> None:
    """`ModelError` unless a value is a whole number, and so much at least."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ModelError.of(name, f"is {shown(value)}, needs a whole number, {least} at least")


def check_ending(path: Path, *endings: str) -> None:
    """`CosimError` unless the name of a file ends as its kind is written: by that it is known again.

    Examples
    --------
    >>> check_ending(Path("run.xlsx"), ".csv")
    Traceback (most recent call last):
    ...
    cosim.errors.CosimError: run.xlsx: this writes files that end in .csv: write run.csv
    >>> check_ending(Path("run.CSV"), ".csv")
    """
    if path.suffix.lower() in endings:
        return
    has_ending = path.suffix[1:2].isalpha()  # "run.2" has none
    instead = path.with_suffix(endings[0]) if has_ending else path.with_name(f"{path.name}{endings[0]}")
    raise CosimError(f"{path}: this writes files that end in {', '.join(endings)}: write {instead}")
