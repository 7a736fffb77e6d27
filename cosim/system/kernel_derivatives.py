"""Which kernel functions of a component have tangents and adjoints, and where these are incomplete."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cosim.component.argument_types import types_of
from cosim.component.component import Component
from cosim_compiler.derivatives.adjoints import adjoint_refusal
from cosim_compiler.derivatives.own_tangents import own_tangent
from cosim_compiler.derivatives.tangents import NoTangentError, derivative_notes
from cosim_compiler.errors import ContractError


@dataclass(frozen=True)
class KernelDerivatives:
    """The derivatives of one kernel function.

    Attributes
    ----------
    name : str
    refusal : str
        The reason why it has no tangent; empty if it has one.
    notes : list of str
        Places where its tangent is incomplete: file, line, reason.
    is_own : bool
        Whether its author has written the tangent.
    no_adjoint : str
        The reason why it has a tangent but no adjoint, so that runs with it have no gradients; else empty.
    """

    name: str
    refusal: str
    notes: list[str]
    is_own: bool = False
    no_adjoint: str = ""


def kernel_derivatives(cls: type[Component]) -> Iterator[KernelDerivatives]:
    """The derivatives of all kernel functions of a class, in the order in which it declares them."""
    handlers = {name: handler.function for name, handler in cls.handlers.items()}
    functions = {**cls.kernels, **handlers}
    for name, arguments in cls.arguments.items():
        kernel = functions.get(name)
        if kernel is None:
            continue
        if kernel.is_python:
            yield KernelDerivatives(name, "it is plain Python: its derivatives are differences", [])
            continue
        kinds = types_of(arguments, cls.declarations)
        if own_tangent(kernel.function) is not None:
            yield KernelDerivatives(name, "", [], True, "its author's tangent says nothing of it")
            continue
        try:
            notes = derivative_notes(kernel.function, kinds)
        except (NoTangentError, ContractError) as fault:
            yield KernelDerivatives(name, str(fault), [])
        else:
            refusal = adjoint_refusal(kernel.function, kinds)
            yield KernelDerivatives(name, "", list(map(str, notes)), False, refusal)
