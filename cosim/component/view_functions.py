"""Kernel functions with a view, ``def force(s)``, as functions of the attributes that are read from the view.

An argument-name function is a view function written out: there is one way behind both.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import replace
from inspect import Parameter, signature
from typing import TypeVar

from cosim.component.argument import Argument
from cosim.component.history import History
from cosim.component.kernel_function import HandlerFunction, KernelFunction
from cosim.errors import ContractError
from cosim_compiler.sources.flatten import flatten, is_flat
from cosim_compiler.sources.kept_reading import KeptReading
from cosim_compiler.sources.kernel_source import where
from cosim_compiler.sources.recursion import recursion_fault
from cosim_compiler.sources.views import ViewAttributes, attributes_of, is_view

OF_PYTHON = ("state", "next_state")
"""What handlers in Python ask for besides."""
UNDECLARED = ("side", "smoothness")
"""What updates may ask for besides."""
Law = TypeVar("Law", KernelFunction, HandlerFunction)


def view_of(kernel: KernelFunction, arguments: Mapping[str, Argument]) -> str:
    """The argument of a function that is a view: the only one that is not a name of the class; else empty."""
    names = [n for n in kernel.arguments if n not in arguments and n not in UNDECLARED]
    if kernel.is_python:
        names = [n for n in names if n not in OF_PYTHON]
    if len(names) != 1:
        return ""
    parameter = signature(kernel.function).parameters[names[0]]
    is_plain = parameter.kind is Parameter.POSITIONAL_OR_KEYWORD and parameter.default is Parameter.empty
    if not is_plain:
        return ""
    reading = KeptReading(kernel.function, (), "view", names[0])
    if reading.fact is None:
        reading.fact = is_view(kernel.function, names[0])
        reading.remember(reading.fact)
    return names[0] if reading.fact else ""


def view_kind(arguments: Mapping[str, Argument]) -> ViewAttributes:
    """The meaning of a view's attributes in a class with these names."""
    in_rows = ("history", "ring")
    numbers = [n for n, a in arguments.items() if a.shape == () and not a.is_free and a.role not in in_rows]
    bundles = [(n, History, (n, f"{n}_ring")) for n, a in arguments.items() if a.role == "history"]
    return ViewAttributes(
        frozenset([*numbers, *UNDECLARED]), tuple(bundles), frozenset([*arguments, *UNDECLARED])
    )


def written_out(
    laws: Mapping[str, Law], arguments: Mapping[str, Argument], faults: dict[str, str]
) -> tuple[dict[str, Law], dict[int, KernelFunction]]:
    """Functions or handlers without views; and what each function has become, by the `id` of the author's.

    What is wrong with one is put into `faults`, by its name; it stays as it is.
    """
    without: dict[str, Law] = {}
    became: dict[int, KernelFunction] = {}
    for name, law in laws.items():
        kernel = law.function if isinstance(law, HandlerFunction) else law
        try:
            flattened = _without_view(kernel, arguments)
        except ContractError as error:
            faults[name], flattened = str(error), kernel
        became[id(kernel)] = flattened
        if flattened is kernel:
            without[name] = law
        else:
            without[name] = (
                replace(law, function=flattened) if isinstance(law, HandlerFunction) else flattened
            )
    return without, became


def without_view(function: types.FunctionType, arguments: Mapping[str, Argument]) -> types.FunctionType:
    """A plain function, as it would be as a kernel function of a class that knows these names."""
    return _without_view(KernelFunction(function), arguments).function


def _without_view(kernel: KernelFunction, arguments: Mapping[str, Argument]) -> KernelFunction:
    """A kernel function whose view is written out; the same where it has none."""
    function = kernel.function
    if kernel.is_python and all(name in arguments or name in OF_PYTHON for name in kernel.arguments):
        return kernel
    if not kernel.is_python and recursion_fault(function):
        return kernel  # this is said of it
    view = view_of(kernel, arguments)
    if view:
        return replace(kernel, function=flatten(function, ((view, view_kind(arguments)),)), view=view)
    if not kernel.is_python and not is_flat(function):
        return replace(kernel, function=flatten(function))
    if arguments.keys().isdisjoint(function.__code__.co_names):  # it mentions no attribute of a view
        return kernel
    for name in kernel.arguments:
        if not arguments.keys().isdisjoint(attributes_of(function, name)):
            raise ContractError(
                f"{where(function)}: '{name}' is declared in the class, and is not a view: give the view a "
                "name that the class does not declare"
            )
    return kernel
