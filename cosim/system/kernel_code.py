"""The compiled code of a component's kernel functions, for readers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cosim.component.argument_types import types_of
from cosim.component.component import Component
from cosim_compiler.shown_code import code_in_c, typed_code


@dataclass(frozen=True)
class KernelCode:
    """One kernel function.

    Attributes
    ----------
    name : str
    typed : str
        In typed form, with its helpers: every name with its type.
    in_c : str
        The same as C99.
    """

    name: str
    typed: str
    in_c: str


def kernel_code(cls: type[Component]) -> Iterator[KernelCode]:
    """The kernel functions of a class, in the order in which it declares them.

    Raises
    ------
    ContractError
        One is not of the kernel language.
    """
    handlers = {name: handler.function for name, handler in cls.handlers.items()}
    functions = {**cls.kernels, **handlers, **cls.kink_functions}
    for name, arguments in cls.arguments.items():
        kernel = functions[name]
        if kernel.is_python:
            continue
        kinds = types_of(arguments, cls.declarations)
        yield KernelCode(name, typed_code(kernel.function, kinds), code_in_c(kernel.function, kinds))
