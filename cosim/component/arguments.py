"""The arguments of a kernel function: what each means, and every fault of the function in using them."""

from __future__ import annotations

import functools
import hashlib
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from inspect import signature as parameters_of
from pathlib import Path
from typing import Any

from cosim.component.argument import Argument
from cosim.component.argument_effects import with_effect
from cosim.component.argument_indices import as_indexed, check_index, check_kind
from cosim.component.argument_types import array_of
from cosim.component.declaration import Declaration
from cosim.component.kernel_function import KernelFunction
from cosim.component.kernel_signature import KernelSignature
from cosim.component.result_faults import faults_of_elements, faults_of_results
from cosim.errors import ContractError, nearest
from cosim_compiler.sources.kept_reading import KeptReading, as_written
from cosim_compiler.sources.kernel_returns import returns_value
from cosim_compiler.sources.kernel_rules import rule_faults
from cosim_compiler.sources.recursion import recursion_fault
from cosim_compiler.sources.views import lines_of_attributes

FIELDS = operator.attrgetter(*(field.name for field in fields(Argument)))


def resolve(
    kernel: KernelFunction,
    declarations: Mapping[str, Declaration],
    owner: str,
    is_saved: bool = True,
    tables: frozenset[str] = frozenset(),
) -> list[Argument]:
    """The meaning of each argument, read from the source of the function or from what was kept of it.

    Parameters
    ----------
    kernel : KernelFunction
    declarations : mapping of str to Declaration
        Of the component, by name.
    owner : str
        The component, as errors name it.
    is_saved : bool
        Whether results stay in the cache from one evaluation to the next.
    tables : frozenset of str
        Arguments that arrive by rows and columns in any case: a kink is computed from some lines of a
        function alone.

    Raises
    ------
    ContractError
        With all that breaks a rule, one fault a line.
    """
    signature = KernelSignature(kernel, declarations, owner)
    if kernel.is_python:
        return _resolved(signature, is_saved, tables)
    function = kernel.function
    saved = repr((is_saved, sorted(tables)))
    reading = KeptReading(*as_written(function), "arguments", _described(signature), saved)
    if reading.fact is not None:
        return [
            Argument(name, role, of, slot, tuple(shape), *more)
            for name, role, of, slot, shape, *more in reading.fact
        ]
    if recursion := recursion_fault(function):
        raise ContractError(recursion)
    arguments = _resolved(signature, is_saved, tables)
    reading.remember([FIELDS(a) for a in arguments])
    return arguments


def _described(signature: KernelSignature) -> str:
    """All that the meaning of the arguments depends on besides the function itself."""
    kernel, available = signature.kernel, signature.available
    meanings = [
        (
            FIELDS(a),
            (declaration := signature.declaration_of(a)) and declaration.kind,
            signature.accumulates(a),
            array_of(a, signature.declarations),
        )
        for a in (available[name] for name in kernel.arguments if name in available)
    ]
    return repr((_readers(), kernel.role, kernel.view, kernel.arguments, sorted(available), meanings))


@functools.cache
def _readers() -> str:
    """The modules that say what arguments mean, as a digest."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _resolved(signature: KernelSignature, is_saved: bool, tables: frozenset[str]) -> list[Argument]:
    """The meaning of each argument, read from the source; `ContractError` with all faults."""
    kernel, available = signature.kernel, signature.available
    is_method = kernel.is_python
    faults = [] if is_method else list(rule_faults(kernel.function, frozenset(available)))
    if kernel.role in ("check", "witness", "rate") and (is_method or not returns_value(kernel.function)):
        faults.append(
            f"{signature.line()}: a {kernel.role} is a kernel function that returns a number: "
            "def floor(height): return height"
        )
    states = ("state", "next_state") if is_method and kernel.role == "handler" else ()
    refused = [] if is_method else _names_with_defaults(kernel.function)  # `rule_faults` has named them
    arguments = []
    for name in kernel.arguments:
        if name in available:
            try:
                arguments.append(_checked(signature, available[name], tables))
            except ContractError as error:
                if not (kernel.view and available[name].role == "ring"):  # the fault of the history names it
                    faults.append(str(error))
        elif name not in states and name not in refused:
            faults.append(_unknown_argument(signature, name))
    if not faults and not is_method:
        faults += faults_of_results(signature, arguments)
    if not faults and not is_method:
        faults += faults_of_elements(signature, arguments, is_saved)
    if faults:
        raise ContractError("\n".join(faults))
    return arguments


def _checked(signature: KernelSignature, argument: Argument, tables: frozenset[str]) -> Argument:
    """An argument with its effect and its axes; `ContractError` where the function misuses it."""
    argument = with_effect(signature, argument)
    if not signature.kernel.is_python:
        check_kind(signature, argument)
    argument = as_indexed(signature, argument, tables)
    check_index(signature, argument)
    return argument


def _names_with_defaults(function: Callable[..., Any]) -> list[str]:
    """The parameters of a function that have a value of their own."""
    parameters = parameters_of(function).parameters
    return [name for name, parameter in parameters.items() if parameter.default is not parameter.empty]


def _unknown_argument(signature: KernelSignature, name: str) -> str:
    """The sentence about an argument that neither the class nor its contract has."""
    kernel, available = signature.kernel, signature.available
    near = _derivative_of_others(name, available) or nearest(name, available)
    at = signature.line(lines_of_attributes(kernel.function).get(name))
    return (
        f"{at}: '{kernel.written_name(name)}' is neither declared nor offered by an attachment"
        + (f"; nearest: '{kernel.written_name(near)}'." if near else ".")
        + f" Declare it in the class ({name} = cosim.parameter(…)), or ask for what {signature.owner} has: "
        + ", ".join(sorted(available))
    )


def _derivative_of_others(name: str, available: Iterable[str]) -> str | None:
    """The derivative that others call ``dx``, ``xdot`` or ``der_x``."""
    spelled = ("d{}", "{}dot", "d{}_dt", "d{}dt", "der_{}", "{}_d", "{}_prime", "delta_{}")
    states = (other.removesuffix("_dot") for other in available if other.endswith("_dot"))
    return next((f"{state}_dot" for state in states if name in [s.format(state) for s in spelled]), None)
